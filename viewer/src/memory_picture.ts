// The charts of Memory: stacked live bytes, packing of temporaries, the program track above and the overview below.
import { byteTicks, elideToWidth, type Range, rgb, textColorFor, ticks } from "./axis";
import { displayText } from "./dom";
import { formatBytes, formatCount, formatPercent, formatSeconds } from "./format";
import type { Group, MemoryData, ProgramSpan } from "./memory_data";
import { kLeft, type MemoryScale } from "./memory_scale";
import { colors, isDark } from "./view";

/** The groups of a stacked chart, from MemoryData.stack. `order`: arguments first, other groups last. */
export interface Stack { groups: Group[]; groupOf: Uint32Array; colorOf: Int8Array; series: Float64Array[]; order: number[] }
const kBold = "600 13px system-ui, sans-serif", kPlain = "11px system-ui, sans-serif";

/** Draws loops, calls and repeated layers above the chart. */
export function drawProgramTrack(context: CanvasRenderingContext2D, spans: ProgramSpan[], module: number, scale: MemoryScale, top: number): void {
  const c = colors();
  context.fillStyle = c.muted!;
  context.fillText("program", 8, top + 8);
  const tints = isDark() ? ["#263445", "#3a2440", "#263c38", "#40352a"] : ["#dce8f5", "#efe0f2", "#dcefe9", "#f4e8da"];
  const [first, last] = [kLeft, kLeft + scale.plot];
  context.fillStyle = c.grid!;
  context.fillRect(first, top, last - first, 16);
  spans.forEach((span, index) => {
    const x = Math.max(scale.x(scale.begin(module, span.from)), first), end = Math.min(scale.x(scale.begin(module, span.to + 1)), last);
    if (end <= x) return;
    context.fillStyle = tints[index % tints.length]!;
    context.fillRect(x, top, Math.max(end - x - 1, 1), 16);
    context.fillStyle = c.text!;
    const text = elideToWidth(context, displayText(span.label, 80), end - x - 8);
    if (text.length >= Math.min(span.label.length, 7)) context.fillText(text, x + 5, top + 8.5);
  });
}

function drawAxes(context: CanvasRenderingContext2D, scale: MemoryScale, top: number, height: number, maxBytes: number): void {
  const c = colors();
  context.textAlign = "right";
  for (const tick of byteTicks(maxBytes, Math.max(height / 45, 2))) {
    const y = Math.round(top + height - (tick / maxBytes) * height) + 0.5;
    context.strokeStyle = c.grid!;
    context.beginPath(); context.moveTo(kLeft, y); context.lineTo(kLeft + scale.plot, y); context.stroke();
    context.fillStyle = c.muted!;
    context.fillText(formatBytes(tick).replace(".0 ", " "), kLeft - 7, y);
  }
  context.textAlign = "center";
  context.fillStyle = c.muted!;
  for (const tick of ticks(scale.range.from, scale.range.to, scale.plot / 110))
    if (scale.byTime || Number.isInteger(tick)) context.fillText(scale.byTime ? formatSeconds(tick) : formatCount(tick), Math.max(scale.x(tick), kLeft + 8), top + height + 11);
  context.textAlign = "left";
}

export interface StackArea { top: number; height: number; maxBytes: number; limit: number; limitName: string; letter: string }

