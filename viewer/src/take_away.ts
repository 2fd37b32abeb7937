// What can be taken from a page: tables as CSV, pictures as SVG or PNG.
import { csv, download } from "./dom";
import { count } from "./format";
import { colors, type View } from "./view";

/** Both say what was done. */
export function saveTable(name: string, view: View): string {
  const rows = view.csv?.();
  if (!rows || rows.length < 2) return "there is no table here";
  download(`${name}.csv`, new Blob([csv(rows)], { type: "text/csv" }));
  return `${name}.csv has ${count(rows.length - 1)} rows`;
}

export function savePicture(name: string, view: View): string {
  const picture = view.picture?.();
  if (!picture) return "this view has no picture";
  if (picture instanceof HTMLCanvasElement) {
    opaque(picture).toBlob((blob) => { if (blob) download(`${name}.png`, blob); });
    return `${name}.png is saved`;
  }
  download(`${name}.svg`, new Blob([svgText(picture)], { type: "image/svg+xml" }));
  return `${name}.svg is saved`;
}

/** On the page's background: what is drawn for a dark page cannot be read on white. */
function opaque(picture: HTMLCanvasElement): HTMLCanvasElement {
  const copy = document.createElement("canvas");
  copy.width = picture.width;
  copy.height = picture.height;
  const context = copy.getContext("2d")!;
  context.fillStyle = colors().bg!;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(picture, 0, 0);
  return copy;
}

/** With the colours of the page's style written into it: it stands alone. */
export function svgText(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const [from, to] = [picture.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    const target = to[i]!;
    for (const property of ["fill", "stroke", "stroke-width", "font-size", "font-weight", "font-family"]) {
      const value = style.getPropertyValue(property);
      if (value !== "" && (property.startsWith("font") ? element.tagName === "text" : true)) target.setAttribute(property, value);
    }
  });
  const view = picture.viewBox.baseVal;
  const area = view && view.width > 0 ? view : { x: 0, y: 0, width: picture.clientWidth, height: picture.clientHeight };
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ x: area.x, y: area.y, width: area.width, height: area.height, fill: colors().bg! })) back.setAttribute(key, String(value));
  copy.prepend(back);
  return new XMLSerializer().serializeToString(copy);
}
