// Scales, ticks and canvases that the drawings share.

export interface Range { from: number; to: number }

/** Ticks at 1, 2 or 5 times a power of ten. */
export function ticks(from: number, to: number, most: number): number[] {
  const span = Math.max(to - from, 1e-300);
  const rough = span / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? power * 10;
  const out: number[] = [];
  for (let i = Math.ceil(from / step); i * step <= to; ++i) out.push(i * step);
  return out;
}

/** The same for bytes: powers of two, so that every tick is a round number of KiB, MiB, … */
export function byteTicks(to: number, most: number): number[] {
  if (to <= 0) return [0];
  const step = Math.max(2 ** Math.ceil(Math.log2(to / Math.max(most, 1))), 1);
  const out: number[] = [];
  for (let i = 0; i * step <= to; ++i) out.push(i * step);
  return out;
}

/** A canvas of so many CSS pixels, sharp on this screen. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
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

/** Text cut so that it fits; nothing if not even three letters would. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
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

export function parseRange(text: string | undefined, all: Range): Range {
  const match = /^(-?[0-9.e+-]+?)-(-?[0-9.e+-]+)$/.exec(text ?? "");
  if (!match) return all;
  const from = Math.max(Number(match[1]), all.from), to = Math.min(Number(match[2]), all.to);
  return to > from ? { from, to } : all;
}

/** Zoomed by a factor around a place, within bounds. */
export function zoomed(range: Range, all: Range, factor: number, around: number, least: number): Range {
  const span = Math.min(Math.max((range.to - range.from) * factor, least), all.to - all.from);
  const share = range.to > range.from ? (around - range.from) / (range.to - range.from) : 0.5;
  return panned({ from: around - share * span, to: around - share * span + span }, all, 0);
}

export function panned(range: Range, all: Range, by: number): Range {
  const span = range.to - range.from;
  const from = Math.min(Math.max(range.from + by, all.from), Math.max(all.to - span, all.from));
  return { from, to: from + span };
}

export function rgb(hex: string): [number, number, number] {
  const value = parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** How much light a colour gives, as WCAG counts it. */
function luminance(hex: string): number {
  const [r, g, b] = rgb(hex).map((each) => (each / 255 <= 0.04045 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
/** Black or white: whichever can be read on a colour. One of them always can, at 4.5 or more. */
export function readableOn(hex: string): string { return luminance(hex) > 0.179 ? "#000000" : "#FFFFFF"; }
