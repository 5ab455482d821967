// Lists and clusters: choosing entries, acting on them, taking back, moving by keyboard.
import { send, say, typing } from "/static/common.js";

const id = (value) => decodeURIComponent(value);

/** Shows the page as it is after a change; what was said stays readable on it. */
function renew(said, address = location.href) {
  sessionStorage.setItem("said", said);
  if (new URL(address, location.href).href === location.href) location.reload();
  else location.assign(address);
}

const said = sessionStorage.getItem("said");
if (said) {
  sessionStorage.removeItem("said");
  say(said);
}

if (matchMedia("(max-width: 45rem)").matches) {
  for (const more of document.querySelectorAll(".more:not([data-used])")) more.open = false;
}

// Buttons that need this script are disabled until it is there.
for (const button of document.querySelectorAll("[data-first]")) {
  button.disabled = false;
  button.addEventListener("click", async () => {
    const answer = await send("/changes/first", { id: id(button.dataset.first) }).catch(() => null);
    if (!answer) return;
    const next = new URL(location.href);
    if (next.pathname === "/cluster" && answer.cluster !== null) {
      next.searchParams.set("of", id(button.dataset.first));
      next.searchParams.delete("page");
    }
    renew(answer.said, next.href);
  });
}

for (const button of document.querySelectorAll("[data-undo]")) {
  button.disabled = false;
  button.addEventListener("click", async () => {
    const number = button.dataset.undo ? Number(button.dataset.undo) : null;
    const answer = await send("/changes/undo", { number }).catch(() => null);
    if (answer) renew(answer.said);
  });
}

for (const bulk of document.querySelectorAll("[data-bulk]")) watchBulk(bulk);

function watchBulk(bulk) {
  const boxes = [...document.querySelectorAll("[data-cluster], [data-id]")];
  const all = bulk.querySelector("[data-all]");
  const told = bulk.querySelector("[data-chosen]");
  const buttons = [...bulk.querySelectorAll("[data-act]")];
  const chosen = () => boxes.filter((box) => box.checked);

  function update() {
    if (!told) {
      for (const button of buttons) button.disabled = false;
      return;
    }
    const count = chosen().length;
    const every = all && all.checked;
    told.textContent = every ? "all that match" : count ? `${count} chosen` : "none chosen";
    for (const button of buttons) button.disabled = !every && !count;
    for (const box of boxes) box.disabled = Boolean(every);
  }

  function named() {
    if (bulk.dataset.these !== undefined) return { ids: [id(bulk.dataset.these)] };
    if (all && all.checked) return { what: bulk.dataset.bulk, asked: asked() };
    const ids = chosen().filter((box) => box.dataset.id !== undefined);
    const clusters = chosen().filter((box) => box.dataset.cluster !== undefined);
    return {
      ids: ids.map((box) => id(box.dataset.id)),
      clusters: clusters.map((box) => id(box.dataset.cluster)),
    };
  }

  for (const box of [...boxes, ...(all ? [all] : [])]) box.addEventListener("change", update);
  for (const button of buttons) {
    button.addEventListener("click", async () => {
      const data = { action: button.dataset.act, ...named() };
      const answer = await send("/changes/act", data).catch(() => null);
      if (answer) renew(answer.said);
    });
  }
  update(); // a browser that goes back remembers what was checked
}

/** The filters of this list, as its address has them. */
function asked() {
  const given = Object.fromEntries(new URLSearchParams(location.search));
  delete given.sort;
  delete given.page;
  return given;
}

/** j and k go down and up a list, Enter opens; where there is no list, to the neighbours. */
const rows = [...document.querySelectorAll("[data-list] tbody tr")];
const neighbour = (which) => document.querySelector(`a[rel=${which}]`);
const alone = location.pathname === "/cluster";
let at = -1;

document.addEventListener("keydown", (event) => {
  if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { j: 1, k: -1 }[event.key];
  if (step && alone) neighbour(step > 0 ? "next" : "prev")?.click();
  else if (step && rows.length) go(Math.min(Math.max(at + step, 0), rows.length - 1));
  else if (event.key === "/") {
    document.querySelector("input[type=search]")?.focus();
    event.preventDefault();
  }
});

function go(to) {
  rows[at]?.classList.remove("here");
  at = to;
  rows[at].classList.add("here");
  rows[at].querySelector("a")?.focus();
}
