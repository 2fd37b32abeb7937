// The x axis of Memory: steps of the schedule, or their predicted time.
import type { Range } from "./axis";

export const kLeft = 62, kRight = 12;

export class MemoryScale {
  constructor(private readonly positions: Float64Array[], readonly byTime: boolean, readonly range: Range, readonly width: number) {}

  get plot(): number { return this.width - kLeft - kRight; }
  x(position: number): number { return kLeft + ((position - this.range.from) / (this.range.to - this.range.from)) * this.plot; }
  position(x: number): number { return this.range.from + ((x - kLeft) / this.plot) * (this.range.to - this.range.from); }
  /** Where a step of a module begins. */
  begin(module: number, step: number): number { const at = this.positions[module]!; return at[Math.max(0, Math.min(step, at.length - 1))]!; }
  middle(module: number, step: number): number { return (this.begin(module, step) + this.begin(module, step + 1)) / 2; }

  /** The last step that begins at or before a position. */
  step(module: number, position: number): number {
    const at = this.positions[module]!;
    let low = 0, high = Math.max(at.length - 2, 0);
    while (low < high) { const middle = (low + high + 1) >> 1; if (at[middle]! <= position) low = middle; else high = middle - 1; }
    return low;
  }

  /** Of each of so many columns of pixels the step with the most in it, never a mean; -1 where there is none. */
  columns(module: number, count: number, total: Float64Array): Int32Array {
    const at = this.positions[module]!;
    const steps = at.length - 1;
    const shown = new Int32Array(count).fill(-1);
    const { from, to } = this.range;
    for (let column = 0; column < count; ++column) {
      const begin = from + (column / count) * (to - from), end = from + ((column + 1) / count) * (to - from);
      // The first step that is not over before the column. One without a length belongs to where it stands.
      let low = 0, high = steps;
      while (low < high) { const middle = (low + high) >> 1; if (at[middle + 1]! > begin || at[middle]! >= begin) high = middle; else low = middle + 1; }
      let best = -1;
      for (let step = low; step < steps && at[step]! < end; ++step) if (best < 0 || total[step]! > total[best]!) best = step;
      shown[column] = best;
    }
    return shown;
  }
}
