// The x axis of Memory: schedule steps, or their predicted time.
import type { Range } from "./axis";

export const kLeft = 62, kRight = 12;

export class MemoryScale {
  constructor(private readonly positions: Float64Array[], readonly byTime: boolean, readonly range: Range, readonly width: number) {}

  get plot(): number { return this.width - kLeft - kRight; }
  x(position: number): number { return kLeft + ((position - this.range.from) / (this.range.to - this.range.from)) * this.plot; }
  position(x: number): number { return this.range.from + ((x - kLeft) / this.plot) * (this.range.to - this.range.from); }
  /** The position at which a step of a module begins. */
  begin(module: number, step: number): number { const positions = this.positions[module]!; return positions[Math.max(0, Math.min(step, positions.length - 1))]!; }
  middle(module: number, step: number): number { return (this.begin(module, step) + this.begin(module, step + 1)) / 2; }

  /** The last step that begins at or before a position. */
  step(module: number, position: number): number {
    const positions = this.positions[module]!;
    let low = 0, high = Math.max(positions.length - 2, 0);
    while (low < high) { const middle = (low + high + 1) >> 1; if (positions[middle]! <= position) low = middle; else high = middle - 1; }
    return low;
  }

  /** For each of `count` pixel columns, the step with the largest total among those it covers; -1 if it covers none. */
  columns(module: number, count: number, total: Float64Array): Int32Array {
    const positions = this.positions[module]!;
    const steps = positions.length - 1;
    const stepOfColumn = new Int32Array(count).fill(-1);
    const { from, to } = this.range;
    for (let column = 0; column < count; ++column) {
      const begin = from + (column / count) * (to - from), end = from + ((column + 1) / count) * (to - from);
      // The first step that ends after the column's start. A step of zero length belongs to the column containing it.
      let low = 0, high = steps;
      while (low < high) { const middle = (low + high) >> 1; if (positions[middle + 1]! > begin || positions[middle]! >= begin) high = middle; else low = middle + 1; }
      let maxStep = -1;
      for (let step = low; step < steps && positions[step]! < end; ++step) if (maxStep < 0 || total[step]! > total[maxStep]!) maxStep = step;
      stepOfColumn[column] = maxStep;
    }
    return stepOfColumn;
  }
}
