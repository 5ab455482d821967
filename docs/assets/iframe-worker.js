// The search of the site runs in a worker, which a browser does not start for pages from the disk.
// There this class takes the place of Worker: it runs the script in a hidden frame of the page.
// The theme would load such a script from elsewhere; a part of this file's name tells it not to.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      const answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.postMessage = answer;
      inside.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => this.run(one)), Promise.resolve());
      this.ready = this.run(url);
    }

    run(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = reject;
        this.frame.contentDocument.body.appendChild(script);
      });
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
