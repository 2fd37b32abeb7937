// Cells of a table. A cell keeps its elements and writes only what changed: a row that is reused for another costs a few
// texts, not a few dozen elements.
import { glyphShapes, h, svg, visible } from "./dom";

/** What Program and the ledger say of a row in its first column. */
export interface What { indent: number; mark: string; fold: string; inner: boolean; kind: number; words: string; aside: string }

const markNames: { [mark: string]: [string, string] } = { "~": ["mod", "changed"], "=": ["", "the same in both"], "+": ["add", "only in B"], "−": ["del", "only in A"] };

export class Cell {
  readonly element: HTMLElement;
  private last = "\0";
  private parts: { mark: HTMLElement; fold: HTMLElement; glyph: SVGSVGElement; path: SVGPathElement; words: HTMLElement; aside: HTMLElement } | null = null;
  private bar: HTMLElement | null = null;
  private value: HTMLElement | null = null;
  private share = "";
  private kind = -1;

  constructor(role: string, className: string, width: number) {
    this.element = h("div", { class: `td ${className}`, role });
    this.element.style.width = `${width}px`;
  }

  /** A name or words, whose direction is its own affair. */
  text(text: string): void {
    if (text === this.last) return;
    this.last = text;
    if (!this.value) this.element.append((this.value = h("bdi")));
    this.value.textContent = text;
  }

  /** A number with its bar: `share` of the largest, of the colour of its kind. */
  number(text: string, share: number, kind: number): void {
    if (text !== this.last) {
      this.last = text;
      if (!this.value) this.element.append((this.value = h("span", { class: "val" })));
      this.value.textContent = text;
    }
    const width = text === "" || !(share > 0) ? "" : `${(100 * Math.min(share, 1)).toFixed(1)}%`;
    if (width === this.share && (width === "" || kind === this.kind)) return;
    if (!this.bar) this.element.prepend((this.bar = h("i", { class: "bar" })));
    if (width !== this.share) { this.bar.style.width = width === "" ? "0" : width; this.share = width; }
    if (kind !== this.kind) { this.bar.className = `bar k${kind}`; this.kind = kind; }
  }

  what(what: What): void {
    const parts = (this.parts ??= this.makeWhat());
    const key = `${what.indent}|${what.mark}|${what.fold}|${what.inner}|${what.kind}|${what.words}|${what.aside}`;
    if (key === this.last) return;
    this.last = key;
    this.element.style.paddingLeft = `${what.indent}px`;
    parts.mark.hidden = what.mark === "";
    if (what.mark !== "") {
      parts.mark.textContent = what.mark;
      parts.mark.className = `mark ${markNames[what.mark]?.[0] ?? ""}`;
      parts.mark.title = markNames[what.mark]?.[1] ?? "";
    }
    parts.fold.textContent = what.fold;
    parts.fold.className = what.inner ? "fold inner" : "fold";
    if (what.kind !== this.kind) {
      this.kind = what.kind;
      parts.glyph.setAttribute("class", `glyph k${what.kind}`);
      parts.path.setAttribute("d", glyphShapes[what.kind] ?? glyphShapes[6]!);
      this.element.classList.toggle("coll", what.kind === 1);
    }
    parts.words.textContent = visible(what.words, 120);
    parts.aside.textContent = what.aside === "" ? "" : ` ${visible(what.aside, 60)}`;
  }

  private makeWhat(): NonNullable<Cell["parts"]> {
    const path = svg("path");
    const parts = { mark: h("span", { class: "mark" }), fold: h("span", { class: "fold", "aria-hidden": "true" }), glyph: svg("svg", { class: "glyph", viewBox: "0 0 9 9", "aria-hidden": "true" }, path), path, words: h("bdi"), aside: h("span", { class: "axis" }) };
    this.element.append(parts.mark, parts.fold, parts.glyph, h("span", { class: "t" }, parts.words, parts.aside));
    return parts;
  }
}

/** The exact number, for who looks closer. */
export function exact(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 12 });
}
