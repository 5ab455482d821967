// The threshold: counts at once while the slider moves, exact ones when it is let go.
import { receive } from "/static/common.js";

const slider = document.querySelector("[data-slider] input");
if (slider) watch(slider);

function watch(slider) {
  const lowest = Number(slider.dataset.lowest);
  const bars = [...document.querySelectorAll(".scores rect")];
  const line = document.querySelector("[data-threshold]");
  const numbers = new Intl.NumberFormat("en");
  let cuts = [];
  let asked = 0;

  const shown = (value) => String(Number(value.toFixed(4)));

  function mark(at) {
    document.querySelector("output").textContent = shown(at);
    for (const one of document.querySelectorAll("[data-at]")) one.textContent = shown(at);
    line.setAttribute("x1", `${100 * at}%`);
    line.setAttribute("x2", `${100 * at}%`);
    const width = 1 / bars.length;
    for (const bar of bars) bar.classList.toggle("out", Number(bar.dataset.low) + width <= at);
  }

  function count(found) {
    for (const cell of document.querySelectorAll("[data-count]")) {
      cell.textContent = numbers.format(found[cell.dataset.count]);
    }
  }

  /** The counts at the first cut that is not below. */
  function near(at) {
    return cuts.find((cut) => cut.threshold >= at - 1e-9) || cuts[cuts.length - 1];
  }

  function chosen() {
    if (Number(slider.value) < lowest) slider.value = lowest;
    return Math.max(Number(slider.value), lowest);
  }

  slider.addEventListener("input", () => {
    const at = chosen();
    mark(at);
    const found = near(at);
    if (found) count(found);
  });

  slider.addEventListener("change", async () => {
    const at = chosen();
    const number = ++asked;
    const answer = await fetch(`/threshold?at=${at}`, { headers: { Accept: "text/html" } });
    if (!answer.ok || number !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of ["table.counts tbody", "[data-fallen]"]) {
      document.querySelector(part).replaceWith(document.adoptNode(page.querySelector(part)));
    }
    mark(at);
    history.replaceState(null, "", `/threshold?at=${at}`);
  });

  async function load() {
    const data = await receive("/threshold.json").catch(() => null);
    if (!data) return;
    cuts = data.cuts;
    if (!data.done) setTimeout(load, 1000);
  }
  load();
}
