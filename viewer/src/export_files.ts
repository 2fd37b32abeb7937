// Exports: tables as CSV, pictures as SVG or PNG.
import { download, toCsv } from "./dom";
import { formatCount } from "./format";
import { colors, type View } from "./view";

/** Saves the view's table. Returns a message for the status bar. */
export function saveTable(name: string, view: View): string {
  const rows = view.csv?.();
  if (!rows || rows.length < 2) return "this view has no table";
  download(`${name}.csv`, new Blob([toCsv(rows)], { type: "text/csv" }));
  return `saved ${name}.csv with ${formatCount(rows.length - 1)} rows`;
}

/** Saves the view's picture. Returns a message for the status bar. */
export function savePicture(name: string, view: View): string {
  const picture = view.picture?.();
  if (!picture) return "this view has no picture";
  if (picture instanceof HTMLCanvasElement) {
    withBackground(picture).toBlob((blob) => { if (blob) download(`${name}.png`, blob); });
    return `saved ${name}.png`;
  }
  download(`${name}.svg`, new Blob([serializeSvg(picture)], { type: "image/svg+xml" }));
  return `saved ${name}.svg`;
}

/** Copies a picture onto the page's background, because colours of the dark theme are unreadable on white. */
function withBackground(picture: HTMLCanvasElement): HTMLCanvasElement {
  const copy = document.createElement("canvas");
  copy.width = picture.width;
  copy.height = picture.height;
  const context = copy.getContext("2d")!;
  context.fillStyle = colors().bg!;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(picture, 0, 0);
  return copy;
}

/** SVG text with the page's computed styles inlined, so that it does not depend on the page. */
export function serializeSvg(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const [sourceElements, copyElements] = [picture.querySelectorAll("*"), copy.querySelectorAll("*")];
  sourceElements.forEach((element, i) => {
    const style = getComputedStyle(element);
    const target = copyElements[i]!;
    for (const property of ["fill", "stroke", "stroke-width", "font-size", "font-weight", "font-family"]) {
      const value = style.getPropertyValue(property);
      if (value !== "" && (property.startsWith("font") ? element.tagName === "text" : true)) target.setAttribute(property, value);
    }
  });
  const view = picture.viewBox.baseVal;
  const area = view && view.width > 0 ? view : { x: 0, y: 0, width: picture.clientWidth, height: picture.clientHeight };
  const background = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ x: area.x, y: area.y, width: area.width, height: area.height, fill: colors().bg! })) background.setAttribute(key, String(value));
  copy.prepend(background);
  return new XMLSerializer().serializeToString(copy);
}
