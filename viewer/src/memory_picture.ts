// The pictures of Memory: the stack of live bytes, the packing, the program above them, the whole below.
import { byteTicks, fitted, type Range, readableOn, rgb, ticks } from "./axis";
import { visible } from "./dom";
import { bytes, count, percent, seconds } from "./format";
import type { Group, MemoryData, Stretch } from "./memory_data";
import { kLeft, type MemoryScale } from "./memory_scale";
import { colors, isDark } from "./view";

/** `order`: of the colours, from below: arguments first, what has no colour of its own last. */
export interface Stack { groups: Group[]; groupOf: Uint32Array; colorOf: Int8Array; series: Float64Array[]; order: number[] }
const kBold = "600 13px system-ui, sans-serif", kPlain = "11px system-ui, sans-serif";

export function drawStrip(context: CanvasRenderingContext2D, stretches: Stretch[], module: number, scale: MemoryScale, top: number): void {
  const c = colors();
  context.fillStyle = c.muted!;
  context.fillText("program", 8, top + 8);
  const tints = isDark() ? ["#263445", "#3a2440", "#263c38", "#40352a"] : ["#dce8f5", "#efe0f2", "#dcefe9", "#f4e8da"];
  const [first, last] = [kLeft, kLeft + scale.plot];
  context.fillStyle = c.grid!;
  context.fillRect(first, top, last - first, 16);
  stretches.forEach((stretch, number) => {
    const x = Math.max(scale.x(scale.begin(module, stretch.from)), first), end = Math.min(scale.x(scale.begin(module, stretch.to + 1)), last);
    if (end <= x) return;
    context.fillStyle = tints[number % tints.length]!;
    context.fillRect(x, top, Math.max(end - x - 1, 1), 16);
    context.fillStyle = c.text!;
    const text = fitted(context, visible(stretch.label, 80), end - x - 8);
    if (text.length >= Math.min(stretch.label.length, 7)) context.fillText(text, x + 5, top + 8.5);
  });
}

function drawAxes(context: CanvasRenderingContext2D, scale: MemoryScale, top: number, height: number, most: number): void {
  const c = colors();
  context.textAlign = "right";
  for (const tick of byteTicks(most, Math.max(height / 45, 2))) {
    const y = Math.round(top + height - (tick / most) * height) + 0.5;
    context.strokeStyle = c.grid!;
    context.beginPath(); context.moveTo(kLeft, y); context.lineTo(kLeft + scale.plot, y); context.stroke();
    context.fillStyle = c.muted!;
    context.fillText(bytes(tick).replace(".0 ", " "), kLeft - 7, y);
  }
  context.textAlign = "center";
  context.fillStyle = c.muted!;
  for (const tick of ticks(scale.range.from, scale.range.to, scale.plot / 110))
    if (scale.byTime || Number.isInteger(tick)) context.fillText(scale.byTime ? seconds(tick) : count(tick), Math.max(scale.x(tick), kLeft + 8), top + height + 11);
  context.textAlign = "left";
}

export interface StackPlace { top: number; height: number; most: number; limit: number; limitName: string; letter: string }

export function drawStack(context: CanvasRenderingContext2D, data: MemoryData, module: number, stack: Stack, scale: MemoryScale, palette: string[], place: StackPlace): void {
  const { top, height, most, limit } = place;
  const c = colors();
  drawAxes(context, scale, top, height, most);
  const ratio = devicePixelRatio;
  const shown = scale.columns(module, Math.floor(scale.plot * ratio), data.total);
  const { series, order } = stack;
  const whole = (y: number) => Math.round(y * ratio) / ratio;
  for (let column = 0, until = 1; column < shown.length; column = until, ++until) {
    const step = shown[column]!;
    // Neighbours that are the same are one rectangle.
    while (step >= 0 && until < shown.length && shown[until]! >= 0 && order.every((color) => series[color]![shown[until]!] === series[color]![step])) ++until;
    if (step < 0) continue;
    let y = top + height;
    for (const color of order) {
      const part = (series[color]![step]! / most) * height;
      if (part <= 0) continue;
      context.fillStyle = palette[color]!;
      context.fillRect(kLeft + column / ratio, whole(y - part), (until - column) / ratio, whole(y) - whole(y - part));
      y -= part;
    }
  }
  nameBands(context, shown, stack, palette, (color, step) => {
    let below = 0;
    for (const each of order) { if (each === color) break; below += series[each]![step]!; }
    return [top + height - (below / most) * height, (series[color]![step]! / most) * height];
  });
  if (limit > most) { context.fillStyle = c.muted!; context.textAlign = "right"; context.fillText(`↑ ${place.limitName} ${bytes(limit)}`, kLeft + scale.plot, top + 8); context.textAlign = "left"; }
  if (limit > 0 && limit <= most) drawLimit(context, scale, Math.round(top + height - (limit / most) * height) + 0.5, `${place.limitName} ${bytes(limit)}`);
  if (place.letter) { context.fillStyle = c.text!; context.font = kBold; context.fillText(place.letter, 12, top + 8); context.font = kPlain; }
}

function drawLimit(context: CanvasRenderingContext2D, scale: MemoryScale, y: number, text: string): void {
  context.strokeStyle = context.fillStyle = colors().warning!;
  context.setLineDash([5, 4]);
  context.beginPath(); context.moveTo(kLeft, y); context.lineTo(kLeft + scale.plot, y); context.stroke();
  context.setLineDash([]);
  context.textAlign = "right";
  context.fillText(text, kLeft + scale.plot, y + 9);
  context.textAlign = "left";
}

