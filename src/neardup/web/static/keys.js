// The list of keys of a page: `?` shows it, and so does the button in the head.
import { typing } from "./common.js";

const dialog = document.getElementById("keys");
const button = document.querySelector("[data-keys]");
button.hidden = false; // it needs this script
button.addEventListener("click", () => dialog.showModal());
document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || typing(event) || dialog.open) return;
  event.preventDefault();
  dialog.showModal();
});
// What is written in the list belongs to the page behind it, which must not hear keys meanwhile.
dialog.addEventListener("keydown", (event) => event.stopPropagation());
