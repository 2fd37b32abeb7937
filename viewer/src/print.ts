// Prints every view as a section of its own, not only the open one.
import { h } from "./dom";
import type { ViewName } from "./state";
import { VirtualTable } from "./table";
import type { View } from "./view";

/** A view with its elements. `ready` settles when its data is loaded; `isReady` is true from then on. */
export interface Section { view: View; root: HTMLElement; ready: Promise<void>; isReady: boolean }
export interface PrintedFrame {
  app: HTMLElement;
  sections: ReadonlyMap<ViewName, Section>;
  titles: { [name in ViewName]: string };
  /** Loads the data of all views. */
  loadAll(): Promise<void>;
  /** Shows the open view again. */
  restore(): void;
}

const kHeight = 640;  // px, of a section whose view has no height of its own

export function setUpPrinting(frame: PrintedFrame): void {
  let theme: string | undefined;
  // The browser does not wait for data before it prints, so the page loads it first.
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "p" || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void frame.loadAll().then(() => print());
  });
  addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    frame.app.classList.add("printing");
    for (const [name, { view, root, isReady }] of frame.sections) {
      root.hidden = !isReady;
      if (!isReady) continue;
      root.before(h("h2", { class: "print-title" }, frame.titles[name]));
      view.update();  // the height may depend on the layout
      if (name !== "overview") root.style.height = `${view.printHeight?.() ?? kHeight}px`;
      view.update();
    }
    VirtualTable.resizeAll();
  });
  addEventListener("afterprint", () => {
    if (theme === undefined) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    frame.app.classList.remove("printing");
    document.querySelectorAll(".print-title").forEach((each) => each.remove());
    for (const { root } of frame.sections.values()) root.style.height = "";
    frame.restore();
  });
}
