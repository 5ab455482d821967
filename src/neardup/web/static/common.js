// What the scripts of all pages share. Pages work without them as far as reading goes.

/** Says something to eyes and to screen readers, at the foot of the page. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** Sends data to this server as JSON and returns its answer. An error is said and thrown. */
export async function send(url, data, method = "POST") {
  const answer = await fetch(url, {
    method,
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: data === undefined ? undefined : JSON.stringify(data),
  }).catch(() => null);
  if (answer === null) {
    const lost = "The server does not answer. What was saved before is safe.";
    say(lost);
    throw new Error(lost);
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    say(body.detail || answer.statusText);
    throw new Error(body.detail || answer.statusText);
  }
  return body;
}

/** The data of a twin: receive("/clusters.json?page=2"). */
export function receive(url) {
  return send(url, undefined, "GET");
}

/** Whether a key press belongs to a field that is being written in. */
export function typing(event) {
  return event.target.closest("input, select, textarea, [contenteditable]") !== null;
}

// Characters that act instead of being seen, as in report/side_by_side.py.
const ACTING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}]/gu;

function symbol(found) {
  const code = found.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** Text of documents for the page: the server does this for what it renders itself. */
export function visible(text) {
  return text.replace(/\r\n?/g, "\n").replace(ACTING, symbol);
}
