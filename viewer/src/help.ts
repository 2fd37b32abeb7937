// The dialog that lists the keyboard shortcuts.
import { h } from "./dom";

const keys: [string, string][] = [
  ["1 … 7", "views"], ["/", "search: words, name: opcode: scope: line: type: axis:, >1GiB, >1ms"], ["↑ ↓ home end", "select a row"],
  ["← →, shift →", "fold, unfold, unfold all below"], ["o, u", "go to the first operand, to the first user"], ["alt ←", "back"],
  ["w s, a d", "zoom, pan (Timeline, Memory)"], ["f, 0", "zoom to the selection, zoom out fully"], ["[ ], p", "previous or next step, the peak (Memory)"],
  ["v", "show the picture as a table"], ["c, e, l", "save CSV, save picture, copy the link"], ["t", "light or dark theme"], ["esc", "close, or clear the selection"]];

export function showHelp(): void {
  const previousFocus = document.activeElement;
  const table = h("table", {}, ...keys.map(([key, description]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, description))));
  const box = h("div", { role: "dialog", "aria-label": "keyboard shortcuts", "aria-modal": "true", tabindex: -1 }, h("h2", {}, "Keyboard shortcuts"), table);
  const overlay: HTMLElement = h("div", { class: "help", onclick: () => close() }, box);
  const close = () => { overlay.remove(); if (previousFocus instanceof HTMLElement) previousFocus.focus(); };
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") { close(); event.stopPropagation(); } });
  document.body.append(overlay);
  box.focus();
}
