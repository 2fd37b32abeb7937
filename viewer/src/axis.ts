// Axis ranges, ticks, canvases and colours shared by all drawings.

export interface Range { from: number; to: number }

/** Up to about `maxCount` ticks at multiples of 1, 2 or 5 times a power of ten. */
export function ticks(from: number, to: number, maxCount: number): number[] {
  const span = Math.max(to - from, 1e-300);
  const rough = span / Math.max(maxCount, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? power * 10;
  const out: number[] = [];
  for (let i = Math.ceil(from / step); i * step <= to; ++i) out.push(i * step);
  return out;
}

/** Ticks for a byte axis that starts at 0. The distance is a power of two, so ticks are whole numbers of KiB, MiB, … */
export function byteTicks(max: number, maxCount: number): number[] {
  if (max <= 0) return [0];
  const step = Math.max(2 ** Math.ceil(Math.log2(max / Math.max(maxCount, 1))), 1);
  const out: number[] = [];
  for (let i = 0; i * step <= max; ++i) out.push(i * step);
  return out;
}

/** Resizes a canvas to `width` × `height` CSS pixels at the screen's resolution, clears it and returns its context. */
export function prepareCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  return context;
}

/** Elides text to `width` pixels; empty if fewer than three letters fit. */
export function elideToWidth(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 24) return "";
  if (text.length * 8 < width || context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? "" : text.slice(0, low) + "…";
}

/** Parses "FROM-TO" and clamps it to `bounds`. Returns all of `bounds` if the text is not a range. */
export function parseRange(text: string | undefined, bounds: Range): Range {
  const match = /^(-?[0-9.e+-]+?)-(-?[0-9.e+-]+)$/.exec(text ?? "");
  if (!match) return bounds;
  const from = Math.max(Number(match[1]), bounds.from), to = Math.min(Number(match[2]), bounds.to);
  return to > from ? { from, to } : bounds;
}

/** Scales a range by `factor` around `center`. The result is at least `minSpan` long and stays within `bounds`. */
export function zoomRange(range: Range, bounds: Range, factor: number, center: number, minSpan: number): Range {
  const span = Math.min(Math.max((range.to - range.from) * factor, minSpan), bounds.to - bounds.from);
  const share = range.to > range.from ? (center - range.from) / (range.to - range.from) : 0.5;
  return panRange({ from: center - share * span, to: center - share * span + span }, bounds, 0);
}

/** Moves a range by `delta`, keeping its length and staying within `bounds`. */
export function panRange(range: Range, bounds: Range, delta: number): Range {
  const span = range.to - range.from;
  const from = Math.min(Math.max(range.from + delta, bounds.from), Math.max(bounds.to - span, bounds.from));
  return { from, to: from + span };
}

export function rgb(hex: string): [number, number, number] {
  const value = parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** The relative luminance of a colour, as WCAG defines it. */
function luminance(hex: string): number {
  const [r, g, b] = rgb(hex).map((each) => (each / 255 <= 0.04045 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
/** Black or white text for a background colour. One of them always has a contrast ratio of at least 4.5. */
export function textColorFor(hex: string): string { return luminance(hex) > 0.179 ? "#000000" : "#FFFFFF"; }
