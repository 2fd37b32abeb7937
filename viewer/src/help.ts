// The keys, in a box above the page.
import { h } from "./dom";

const keys: [string, string][] = [
  ["1 … 7", "views"], ["/", "search: words, name: opcode: scope: line: type: axis:, >1GiB, >1ms"], ["↑ ↓ home end", "select a row"],
  ["← →, shift →", "fold, unfold, unfold all below"], ["o, u", "go to the first operand, the first user"], ["alt ←", "back"],
  ["w s, a d", "zoom, pan (Timeline, Memory)"], ["f, 0", "zoom to the selection, to all"], ["[ ], p", "a step back or on, the peak (Memory)"],
  ["v", "the picture as a table"], ["c, e, l", "CSV, picture, copy the link"], ["t", "light or dark"], ["esc", "close, or clear the selection"]];

export function help(): void {
  const before = document.activeElement;
  const table = h("table", {}, ...keys.map(([key, what]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, what))));
  const box = h("div", { role: "dialog", "aria-label": "keys", "aria-modal": "true", tabindex: -1 }, h("h2", {}, "Keys"), table);
  const veil: HTMLElement = h("div", { class: "help", onclick: () => close() }, box);
  const close = () => { veil.remove(); if (before instanceof HTMLElement) before.focus(); };
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") { close(); event.stopPropagation(); } });
  document.body.append(veil);
  box.focus();
}
