// Marking sets with the keyboard. Without this the fields can be set one by one.
import { Timing } from "./timing.js";

const form = document.getElementById("list");
const fields = [...form.querySelectorAll("select")];
const timing = new Timing(`list:${form.dataset.name}`);

function paint(field) {
  field.closest("li").dataset.set = field.value;
}

function go(step) {
  const here = fields.indexOf(document.activeElement);
  const next = fields[Math.min(Math.max(here + step, 0), fields.length - 1)];
  next.focus();
  next.closest("li").scrollIntoView({ block: "nearest" });
}

function mark(digit) {
  const field = document.activeElement;
  if (!fields.includes(field) || ![...field.options].some((one) => one.value === digit)) return;
  field.value = digit;
  paint(field);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const doing = {
    j: () => go(1),
    k: () => go(-1),
    s: () => form.requestSubmit(),
    o: () => {
      const text = document.activeElement.closest("li")?.querySelector("details");
      if (text) text.open = !text.open;
    },
  }[event.key] || (/^[0-9]$/.test(event.key) ? () => mark(event.key) : null);
  if (!doing) return;
  event.preventDefault();
  doing();
});
fields.forEach((field) => field.addEventListener("change", () => paint(field)));
form.addEventListener("submit", () => {
  const seconds = document.getElementById("seconds");
  if (seconds) seconds.value = timing.taken();
});
fields[0]?.focus();
