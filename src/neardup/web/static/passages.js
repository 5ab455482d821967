// Passages: what is switched on counts at once; a pasted text is traced by the server.
import { say, send } from "/static/common.js";

const effect = document.querySelector("[data-effect]");
if (effect) choose(effect);
const form = document.querySelector("[data-trace]");
if (form) trace(form);

function choose(effect) {
  const numbers = new Intl.NumberFormat("en");
  const classes = [...document.querySelectorAll("[data-class]")];
  const passages = [...document.querySelectorAll("[data-passage]")];
  let asked = 0;

  async function show() {
    const on = classes.filter((box) => box.checked).map((box) => box.dataset.class);
    const off = passages.filter((box) => !box.checked).map((box) => Number(box.dataset.passage));
    document.querySelector("[data-remove]").textContent = on.join(",") || "CLASS";
    document.querySelector("[data-except]").textContent = off.length ? ` --except ${off.join(",")}` : "";
    for (const card of document.querySelectorAll("[data-of]")) {
      card.classList.toggle("off", !on.includes(card.dataset.of));
    }
    const number = ++asked;
    const found = await send("/effect", { classes: on, off });
    if (number !== asked) return;
    for (const cell of effect.querySelectorAll("[data-count]")) {
      cell.textContent = numbers.format(found[cell.dataset.count]);
    }
  }

  for (const box of [...classes, ...passages]) box.addEventListener("change", show);
  show();
}

function trace(form) {
  const out = document.querySelector("[data-traced]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    say("Tracing …");
    const found = await send("/trace/text", { text: form.querySelector("textarea").value });
    out.innerHTML = found.html; // made and escaped by the server
    say(found.sentence);
  });
}