export function drawStack(context: CanvasRenderingContext2D, data: MemoryData, module: number, stack: Stack, scale: MemoryScale, palette: string[], area: StackArea): void {
  const { top, height, maxBytes, limit } = area;
  const c = colors();
  drawAxes(context, scale, top, height, maxBytes);
  const ratio = devicePixelRatio;
  const stepOfColumn = scale.columns(module, Math.floor(scale.plot * ratio), data.total);
  const { series, order } = stack;
  const snap = (y: number) => Math.round(y * ratio) / ratio;
  for (let column = 0, until = 1; column < stepOfColumn.length; column = until, ++until) {
    const step = stepOfColumn[column]!;
    // Adjacent columns with equal values are one rectangle.
    while (step >= 0 && until < stepOfColumn.length && stepOfColumn[until]! >= 0 && order.every((color) => series[color]![stepOfColumn[until]!] === series[color]![step])) ++until;
    if (step < 0) continue;
    let y = top + height;
    for (const color of order) {
      const part = (series[color]![step]! / maxBytes) * height;
      if (part <= 0) continue;
      context.fillStyle = palette[color]!;
      context.fillRect(kLeft + column / ratio, snap(y - part), (until - column) / ratio, snap(y) - snap(y - part));
      y -= part;
    }
  }
  labelBands(context, stepOfColumn, stack, palette, (color, step) => {
    let below = 0;
    for (const each of order) { if (each === color) break; below += series[each]![step]!; }
    return [top + height - (below / maxBytes) * height, (series[color]![step]! / maxBytes) * height];
  });
  if (limit > maxBytes) { context.fillStyle = c.muted!; context.textAlign = "right"; context.fillText(`↑ ${area.limitName} ${formatBytes(limit)}`, kLeft + scale.plot, top + 8); context.textAlign = "left"; }
  if (limit > 0 && limit <= maxBytes) drawLimit(context, scale, Math.round(top + height - (limit / maxBytes) * height) + 0.5, `${area.limitName} ${formatBytes(limit)}`);
  if (area.letter) { context.fillStyle = c.text!; context.font = kBold; context.fillText(area.letter, 12, top + 8); context.font = kPlain; }
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

/** Labels each band where it is thickest, if the whole label fits. */
function labelBands(context: CanvasRenderingContext2D, stepOfColumn: Int32Array, { groups, colorOf, order }: Stack, palette: string[], band: (color: number, step: number) => [number, number]): void {
  const ratio = devicePixelRatio;
  for (const color of order) {
    const group = color === 9 ? undefined : groups.find((_, i) => colorOf[i] === color);
    if (!group) continue;
    const text = elideToWidth(context, displayText(group.label, 60), 240);
    const half = (context.measureText(text).width / 2 + 5) * ratio;
    let best = 0, bestX = 0, bestY = 0;
    for (let centre = Math.ceil(half); centre < stepOfColumn.length - half; centre += 8) {
      const samples = [centre - half, centre - half / 2, centre, centre + half / 2, centre + half].map((each) => stepOfColumn[Math.floor(each)]!);
      if (samples.some((step) => step < 0)) continue;
      const bands = samples.map((step) => band(color, step));
      const lower = Math.min(...bands.map(([bottom]) => bottom)), upper = Math.max(...bands.map(([bottom, part]) => bottom - part));
      // Among equally thick positions, prefers the one nearest the middle.
      const middle = 1 - Math.abs(centre / stepOfColumn.length - 0.5) / 100;
      if ((lower - upper) * middle > best) { best = (lower - upper) * middle; bestX = kLeft + centre / ratio; bestY = (lower + upper) / 2; }
    }
    if (best < 14) continue;
    context.fillStyle = textColorFor(palette[color]!);
    context.textAlign = "center";
    context.fillText(text, bestX, bestY + 0.5);
    context.textAlign = "left";
  }
}

/** Draws address over steps. Each pixel has the colour of the buffer that covers the largest part of it. */
export function drawPacking(context: CanvasRenderingContext2D, data: MemoryData, module: number, { groupOf, colorOf }: Stack, scale: MemoryScale, colorNames: string[], top: number, height: number): void {
  const c = colors();
  const b = data.buffers;
  let maxOffset = 0, usedBytes = 0;
  for (let i = 0; i < b.count; ++i) if (b.offset[i]! >= 0) maxOffset = Math.max(maxOffset, b.offset[i]! + b.bytes[i]!);
  context.fillStyle = c.text!;
  context.font = kBold;
  context.fillText("Packing of the temporaries", kLeft, top - 14);
  const titleWidth = context.measureText("Packing of the temporaries").width;
  context.font = kPlain;
  const addCaption = (text: string) => { context.fillStyle = c.muted!; context.fillText(elideToWidth(context, text, scale.plot - titleWidth - 12), kLeft + titleWidth + 10, top - 13.5); };
  if (maxOffset === 0) return addCaption("no temporaries");
  const maxBytes = maxOffset * 1.04;
  drawAxes(context, scale, top, height, maxBytes);
  const ratio = devicePixelRatio;
  const w = Math.floor(scale.plot * ratio), ht = Math.floor(height * ratio);
  const image = context.createImageData(w, ht);
  const covered = new Float32Array(w * ht);
  const palette = colorNames.map(rgb);
  const { from, to } = scale.range;
  const xScale = w / (to - from), yScale = ht / maxBytes;
  for (let i = 0; i < data.segStart.length; ++i) {
    const buffer = data.segBuffer[i]!;
    if (b.offset[buffer]! < 0) continue;
    usedBytes += (data.segEnd[i]! - data.segStart[i]! + 1) * b.bytes[buffer]!;
    const x0 = Math.max((scale.begin(module, data.segStart[i]!) - from) * xScale, 0), x1 = Math.min((scale.begin(module, data.segEnd[i]! + 1) - from) * xScale, w);
    if (x1 <= 0 || x0 >= w || x1 <= x0) continue;
    const y0 = ht - (b.offset[buffer]! + b.bytes[buffer]!) * yScale, y1 = ht - b.offset[buffer]! * yScale;
    const [red, green, blue] = palette[colorOf[groupOf[buffer]!]!]!;
    for (let y = Math.max(Math.floor(y0), 0); y < Math.min(Math.ceil(y1), ht); ++y) {
      const high = Math.min(y + 1, y1) - Math.max(y, y0);
      // Leaves one row of background between buffers that are thick enough.
      if (y1 - y0 > 3 * ratio && y === Math.floor(y0)) continue;
      for (let x = Math.floor(x0); x < Math.min(Math.ceil(x1), w); ++x) {
        const coverage = high * (Math.min(x + 1, x1) - Math.max(x, x0));
        const index = y * w + x;
        if (coverage <= covered[index]!) continue;
        covered[index] = coverage;
        image.data[4 * index] = red; image.data[4 * index + 1] = green; image.data[4 * index + 2] = blue; image.data[4 * index + 3] = 255;
      }
    }
  }
  context.putImageData(image, Math.round(kLeft * ratio), Math.round(top * ratio));
  const unusedShare = Math.max(1 - usedBytes / Math.max(data.steps * maxOffset, 1), 0);
  addCaption(`address over ${scale.byTime ? "time" : "steps"}; block of ${formatBytes(data.model.about.memory.temporaries)}, ${formatPercent(unusedShare)} unused on average`);
}

/** Draws the whole schedule, with a frame around the visible range. */
export function drawOverview(context: CanvasRenderingContext2D, data: MemoryData, module: number, fullScale: MemoryScale, range: Range, top: number): void {
  const c = colors();
  context.fillStyle = c.panel!;
  context.fillRect(kLeft, top, fullScale.plot, 26);
  context.fillStyle = c.line!;
  fullScale.columns(module, Math.floor(fullScale.plot), data.total).forEach((step, x) => {
    const high = step < 0 ? 0 : (data.total[step]! / data.total[data.peak]!) * 24;
    context.fillRect(kLeft + x, top + 26 - high, 1, high);
  });
  context.strokeStyle = c.link!;
  context.strokeRect(fullScale.x(range.from) + 0.5, top + 0.5, Math.max(fullScale.x(range.to) - fullScale.x(range.from), 2), 25);
}
