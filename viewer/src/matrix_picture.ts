// A traffic matrix as a heat map, with nodes as frames.
import { prepare, readableOn, rgb } from "./axis";
import { h, svg } from "./dom";
import { bytes } from "./format";
import type { Matrix } from "./matrix";
import { colors, heatRamp, isDark } from "./view";

export const kLabel = 36;
const kLess = "#1F5A9A", kMore = "#C9400C";

export interface MatrixPicture { cell: number; least: number; most: number; signed: boolean; unit: number; numbers: boolean; shade: (value: number) => string }

/** Draws it into `room` pixels; `linear` or by logarithm; signed values on a ramp with two ends. */
export function drawMatrix(canvas: HTMLCanvasElement, matrix: Matrix, room: number, linear: boolean, perNode: number, picked: [number, number] | null): MatrixPicture {
  const { size, values } = matrix;
  const cell = Math.max(Math.floor(room / size), 1);
  const side = cell * size;
  const c = colors();
  const context = prepare(canvas, side + kLabel + 4, side + kLabel + 2);
  const scale = scaleOf(values, linear);
  const numbers = size <= 16 && cell >= 20;
  context.font = `${cell >= 24 ? 10 : 9}px system-ui, sans-serif`;
  context.textAlign = "center";
  for (let from = 0; from < size; ++from)
    for (let to = 0; to < size; ++to) {
      const value = values[from * size + to]!;
      const color = scale.shade(value);
      context.fillStyle = color;
      context.fillRect(kLabel + to * cell, kLabel + from * cell, cell, cell);
      if (!numbers || value === 0) continue;
      context.fillStyle = readableOn(color);
      const shown = value / scale.unit;
      context.fillText(shown.toFixed(Math.abs(shown) >= 9.995 ? 0 : 1), kLabel + (to + 0.5) * cell, kLabel + (from + 0.5) * cell + 0.5);
    }
  if (cell >= 8) grid(context, size, cell, c.bg!);
  frames(context, size, cell, perNode);
  labels(context, matrix, cell);
  if (picked) {
    context.strokeStyle = c.link!;
    context.lineWidth = 2;
    context.strokeRect(kLabel + picked[1] * cell + 1, kLabel + picked[0] * cell + 1, cell - 1, cell - 1);
  }
  return { cell, numbers, ...scale };
}

function scaleOf(values: Float64Array, linear: boolean): Omit<MatrixPicture, "cell" | "numbers"> {
  const c = colors();
  const signed = values.some((value) => value < 0);
  let most = 0, least = Infinity;
  for (const value of values) { const size = Math.abs(value); most = Math.max(most, size); if (size > 0) least = Math.min(least, size); }
  const ramp = isDark() ? heatRamp.dark : heatRamp.light;
  const shade = (value: number): string => {
    if (value === 0) return c.bg!;
    const magnitude = Math.abs(value);
    const t = most === least ? 0.8 : linear ? magnitude / most : 0.18 + (0.82 * Math.log(magnitude / least)) / Math.log(most / least);
    return signed ? mix(c.bg!, value < 0 ? kLess : kMore, Math.max(t, 0.15)) : rampAt(ramp, t);
  };
  return { signed, least, most, shade, unit: most >= 2 ** 30 ? 2 ** 30 : most >= 2 ** 20 ? 2 ** 20 : most >= 1024 ? 1024 : 1 };
}

function grid(context: CanvasRenderingContext2D, size: number, cell: number, color: string): void {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  for (let i = 1; i < size; ++i) {
    context.moveTo(kLabel + i * cell + 0.5, kLabel); context.lineTo(kLabel + i * cell + 0.5, kLabel + size * cell);
    context.moveTo(kLabel, kLabel + i * cell + 0.5); context.lineTo(kLabel + size * cell, kLabel + i * cell + 0.5);
  }
  context.stroke();
}

function frames(context: CanvasRenderingContext2D, size: number, cell: number, perNode: number): void {
  const c = colors();
  context.strokeStyle = perNode > 0 ? c.text! : c.line!;
  if (perNode === 0) context.strokeRect(kLabel + 0.5, kLabel + 0.5, size * cell, size * cell);
  else for (let at = 0; at < size; at += perNode) { const width = Math.min(perNode, size - at) * cell; context.strokeRect(kLabel + at * cell + 0.5, kLabel + at * cell + 0.5, width, width); }
}

function labels(context: CanvasRenderingContext2D, matrix: Matrix, cell: number): void {
  const side = matrix.size * cell;
  context.fillStyle = colors().muted!;
  context.font = "11px system-ui, sans-serif";
  for (let i = 0; i < matrix.size; i += Math.ceil(18 / cell)) {
    context.textAlign = "center";
    context.fillText(String(matrix.first + i), kLabel + (i + 0.5) * cell, kLabel - 8);
    context.textAlign = "right";
    context.fillText(String(matrix.first + i), kLabel - 5, kLabel + (i + 0.5) * cell);
  }
  context.textAlign = "center";
  context.fillText(matrix.perCell === 1 ? "to device" : `to node of ${matrix.perCell} devices`, kLabel + side / 2, 7);
  context.save();
  context.translate(6, kLabel + side / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(matrix.perCell === 1 ? "from device" : "from node", 0, 0);
  context.restore();
}

/** The ramp with its two ends as bytes. */
export function matrixLegend(picture: MatrixPicture): HTMLElement {
  const width = 190;
  const { signed, least, most } = picture;
  const ramp = svg("svg", { width, height: 10, "aria-hidden": "true" });
  const value = (part: number) => (signed ? (2 * part - 1) * most : least === Infinity ? 0 : least * (most / least) ** part);
  for (let i = 0; i < width; ++i) ramp.append(svg("rect", { x: i, y: 0, width: 1.2, height: 10, fill: picture.shade(value(i / (width - 1))) }));
  const ends = signed ? [`−${bytes(most)}`, `+${bytes(most)}`] : least === Infinity ? ["nothing moves", ""] : least === most ? [`${bytes(most)} per pair`, ""] : [bytes(least), `${bytes(most)} per pair`];
  return h("div", { class: "ramp" }, ramp, h("div", { class: "ends" }, h("span", {}, ends[0]!), h("span", {}, ends[1]!)));
}

function mix(a: string, b: string, t: number): string {
  const [x, y] = [rgb(a), rgb(b)];
  return `#${x.map((each, i) => Math.round(each + (y[i]! - each) * Math.min(t, 1)).toString(16).padStart(2, "0")).join("")}`;
}
function rampAt(ramp: string[], t: number): string {
  const at = Math.max(0, Math.min(t, 1)) * (ramp.length - 1);
  const low = Math.min(Math.floor(at), ramp.length - 2);
  return mix(ramp[low]!, ramp[low + 1]!, at - low);
}
