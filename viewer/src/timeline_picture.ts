// The lanes of the Timeline: at most one rectangle per lane and column of pixels.
import { fitted, type Range, readableOn, ticks } from "./axis";
import { visible } from "./dom";
import { seconds } from "./format";
import { kWaiting, type Lane, type Trace } from "./trace";
import { colors, kindColors } from "./view";

export const kLeft = 150, kRight = 12, kTop = 26, kLane = 26, kGap = 6;

export interface Placed { trace: Trace; lane: Lane; module: number; y: number }

/** From seconds to pixels and back. */
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
    context.fillText(seconds(tick), x, 10);
  }
  context.textAlign = "left";
}

export function drawLane(context: CanvasRenderingContext2D, placed: Placed, y: number, scale: TimeScale): void {
  const c = colors();
  context.fillStyle = c.muted!;
  context.textAlign = "right";
  context.fillText(fitted(context, visible(placed.lane.stream, 40), kLeft - 16), kLeft - 8, y + kLane / 2);
  context.textAlign = "left";
  context.fillStyle = c.panel!;
  context.fillRect(kLeft, y, scale.plot, kLane);
  const columns = Math.floor(scale.plot * devicePixelRatio);
  const from = placed.lane.after(scale.range.from), to = Math.min(placed.lane.after(scale.range.to) + 1, placed.lane.count);
  if (to - from <= columns * 1.5) drawSlices(context, placed, from, to, y, scale);
  else drawDense(context, placed.lane, y, columns, scale.range);
}

function drawSlices(context: CanvasRenderingContext2D, { lane, trace }: Placed, from: number, to: number, y: number, scale: TimeScale): void {
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
    const text = fitted(context, visible(trace.labels[lane.label[i]!] ?? "", 80), end - x - 8);
    context.fillStyle = kind === kWaiting ? c.text! : readableOn(palette[kind]!);
    context.fillText(text, x + 4, y + kLane / 2 + 0.5);
  }
}

function underline(context: CanvasRenderingContext2D, x: number, y: number, width: number, color: string): void {
  context.fillStyle = color;
  context.fillRect(x, y + kLane + 1, Math.max(width, 0.6), 2);
}

/** Of each column the kind that takes most of it; neighbours of one kind are one rectangle. */
function drawDense(context: CanvasRenderingContext2D, lane: Lane, y: number, columns: number, range: Range): void {
  const c = colors();
  const palette = kindColors();
  const x = (column: number) => kLeft + column / devicePixelRatio;
  let at = lane.after(range.from), run = -1, runFrom = 0, pathFrom = -1;
  const flush = (column: number) => {
    if (run < 0 || column <= runFrom) return;
    if (run === kWaiting) return hatch(context, x(runFrom), y, x(column) - x(runFrom), c.collective!);
    context.fillStyle = palette[run]!;
    context.fillRect(x(runFrom), y, x(column) - x(runFrom), kLane);
  };
  for (let column = 0; column < columns; ++column) {
    const next = lane.after(range.from + ((column + 1) / columns) * (range.to - range.from));
    const end = Math.min(next + 1, lane.count);
    let best = -1, most = 0;
    for (let kind = 0; kind <= kWaiting; ++kind) { const busy = lane.busy(kind, at, end); if (busy > most) { most = busy; best = kind; } }
    if (best !== run) { flush(column); run = best; runFrom = column; }
    const critical = lane.isCritical(at, end);
    if (critical && pathFrom < 0) pathFrom = column;
    if (!critical && pathFrom >= 0) { underline(context, x(pathFrom), y, x(column) - x(pathFrom), c.text!); pathFrom = -1; }
    at = next;
  }
  flush(columns);
  if (pathFrom >= 0) underline(context, x(pathFrom), y, x(columns) - x(pathFrom), c.text!);
}

function hatch(context: CanvasRenderingContext2D, x: number, y: number, width: number, color: string): void {
  context.save();
  context.beginPath(); context.rect(x, y, width, kLane); context.clip();
  context.strokeStyle = color;
  context.globalAlpha = 0.55;
  context.beginPath();
  // The lines stand still when the slice is cut by the edge.
  for (let at = Math.floor((x - kLane) / 6) * 6; at < x + width; at += 6) { context.moveTo(at, y + kLane); context.lineTo(at + kLane, y); }
  context.stroke();
  context.restore();
}

/** From the end of one slice to the start of another. */
export function drawArrow(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + 24, y1, x2 - 24, y2, x2, y2);
  context.moveTo(x2 - 6, y2 - 4);
  context.lineTo(x2, y2);
  context.lineTo(x2 - 6, y2 + 4);
  context.stroke();
}
