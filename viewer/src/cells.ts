// Table cells. A cell keeps its elements and updates only changed text, so reusing a row element for another row takes
// a few text updates instead of a few dozen new elements.
import { displayText, glyphShapes, h, svg } from "./dom";

/** The first column of a row in Program, the ledger and the op table of Timeline. */
export interface LabelCell { indent: number; mark: string; fold: string; foldOnHover: boolean; kind: number; label: string; detail: string }

const markStyles: { [mark: string]: [string, string] } = { "~": ["mod", "changed"], "=": ["", "unchanged"], "+": ["add", "only in B"], "−": ["del", "only in A"] };

export class Cell {
  readonly element: HTMLElement;
  private lastText = "\0";
  private labelParts: { mark: HTMLElement; fold: HTMLElement; glyph: SVGSVGElement; path: SVGPathElement; label: HTMLElement; detail: HTMLElement } | null = null;
  private bar: HTMLElement | null = null;
  private value: HTMLElement | null = null;
  private share = "";
  private kind = -1;

  constructor(role: string, className: string, width: number) {
    this.element = h("div", { class: `td ${className}`, role });
    this.element.style.width = `${width}px`;
  }

  /** Text in a <bdi>, so that its writing direction does not affect the text around it. */
  setText(text: string): void {
    if (text === this.lastText) return;
    this.lastText = text;
    if (!this.value) this.element.append((this.value = h("bdi")));
    this.value.textContent = text;
  }

  /** A number with a bar behind it. `share` is its fraction of the largest value; `kind` selects the colour. */
  setNumber(text: string, share: number, kind: number): void {
    if (text !== this.lastText) {
      this.lastText = text;
      if (!this.value) this.element.append((this.value = h("span", { class: "val" })));
      this.value.textContent = text;
    }
    const width = text === "" || !(share > 0) ? "" : `${(100 * Math.min(share, 1)).toFixed(1)}%`;
    if (width === this.share && (width === "" || kind === this.kind)) return;
    if (!this.bar) this.element.prepend((this.bar = h("i", { class: "bar" })));
    if (width !== this.share) { this.bar.style.width = width === "" ? "0" : width; this.share = width; }
    if (kind !== this.kind) { this.bar.className = `bar k${kind}`; this.kind = kind; }
  }

  setLabel(content: LabelCell): void {
    const parts = (this.labelParts ??= this.makeLabelParts());
    const key = `${content.indent}|${content.mark}|${content.fold}|${content.foldOnHover}|${content.kind}|${content.label}|${content.detail}`;
    if (key === this.lastText) return;
    this.lastText = key;
    this.element.style.paddingLeft = `${content.indent}px`;
    parts.mark.hidden = content.mark === "";
    if (content.mark !== "") {
      parts.mark.textContent = content.mark;
      parts.mark.className = `mark ${markStyles[content.mark]?.[0] ?? ""}`;
      parts.mark.title = markStyles[content.mark]?.[1] ?? "";
    }
    parts.fold.textContent = content.fold;
    parts.fold.className = content.foldOnHover ? "fold inner" : "fold";
    if (content.kind !== this.kind) {
      this.kind = content.kind;
      parts.glyph.setAttribute("class", `glyph k${content.kind}`);
      parts.path.setAttribute("d", glyphShapes[content.kind] ?? glyphShapes[6]!);
      this.element.classList.toggle("coll", content.kind === 1);
    }
    parts.label.textContent = displayText(content.label, 120);
    parts.detail.textContent = content.detail === "" ? "" : ` ${displayText(content.detail, 60)}`;
  }

  private makeLabelParts(): NonNullable<Cell["labelParts"]> {
    const path = svg("path");
    const parts = { mark: h("span", { class: "mark" }), fold: h("span", { class: "fold", "aria-hidden": "true" }), glyph: svg("svg", { class: "glyph", viewBox: "0 0 9 9", "aria-hidden": "true" }, path), path, label: h("bdi"), detail: h("span", { class: "axis" }) };
    this.element.append(parts.mark, parts.fold, parts.glyph, h("span", { class: "t" }, parts.label, parts.detail));
    return parts;
  }
}

/** The unrounded number, for tooltips. */
export function formatExact(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 12 });
}
