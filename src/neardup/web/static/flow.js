// The flow page, live: every event brings the whole state, so a lost one is no loss.
import { say, visible } from "./common.js";

const element = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en-US");
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const same = ["identical", "normalised", "layout", null, ""]; // as score_text in wording.py
const score = (one) => {
  const most = one.score < 1 || !same.includes(one.kind ?? null) ? 0.999 : 1;
  return one.score === null ? "–" : Math.min(one.score, most).toFixed(3);
};
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function cell(content, css = "") {
  const made = document.createElement("td");
  made.className = css;
  const inside = document.createElement("bdi");
  inside.textContent = visible(content ?? "");
  made.append(inside);
  return made;
}

function row(...cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}

/** Markup that the server drew, parsed as the page itself was. */
function drawn(markup) {
  return new DOMParser().parseFromString(markup, "text/html").body.childNodes;
}

function figures(state) {
  const { totals, memory } = state;
  const shown = {
    documents: count(totals.documents),
    kept: count(totals.kept),
    duplicates: count(totals.duplicates),
    share: percent(totals.duplicates, totals.documents),
    rate: state.rate.toFixed(1),
    newest: state.newest ? state.newest.slice(0, 19).replace("T", " ") : "–",
    memory: megabytes(memory.index ?? memory.process ?? 0),
    bytes: megabytes(totals.bytes),
  };
  for (const [name, text] of Object.entries(shown)) {
    document.querySelector(`[data-figure=${name}]`).textContent = text;
  }
}

function tables(state) {
  element("matches").replaceChildren(
    ...state.matches.map((one) =>
      row(
        cell(short(one.id, 60)),
        cell(short(one.of ?? "", 60)),
        cell(score(one), "n"),
        cell(one.kind),
        cell(short(one.source, 40)),
      ),
    ),
  );
  element("sources").replaceChildren(
    ...state.sources.map((one) => {
      const bar = cell("", "share");
      bar.replaceChildren(...drawn(one.bar));
      return row(
        cell(short(one.source, 60) || "(none named)"),
        cell(count(one.documents), "n"),
        cell(count(one.duplicates), "n"),
        cell(percent(one.duplicates, one.documents), "n"),
        bar,
      );
    }),
  );
}

function show(state) {
  figures(state);
  tables(state);
  element("chart").replaceChildren(...drawn(state.chart));
  element("problem").textContent = state.problem ?? "";
  element("problem").hidden = !state.problem;
  element("reading").hidden = !state.reading;
  element("nothing").hidden = state.bars.length > 0;
  element("more-sources").hidden = !state.other_sources;
  element("more-sources").textContent = `${count(state.other_sources)} more sources`;
}

let events = null;

function listen() {
  events = new EventSource("/flow/events");
  events.addEventListener("open", () => say(""));
  events.addEventListener("state", (event) => show(JSON.parse(event.data)));
  events.addEventListener("error", () => say("The server does not answer; trying again …"));
}

const pause = element("pause");
pause.hidden = false;
pause.addEventListener("click", () => {
  const pausing = pause.getAttribute("aria-pressed") === "false";
  pause.setAttribute("aria-pressed", String(pausing));
  pause.textContent = pausing ? "Go on" : "Pause";
  if (pausing) events.close();
  else listen();
});
listen();
