// The whole table in 56 pixels: each row a line, its colour the kind, its length the root of its weight.
import { h } from "./dom";
import { colors, isDark } from "./view";

const kWidth = 56, kRow = 20;
const kMostPerRow = 6;  // px

export interface MinimapRow { share: number; color: string }

export class Minimap {
  readonly canvas = h("canvas", { class: "minimap", "aria-hidden": "true" });
  private readonly rows = h("canvas");
  private drawnFor = "";
  private count = 0;
  private shownFor = "";

  constructor(private readonly scroller: HTMLElement, private readonly view: () => { first: number; count: number; height: number }) {
    const drag = (event: PointerEvent) => { this.scroller.scrollTop = (event.offsetY / this.each - this.view().count / 2) * kRow; };
    this.canvas.addEventListener("pointerdown", drag);
    this.canvas.addEventListener("pointermove", (event) => { if (event.buttons & 1) drag(event); });
  }

  private get height(): number { return this.view().height; }
  private get each(): number { return Math.min(this.height / Math.max(this.count, 1), kMostPerRow); }

  /** `row` gives the weight of a line between 0 and 1, or null; `version` changes when lines do. */
  draw(version: string, count: number, row: (line: number) => MinimapRow | null): void {
    const height = this.height;
    if (height <= 0) return;
    this.count = count;
    const ratio = devicePixelRatio;
    // The rows are drawn once; scrolling moves the window over them.
    const key = `${height} ${ratio} ${version} ${isDark()}`;
    if (key !== this.drawnFor) { this.drawnFor = key; this.drawRows(height, ratio, row); }
    const { first, count: visible } = this.view();
    const y = Math.round(first * this.each), high = Math.max(Math.round(visible * this.each), 3);
    const shown = `${key} ${y} ${high}`;
    if (shown === this.shownFor) return;
    this.shownFor = shown;
    const context = fit(this.canvas, height, ratio);
    context.fillStyle = colors().grid!;
    context.fillRect(0, y, kWidth, high);
    context.drawImage(this.rows, 0, 0, kWidth, height);
  }

  private drawRows(height: number, ratio: number, row: (line: number) => MinimapRow | null): void {
    const context = fit(this.rows, height, ratio);
    const each = this.each;
    // Of the rows that share a pixel, the heaviest is drawn.
    let y = -1;
    let best: MinimapRow | null = null;
    const paint = () => {
      if (!best) return;
      context.fillStyle = best.color;
      context.fillRect(5, y, Math.max(46 * Math.sqrt(best.share), 1), Math.max(each - 1, 1));
    };
    for (let line = 0; line < this.count; ++line) {
      const at = Math.floor(line * each);
      if (at !== y) { paint(); y = at; best = null; }
      const here = row(line);
      if (here && (!best || here.share > best.share)) best = here;
    }
    paint();
  }
}

function fit(canvas: HTMLCanvasElement, height: number, ratio: number): CanvasRenderingContext2D {
  if (canvas.width !== kWidth * ratio || canvas.height !== Math.round(height * ratio)) {
    canvas.width = kWidth * ratio;
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, kWidth, height);
  return context;
}