/** Names where a band is thick enough for the whole name. */
function nameBands(context: CanvasRenderingContext2D, shown: Int32Array, { groups, colorOf, order }: Stack, palette: string[], band: (color: number, step: number) => [number, number]): void {
  const ratio = devicePixelRatio;
  for (const color of order) {
    const group = color === 9 ? undefined : groups.find((_, i) => colorOf[i] === color);
    if (!group) continue;
    const text = fitted(context, visible(group.label, 60), 240);
    const half = (context.measureText(text).width / 2 + 5) * ratio;
    let best = 0, bestX = 0, bestY = 0;
    for (let centre = Math.ceil(half); centre < shown.length - half; centre += 8) {
      const places = [centre - half, centre - half / 2, centre, centre + half / 2, centre + half].map((each) => shown[Math.floor(each)]!);
      if (places.some((step) => step < 0)) continue;
      const bands = places.map((step) => band(color, step));
      const lower = Math.min(...bands.map(([bottom]) => bottom)), upper = Math.max(...bands.map(([bottom, part]) => bottom - part));
      // Of equal places the one nearest the middle.
      const middle = 1 - Math.abs(centre / shown.length - 0.5) / 100;
      if ((lower - upper) * middle > best) { best = (lower - upper) * middle; bestX = kLeft + centre / ratio; bestY = (lower + upper) / 2; }
    }
    if (best < 14) continue;
    context.fillStyle = readableOn(palette[color]!);
    context.textAlign = "center";
    context.fillText(text, bestX, bestY + 0.5);
    context.textAlign = "left";
  }
}

/** Address against step, on whole pixels: the buffer that covers most of a pixel has it. */
export function drawPacking(context: CanvasRenderingContext2D, data: MemoryData, module: number, { groupOf, colorOf }: Stack, scale: MemoryScale, colorNames: string[], top: number, height: number): void {
  const c = colors();
  const b = data.buffers;
  let highest = 0, used = 0;
  for (let i = 0; i < b.count; ++i) if (b.offset[i]! >= 0) highest = Math.max(highest, b.offset[i]! + b.bytes[i]!);
  context.fillStyle = c.text!;
  context.font = kBold;
  context.fillText("Packing of the temporaries", kLeft, top - 14);
  const titleWidth = context.measureText("Packing of the temporaries").width;
  context.font = kPlain;
  const say = (text: string) => { context.fillStyle = c.muted!; context.fillText(fitted(context, text, scale.plot - titleWidth - 12), kLeft + titleWidth + 10, top - 13.5); };
  if (highest === 0) return say("there are none");
  const most = highest * 1.04;
  drawAxes(context, scale, top, height, most);
  const ratio = devicePixelRatio;
  const w = Math.floor(scale.plot * ratio), ht = Math.floor(height * ratio);
  const image = context.createImageData(w, ht);
  const covered = new Float32Array(w * ht);
  const palette = colorNames.map(rgb);
  const { from, to } = scale.range;
  const xScale = w / (to - from), yScale = ht / most;
  for (let i = 0; i < data.segStart.length; ++i) {
    const life = data.segLife[i]!;
    if (b.offset[life]! < 0) continue;
    used += (data.segEnd[i]! - data.segStart[i]! + 1) * b.bytes[life]!;
    const x0 = Math.max((scale.begin(module, data.segStart[i]!) - from) * xScale, 0), x1 = Math.min((scale.begin(module, data.segEnd[i]! + 1) - from) * xScale, w);
    if (x1 <= 0 || x0 >= w || x1 <= x0) continue;
    const y0 = ht - (b.offset[life]! + b.bytes[life]!) * yScale, y1 = ht - b.offset[life]! * yScale;
    const [red, green, blue] = palette[colorOf[groupOf[life]!]!]!;
    for (let y = Math.max(Math.floor(y0), 0); y < Math.min(Math.ceil(y1), ht); ++y) {
      const high = Math.min(y + 1, y1) - Math.max(y, y0);
      // A line of background between neighbours that are thick enough to have one.
      if (y1 - y0 > 3 * ratio && y === Math.floor(y0)) continue;
      for (let x = Math.floor(x0); x < Math.min(Math.ceil(x1), w); ++x) {
        const cover = high * (Math.min(x + 1, x1) - Math.max(x, x0));
        const at = y * w + x;
        if (cover <= covered[at]!) continue;
        covered[at] = cover;
        image.data[4 * at] = red; image.data[4 * at + 1] = green; image.data[4 * at + 2] = blue; image.data[4 * at + 3] = 255;
      }
    }
  }
  context.putImageData(image, Math.round(kLeft * ratio), Math.round(top * ratio));
  const gaps = Math.max(1 - used / Math.max(data.steps * highest, 1), 0);
  say(`address against ${scale.byTime ? "time" : "step"}; a block of ${bytes(data.model.about.memory.temporaries)}, of which ${percent(gaps)} is unused on average`);
}

/** The whole, with what is shown of it framed. */
export function drawWhole(context: CanvasRenderingContext2D, data: MemoryData, module: number, whole: MemoryScale, range: Range, top: number): void {
  const c = colors();
  context.fillStyle = c.panel!;
  context.fillRect(kLeft, top, whole.plot, 26);
  context.fillStyle = c.line!;
  whole.columns(module, Math.floor(whole.plot), data.total).forEach((step, x) => {
    const high = step < 0 ? 0 : (data.total[step]! / data.total[data.peak]!) * 24;
    context.fillRect(kLeft + x, top + 26 - high, 1, high);
  });
  context.strokeStyle = c.link!;
  context.strokeRect(whole.x(range.from) + 0.5, top + 0.5, Math.max(whole.x(range.to) - whole.x(range.from), 2), 25);
}
