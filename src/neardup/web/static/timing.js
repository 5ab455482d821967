// How long somebody looks at a page, not counting while it is hidden; it goes on after a reload.

export class Timing {
  constructor(name) {
    this.key = `seconds:${name}`;
    this.before = Number(sessionStorage.getItem(this.key)) || 0;
    this.since = document.hidden ? null : performance.now();
    document.addEventListener("visibilitychange", () => this.turn());
    addEventListener("pagehide", () => sessionStorage.setItem(this.key, String(this.seconds())));
  }

  turn() {
    this.before = this.seconds();
    this.since = document.hidden ? null : performance.now();
  }

  seconds() {
    return this.before + (this.since === null ? 0 : (performance.now() - this.since) / 1000);
  }

  /** What is sent with the answer; the next look begins anew. */
  taken() {
    const found = this.seconds();
    this.before = 0;
    this.since = performance.now();
    return found.toFixed(1);
  }
}
