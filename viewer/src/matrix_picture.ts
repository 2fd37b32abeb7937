// Draws a traffic matrix as a heat map, with frames around nodes.
import { prepareCanvas, rgb, textColorFor } from "./axis";
import { h, svg } from "./dom";
import { formatBytes } from "./format";
import type { Matrix } from "./matrix";
import { colors, heatRamp, isDark } from "./view";

export const kLabel = 36;
const kDecreaseColor = "#1F5A9A", kIncreaseColor = "#C9400C";

export interface MatrixPicture { cellSize: number; min: number; max: number; isSigned: boolean; unit: number; showsNumbers: boolean; shade: (value: number) => string }

/** Draws at most `maxSize` pixels, on a linear or logarithmic colour scale; signed values use a diverging scale. */
export function drawMatrix(canvas: HTMLCanvasElement, matrix: Matrix, maxSize: number, isLinear: boolean, devicesPerNode: number, selectedCell: [number, number] | null): MatrixPicture {
  const { size, values } = matrix;
  const cellSize = Math.max(Math.floor(maxSize / size), 1);
  const side = cellSize * size;
  const c = colors();
  const context = prepareCanvas(canvas, side + kLabel + 4, side + kLabel + 2);
  const scale = colorScale(values, isLinear);
  const showsNumbers = size <= 16 && cellSize >= 20;
  context.font = `${cellSize >= 24 ? 10 : 9}px system-ui, sans-serif`;
  context.textAlign = "center";
  for (let from = 0; from < size; ++from)
    for (let to = 0; to < size; ++to) {
      const value = values[from * size + to]!;
      const color = scale.shade(value);
      context.fillStyle = color;
      context.fillRect(kLabel + to * cellSize, kLabel + from * cellSize, cellSize, cellSize);
      if (!showsNumbers || value === 0) continue;
      context.fillStyle = textColorFor(color);
      const shown = value / scale.unit;
      context.fillText(shown.toFixed(Math.abs(shown) >= 9.995 ? 0 : 1), kLabel + (to + 0.5) * cellSize, kLabel + (from + 0.5) * cellSize + 0.5);
    }
  if (cellSize >= 8) drawGrid(context, size, cellSize, c.bg!);
  drawNodeFrames(context, size, cellSize, devicesPerNode);
  drawLabels(context, matrix, cellSize);
  if (selectedCell) {
    context.strokeStyle = c.link!;
    context.lineWidth = 2;
    context.strokeRect(kLabel + selectedCell[1] * cellSize + 1, kLabel + selectedCell[0] * cellSize + 1, cellSize - 1, cellSize - 1);
  }
  return { cellSize, showsNumbers, ...scale };
}

function colorScale(values: Float64Array, isLinear: boolean): Omit<MatrixPicture, "cellSize" | "showsNumbers"> {
  const c = colors();
  const isSigned = values.some((value) => value < 0);
  let max = 0, min = Infinity;
  for (const value of values) { const size = Math.abs(value); max = Math.max(max, size); if (size > 0) min = Math.min(min, size); }
  const ramp = isDark() ? heatRamp.dark : heatRamp.light;
  const shade = (value: number): string => {
    if (value === 0) return c.bg!;
    const magnitude = Math.abs(value);
    const t = max === min ? 0.8 : isLinear ? magnitude / max : 0.18 + (0.82 * Math.log(magnitude / min)) / Math.log(max / min);
    return isSigned ? mixColors(c.bg!, value < 0 ? kDecreaseColor : kIncreaseColor, Math.max(t, 0.15)) : rampColor(ramp, t);
  };
  return { isSigned, min, max, shade, unit: max >= 2 ** 30 ? 2 ** 30 : max >= 2 ** 20 ? 2 ** 20 : max >= 1024 ? 1024 : 1 };
}

function drawGrid(context: CanvasRenderingContext2D, size: number, cellSize: number, color: string): void {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  for (let i = 1; i < size; ++i) {
    context.moveTo(kLabel + i * cellSize + 0.5, kLabel); context.lineTo(kLabel + i * cellSize + 0.5, kLabel + size * cellSize);
    context.moveTo(kLabel, kLabel + i * cellSize + 0.5); context.lineTo(kLabel + size * cellSize, kLabel + i * cellSize + 0.5);
  }
  context.stroke();
}

function drawNodeFrames(context: CanvasRenderingContext2D, size: number, cellSize: number, devicesPerNode: number): void {
  const c = colors();
  context.strokeStyle = devicesPerNode > 0 ? c.text! : c.line!;
  if (devicesPerNode === 0) context.strokeRect(kLabel + 0.5, kLabel + 0.5, size * cellSize, size * cellSize);
  else for (let first = 0; first < size; first += devicesPerNode) { const width = Math.min(devicesPerNode, size - first) * cellSize; context.strokeRect(kLabel + first * cellSize + 0.5, kLabel + first * cellSize + 0.5, width, width); }
}

function drawLabels(context: CanvasRenderingContext2D, matrix: Matrix, cellSize: number): void {
  const side = matrix.size * cellSize;
  context.fillStyle = colors().muted!;
  context.font = "11px system-ui, sans-serif";
  for (let i = 0; i < matrix.size; i += Math.ceil(18 / cellSize)) {
    context.textAlign = "center";
    context.fillText(String(matrix.first + i), kLabel + (i + 0.5) * cellSize, kLabel - 8);
    context.textAlign = "right";
    context.fillText(String(matrix.first + i), kLabel - 5, kLabel + (i + 0.5) * cellSize);
  }
  context.textAlign = "center";
  context.fillText(matrix.perCell === 1 ? "to device" : `to node of ${matrix.perCell} devices`, kLabel + side / 2, 7);
  context.save();
  context.translate(6, kLabel + side / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(matrix.perCell === 1 ? "from device" : "from node", 0, 0);
  context.restore();
}

/** The colour scale, labelled with the bytes at both ends. */
export function matrixLegend(picture: MatrixPicture): HTMLElement {
  const width = 190;
  const { isSigned, min, max } = picture;
  const ramp = svg("svg", { width, height: 10, "aria-hidden": "true" });
  const value = (part: number) => (isSigned ? (2 * part - 1) * max : min === Infinity ? 0 : min * (max / min) ** part);
  for (let i = 0; i < width; ++i) ramp.append(svg("rect", { x: i, y: 0, width: 1.2, height: 10, fill: picture.shade(value(i / (width - 1))) }));
  const ends = isSigned ? [`−${formatBytes(max)}`, `+${formatBytes(max)}`] : min === Infinity ? ["no traffic", ""] : min === max ? [`${formatBytes(max)} per pair`, ""] : [formatBytes(min), `${formatBytes(max)} per pair`];
  return h("div", { class: "ramp" }, ramp, h("div", { class: "ends" }, h("span", {}, ends[0]!), h("span", {}, ends[1]!)));
}

function mixColors(a: string, b: string, t: number): string {
  const [x, y] = [rgb(a), rgb(b)];
  return `#${x.map((each, i) => Math.round(each + (y[i]! - each) * Math.min(t, 1)).toString(16).padStart(2, "0")).join("")}`;
}
function rampColor(ramp: string[], t: number): string {
  const position = Math.max(0, Math.min(t, 1)) * (ramp.length - 1);
  const low = Math.min(Math.floor(position), ramp.length - 2);
  return mixColors(ramp[low]!, ramp[low + 1]!, position - low);
}
