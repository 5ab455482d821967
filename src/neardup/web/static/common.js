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
