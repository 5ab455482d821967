// Keys, the timer and the remembered name. Judging itself is forms, which work without this.
import { say, typing } from "./common.js";
import { Timing } from "./timing.js";

const NAME = "neardup.assessor";

/** The name of last time, unless the address says one. */
function remember(field) {
  const known = localStorage.getItem(NAME);
  if (known && "proposed" in field.dataset) field.value = known;
  field.form.addEventListener("submit", (event) => {
    localStorage.setItem(NAME, field.value);
    const slow = event.submitter?.value === "suggest";
    say(slow ? "All documents are read to choose pairs; this may take a while." : "Being prepared …");
  });
}

function told(seconds) {
  const whole = Math.floor(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

function judge(form) {
  // An arbiter's name is good for nothing else.
  if (form.dataset.role !== "arbiter") localStorage.setItem(NAME, form.dataset.assessor);
  const timing = new Timing(`${form.dataset.sample}:${form.dataset.assessor}:${form.dataset.item}`);
  const timer = document.getElementById("timer");
  const done = Number(timer.dataset.done);
  const tick = () => {
    timer.textContent = `this pair ${told(timing.seconds())}, in all ${told(done + timing.seconds())}`;
  };
  tick();
  setInterval(tick, 1000);
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
    document.getElementById("seconds").value = timing.taken();
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return document.activeElement.blur();
    if (typing(event)) {
      if (event.key === "Enter") event.preventDefault(); // a note is no answer
      return;
    }
    act(event, form);
  });
  form.dataset.ready = ""; // keys are heard from now on
}

function act(event, form) {
  const choice = form.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  const doing = {
    u: () => document.querySelector("#undo button:not(:disabled)")?.click(),
    v: () => document.getElementById("view").click(),
    k: () => document.getElementById("kind").focus(),
    n: () => document.getElementById("note").focus(),
  }[event.key];
  if (!choice && !doing) return;
  event.preventDefault();
  if (choice && !event.repeat) form.requestSubmit(choice);
  else if (doing) doing();
}

/** A file is sent as it is; it never becomes a path anywhere. */
function take(form) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = new FormData(form);
    const where = new URLSearchParams({
      sample: given.get("sample"), assessor: given.get("assessor"), role: given.get("role"),
    });
    const answer = await fetch(`/judge/import?${where}`, {
      method: "POST",
      headers: { "Content-Type": "application/x-ndjson", Accept: "application/json" },
      body: given.get("file"),
    }).catch(() => null);
    const found = answer ? await answer.json().catch(() => ({})) : {};
    if (!answer || !answer.ok) return say(found.detail || "The server does not answer.");
    say(`${found.read} labels read, ${found.new} of them new; ${found.without_label} rows without.`);
    form.reset();
  });
}

const name = document.getElementById("assessor");
if (name) remember(name);
const wanted = document.getElementById("n");
wanted?.addEventListener("input", () => {
  document.getElementById("n-shown").textContent = wanted.value || "…";
});
const form = document.getElementById("judge");
if (form) judge(form);
const file = document.getElementById("import-form");
if (file) take(file);
