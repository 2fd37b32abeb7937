// Functions that create elements. Strings are always inserted as text, never parsed as HTML.

type Child = Node | string | null | undefined | false;
type Attributes = { [name: string]: string | number | boolean | ((event: never) => void) | undefined };

/** h("div", {class: "a", onclick: f}, "text", child) */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(element: Element, children: Child[]): void {
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
}

export function clear(element: Element): void {
  element.replaceChildren();
}

/** Escapes text from a file for display: control and bidi characters become visible, long text is truncated. */
export function displayText(text: string, maxLength = 200): string {
  const shortened = text.length > maxLength ? text.slice(0, maxLength) + "…" : text;
  return shortened.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** A name from the module in a <bdi>, so that its writing direction does not affect the text around it. */
export function nameElement(text: string, maxLength = 200): HTMLElement {
  return h("bdi", {}, displayText(text, maxLength));
}

export const glyphShapes = ["M0 0h9v9h-9z", "M4.5 0L9 4.5L4.5 9L0 4.5z", "M4.5 .3a4.2 4.2 0 1 0 .01 0z", "M0 3.2h9v2.6h-9z", "M4.5 .4L9 8.6H0z", "M1 1h7v7h-7z", "M3.5 3.5h2v2h-2z"];
/** The symbol of a kind of work: square, diamond, circle, dash, triangle, open square; a dot for no work. */
export function glyph(kind: number): SVGSVGElement {
  return svg("svg", { class: `glyph k${kind}`, viewBox: "0 0 9 9", "aria-hidden": "true" }, svg("path", { d: glyphShapes[kind] ?? glyphShapes[6]! }));
}

export function chip(label: string, pressed: boolean, action: () => void): HTMLButtonElement {
  return h("button", { class: "chip", "aria-pressed": pressed ? "true" : "false", onclick: action }, label);
}

export function download(fileName: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  h("a", { href: url, download: fileName }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export function toCsv(rows: (string | number)[][]): string {
  const cell = (value: string | number) => {
    // Prevents a spreadsheet from evaluating a name as a formula.
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
