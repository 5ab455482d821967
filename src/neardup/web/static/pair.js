// One pair: the neighbours by keyboard, two columns that scroll in step, another one to keep.
import { send, say, typing } from "/static/common.js";

const follow = (selector) => document.querySelector(selector)?.click();
const KEYS = {
  j: () => follow("a[rel=next]"),
  ArrowRight: () => follow("a[rel=next]"),
  k: () => follow("a[rel=prev]"),
  ArrowLeft: () => follow("a[rel=prev]"),
  o: () => follow("a[data-view]"),
};

document.addEventListener("keydown", (event) => {
  if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  KEYS[event.key]?.();
});

for (const button of document.querySelectorAll("[data-first]")) {
  button.disabled = false; // it needs this script
  button.addEventListener("click", async () => {
    const chosen = decodeURIComponent(button.dataset.first);
    const answer = await send("/changes/first", { id: chosen }).catch(() => null);
    if (!answer) return;
    sessionStorage.setItem("said", answer.said);
    location.reload();
  });
}
const said = sessionStorage.getItem("said");
if (said) {
  sessionStorage.removeItem("said");
  say(said);
}

const columns = [...document.querySelectorAll(".original")];
if (columns.length === 2) inStep(columns);

/** What both texts have stands at one height; between such passages, in proportion. */
function inStep(both) {
  const marks = both.map((column) => [...column.querySelectorAll(".shared")]);
  const twins = both.map((_, side) => {
    const others = new Map(marks[1 - side].map((mark) => [mark.dataset.passage, mark]));
    return marks[side].map((mark) => others.get(mark.dataset.passage));
  });
  let led = null; // which column the reader moves; the other one only follows
  both.forEach((column, side) => {
    for (const begin of ["pointerenter", "focus", "touchstart", "wheel", "keydown"]) {
      column.addEventListener(begin, () => { led = side; }, { passive: true });
    }
    column.addEventListener("scroll", () => {
      if (led === null) led = side;
      if (led === side) place(both[1 - side], target(side));
    }, { passive: true });
  });

  /** Points (place here, place there) that belong together, from the top to the foot. */
  function target(side) {
    const [here, there] = [both[side], both[1 - side]];
    const top = here.scrollTop;
    let before = [0, 0];
    let after = [here.scrollHeight - here.clientHeight, there.scrollHeight - there.clientHeight];
    if (top >= after[0] - 1) return after[1];
    // Passages that are shared in order stand in order on both sides: halve until it is found.
    let [low, high] = [0, marks[side].length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (marks[side][middle].offsetTop <= top) low = middle + 1;
      else high = middle;
    }
    const edge = (i, end) => [marks[side][i], twins[side][i]].map((mark) => mark.offsetTop + (end ? mark.offsetHeight : 0));
    if (low > 0) {
      const [from, to] = [edge(low - 1, false), edge(low - 1, true)];
      before = from;
      if (top < to[0]) after = to;
      else before = to;
    }
    if (low < marks[side].length && after[0] > marks[side][low].offsetTop) after = edge(low, false);
    const share = after[0] > before[0] ? (top - before[0]) / (after[0] - before[0]) : 0;
    return before[1] + share * (after[1] - before[1]);
  }

  function place(column, top) {
    column.scrollTop = top;
  }
}
