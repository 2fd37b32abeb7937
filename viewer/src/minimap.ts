// A map of a table, 56 pixels wide. Rows are lines coloured by kind, with lengths in proportion to √weight.
import { h } from "./dom";
import { colors, isDark } from "./view";

const kWidth = 56, kRow = 20;
const kMaxRowHeight = 6;  // px

export interface MinimapRow { share: number; color: string }

export class Minimap {
  readonly canvas = h("canvas", { class: "minimap", "aria-hidden": "true" });
  private readonly rows = h("canvas");
  private rowsKey = "";
  private count = 0;
  private drawnKey = "";

  constructor(private readonly scroller: HTMLElement, private readonly viewport: () => { first: number; count: number; height: number }) {
    const drag = (event: PointerEvent) => { this.scroller.scrollTop = (event.offsetY / this.rowHeight - this.viewport().count / 2) * kRow; };
    this.canvas.addEventListener("pointerdown", drag);
    this.canvas.addEventListener("pointermove", (event) => { if (event.buttons & 1) drag(event); });
  }

  private get height(): number { return this.viewport().height; }
  private get rowHeight(): number { return Math.min(this.height / Math.max(this.count, 1), kMaxRowHeight); }

  /** `row` returns the colour of a line and its weight from 0 to 1, or null. A new `version` redraws the lines. */
  draw(version: string, count: number, row: (line: number) => MinimapRow | null): void {
    const height = this.height;
    if (height <= 0) return;
    this.count = count;
    const ratio = devicePixelRatio;
    // The rows are drawn once per version; scrolling only moves the window.
    const key = `${height} ${ratio} ${version} ${isDark()}`;
    if (key !== this.rowsKey) { this.rowsKey = key; this.drawRows(height, ratio, row); }
    const { first, count: visibleCount } = this.viewport();
    const y = Math.round(first * this.rowHeight), high = Math.max(Math.round(visibleCount * this.rowHeight), 3);
    const windowKey = `${key} ${y} ${high}`;
    if (windowKey === this.drawnKey) return;
    this.drawnKey = windowKey;
    const context = prepareMinimap(this.canvas, height, ratio);
    context.fillStyle = colors().grid!;
    context.fillRect(0, y, kWidth, high);
    context.drawImage(this.rows, 0, 0, kWidth, height);
  }

  private drawRows(height: number, ratio: number, row: (line: number) => MinimapRow | null): void {
    const context = prepareMinimap(this.rows, height, ratio);
    const rowHeight = this.rowHeight;
    // If several rows share a pixel, the heaviest is drawn.
    let y = -1;
    let heaviest: MinimapRow | null = null;
    const paint = () => {
      if (!heaviest) return;
      context.fillStyle = heaviest.color;
      context.fillRect(5, y, Math.max(46 * Math.sqrt(heaviest.share), 1), Math.max(rowHeight - 1, 1));
    };
    for (let line = 0; line < this.count; ++line) {
      const lineY = Math.floor(line * rowHeight);
      if (lineY !== y) { paint(); y = lineY; heaviest = null; }
      const candidate = row(line);
      if (candidate && (!heaviest || candidate.share > heaviest.share)) heaviest = candidate;
    }
    paint();
  }
}

function prepareMinimap(canvas: HTMLCanvasElement, height: number, ratio: number): CanvasRenderingContext2D {
  if (canvas.width !== kWidth * ratio || canvas.height !== Math.round(height * ratio)) {
    canvas.width = kWidth * ratio;
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, kWidth, height);
  return context;
}
