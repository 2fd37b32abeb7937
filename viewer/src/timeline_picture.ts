// Draws the lanes of Timeline, with at most one rectangle per lane and pixel column when slices are dense.
import { elideToWidth, type Range, textColorFor, ticks } from "./axis";
import { displayText } from "./dom";
import { formatSeconds } from "./format";
import { kWaiting, type Lane, type Trace } from "./trace";
import { colors, kindColors } from "./view";

export const kLeft = 150, kRight = 12, kTop = 26, kLane = 26, kGap = 6;

export interface LaneRow { trace: Trace; lane: Lane; module: number; y: number }

/** Converts between seconds and pixels. */
export class TimeScale {
  constructor(readonly range: Range, readonly width: number) {}
  get plot(): number { return this.width - kLeft - kRight; }
  x(time: number): number { return kLeft + ((time - this.range.from) / (this.range.to - this.range.from)) * this.plot; }
  time(x: number): number { return this.range.from + ((x - kLeft) / this.plot) * (this.range.to - this.range.from); }
}

export function drawTimeAxis(context: CanvasRenderingContext2D, scale: TimeScale, height: number): void {
  const c = colors();
  context.textAlign = "center";
  context.strokeStyle = c.grid!;
  context.fillStyle = c.muted!;
  for (const tick of ticks(scale.range.from, scale.range.to, scale.plot / 110)) {
    const x = Math.round(scale.x(tick)) + 0.5;
    context.beginPath(); context.moveTo(x, kTop - 6); context.lineTo(x, height); context.stroke();
    context.fillText(formatSeconds(tick), x, 10);
  }
  context.textAlign = "left";
}

export function drawLane(context: CanvasRenderingContext2D, row: LaneRow, y: number, scale: TimeScale): void {
  const c = colors();
  context.fillStyle = c.muted!;
  context.textAlign = "right";
  context.fillText(elideToWidth(context, displayText(row.lane.stream, 40), kLeft - 16), kLeft - 8, y + kLane / 2);
  context.textAlign = "left";
  context.fillStyle = c.panel!;
  context.fillRect(kLeft, y, scale.plot, kLane);
  const columns = Math.floor(scale.plot * devicePixelRatio);
  const from = row.lane.firstEndingAfter(scale.range.from), to = Math.min(row.lane.firstEndingAfter(scale.range.to) + 1, row.lane.count);
  if (to - from <= columns * 1.5) drawSlices(context, row, from, to, y, scale);
  else drawDense(context, row.lane, y, columns, scale.range);
}

function drawSlices(context: CanvasRenderingContext2D, { lane, trace }: LaneRow, from: number, to: number, y: number, scale: TimeScale): void {
  const c = colors();
  const palette = kindColors();
  const right = kLeft + scale.plot;
  for (let i = from; i < to; ++i) {
    const x = Math.max(scale.x(lane.start[i]!), kLeft), end = Math.min(scale.x(lane.start[i]! + lane.duration[i]!), right);
    if (end <= kLeft || x >= right) continue;
    const kind = lane.kind[i]!;
    if (kind === kWaiting) {
      hatch(context, x, y, end - x, c.collective!);
    } else {
      context.fillStyle = palette[kind]!;
      context.fillRect(x, y, Math.max(end - x - (end - x > 3 ? 1 : 0), 0.6), kLane);
      if (lane.critical?.[i]) underline(context, x, y, end - x, c.text!);
    }
    if (end - x < 40) continue;
    const text = elideToWidth(context, displayText(trace.labels[lane.label[i]!] ?? "", 80), end - x - 8);
    context.fillStyle = kind === kWaiting ? c.text! : textColorFor(palette[kind]!);
    context.fillText(text, x + 4, y + kLane / 2 + 0.5);
  }
}

function underline(context: CanvasRenderingContext2D, x: number, y: number, width: number, color: string): void {
  context.fillStyle = color;
  context.fillRect(x, y + kLane + 1, Math.max(width, 0.6), 2);
}

/** Draws the kind with the most time in each pixel column. Adjacent columns of one kind are one rectangle. */
function drawDense(context: CanvasRenderingContext2D, lane: Lane, y: number, columns: number, range: Range): void {
  const c = colors();
  const palette = kindColors();
  const x = (column: number) => kLeft + column / devicePixelRatio;
  let first = lane.firstEndingAfter(range.from), runKind = -1, runFrom = 0, criticalFrom = -1;
  const flush = (column: number) => {
    if (runKind < 0 || column <= runFrom) return;
    if (runKind === kWaiting) return hatch(context, x(runFrom), y, x(column) - x(runFrom), c.collective!);
    context.fillStyle = palette[runKind]!;
    context.fillRect(x(runFrom), y, x(column) - x(runFrom), kLane);
  };
  for (let column = 0; column < columns; ++column) {
    const next = lane.firstEndingAfter(range.from + ((column + 1) / columns) * (range.to - range.from));
    const end = Math.min(next + 1, lane.count);
    let bestKind = -1, maxBusy = 0;
    for (let kind = 0; kind <= kWaiting; ++kind) { const busy = lane.busy(kind, first, end); if (busy > maxBusy) { maxBusy = busy; bestKind = kind; } }
    if (bestKind !== runKind) { flush(column); runKind = bestKind; runFrom = column; }
    const critical = lane.isCritical(first, end);
    if (critical && criticalFrom < 0) criticalFrom = column;
    if (!critical && criticalFrom >= 0) { underline(context, x(criticalFrom), y, x(column) - x(criticalFrom), c.text!); criticalFrom = -1; }
    first = next;
  }
  flush(columns);
  if (criticalFrom >= 0) underline(context, x(criticalFrom), y, x(columns) - x(criticalFrom), c.text!);
}

function hatch(context: CanvasRenderingContext2D, x: number, y: number, width: number, color: string): void {
  context.save();
  context.beginPath(); context.rect(x, y, width, kLane); context.clip();
  context.strokeStyle = color;
  context.globalAlpha = 0.55;
  context.beginPath();
  // Aligned to fixed positions, so that the lines do not move when a slice is clipped by the edge.
  for (let lineX = Math.floor((x - kLane) / 6) * 6; lineX < x + width; lineX += 6) { context.moveTo(lineX, y + kLane); context.lineTo(lineX + kLane, y); }
  context.stroke();
  context.restore();
}

/** A curved arrow from (x1, y1) to (x2, y2). */
export function drawArrow(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + 24, y1, x2 - 24, y2, x2, y2);
  context.moveTo(x2 - 6, y2 - 4);
  context.lineTo(x2, y2);
  context.lineTo(x2 - 6, y2 + 4);
  context.stroke();
}
