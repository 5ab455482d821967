// Waits for what is being computed, and shows the page again when it is there.
import { receive, say } from "./common.js";

const PAUSE = 1000;

async function look() {
  const now = await receive(`/evaluation.json${location.search}`);
  if ([now.learning, now.recommended].some((one) => one.state === "computing")) {
    setTimeout(look, PAUSE);
  } else {
    location.reload();
  }
}

if (document.querySelector("[data-computing]")) {
  say("Some figures are being computed.");
  setTimeout(look, PAUSE);
}
