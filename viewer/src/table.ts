// A table of any number of rows: only those in view are in the document, and they are reused.
import { Cell } from "./cells";
import { clear, h } from "./dom";

export interface Column {
  key: string;
  title: string;
  width: number;       // px; 0: what is left
  class?: string;
  sort?: () => void;
}

export interface TableSource {
  columns(): Column[];
  count(): number;
  /** Fills the cells of a row that is shown anew. */
  fill(index: number, row: HTMLElement, cells: Cell[]): void;
  /** The totals, above the rows; none if it returns false. */
  fillSum?(cells: Cell[]): boolean;
  click(index: number, event: MouseEvent): void;
  level?(index: number): number;
  expanded?(index: number): boolean | undefined;
  /** What a cell says to the mouse that rests on it. */
  hint?(index: number, key: string): string;
  painted?(first: number, last: number, top: number): void;
}

interface Entry { row: HTMLElement; cells: Cell[]; index: number; y: number }

const kRow = 20;
// Browsers do not scroll further than this; longer tables scroll faster.
const kMostHeight = 10_000_000;

export class VirtualTable {
  readonly element: HTMLElement;
  readonly scroller: HTMLElement;
  /** Where drawings beside the rows go: they scroll with it. */
  readonly space: HTMLElement;
  private readonly head: HTMLElement;
  private readonly sum: HTMLElement;
  private pool: Entry[] = [];
  private columns: Column[] = [];
  private widths: number[] = [];
  private shape = "";
  private selected = -1;
  private frame = 0;
  // Read once per size: asking the browser during a frame makes it lay the page out.
  private size = { width: 0, height: 0 };
  private top = 0;

  constructor(private readonly source: TableSource, label: string) {
    this.head = h("div", { class: "thead", role: "row" });
    this.sum = h("div", { class: "tsum", role: "row" });
    this.space = h("div", { class: "space", role: "presentation" });
    this.scroller = h("div", { class: "scroller", tabindex: 0, role: "rowgroup", "aria-label": label }, this.space);
    this.element = h("div", { class: "table", role: "treegrid", "aria-label": label }, h("div", { role: "rowgroup" }, this.head, this.sum), this.scroller);
    this.scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.space.addEventListener("click", (event) => { const entry = this.entryOf(event); if (entry) this.source.click(entry.index, event); });
    this.space.addEventListener("mouseover", (event) => this.hint(event));
    new ResizeObserver(() => { this.measure(); this.reset(); }).observe(this.scroller);
  }

  private measure(): void { this.size = { width: this.scroller.clientWidth, height: this.scroller.clientHeight }; }
  get width(): number { return this.size.width; }
  get viewHeight(): number { return this.size.height; }

  /** The columns or the rows changed. */
  reset(): void {
    if (this.size.height === 0) this.measure();
    this.columns = this.source.columns();
    const fixed = this.columns.reduce((sum, column) => sum + column.width, 0);
    const flexible = this.columns.filter((column) => column.width === 0).length;
    const left = Math.max((this.size.width - fixed) / Math.max(flexible, 1), 60);
    this.widths = this.columns.map((column) => column.width || left);
    const shape = this.columns.map((column, i) => `${column.key} ${column.class} ${this.widths[i]} ${column.title}`).join("|");
    if (shape !== this.shape) this.rebuild(shape);
    const cells = this.columns.map((_, i) => this.cell(i));
    const has = this.source.fillSum?.(cells) ?? false;
    this.sum.replaceChildren(...cells.map((cell) => cell.element));
    this.sum.style.display = has ? "" : "none";
    this.element.setAttribute("aria-rowcount", String(this.source.count()));
    for (const entry of this.pool) entry.index = -1;
    this.paint();
  }

  private rebuild(shape: string): void {
    this.shape = shape;
    clear(this.head);
    this.columns.forEach((column, i) => {
      const cell = h("div", { class: `td ${column.class ?? ""}`, role: "columnheader" }, column.sort ? h("button", { onclick: column.sort }, column.title) : column.title);
      cell.style.width = `${this.widths[i]}px`;
      this.head.append(cell);
    });
    for (const { row } of this.pool) row.remove();
    this.pool = [];
  }

  private cell(i: number): Cell { return new Cell("gridcell", this.columns[i]!.class ?? "", this.widths[i]!); }

  private get height(): number { return this.source.count() * kRow; }
  private get scale(): number { return this.height > kMostHeight ? this.height / kMostHeight : 1; }
  get firstVisible(): number { return Math.floor((this.top * this.scale) / kRow); }
  get visibleCount(): number { return Math.ceil(this.size.height / kRow); }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => { this.frame = 0; this.paint(); });
  }

  /** Fills the rows in view. */
  paint(): void {
    const count = this.source.count();
    const top = (this.top = this.scroller.scrollTop);
    const scale = this.scale;
    const height = `${Math.min(this.height, kMostHeight)}px`;
    if (this.space.style.height !== height) this.space.style.height = height;
    const first = Math.max(Math.floor((top * scale) / kRow) - 2, 0);
    const last = Math.min(first + this.visibleCount + 5, count);
    const shown = new Map<number, Entry>();
    const free: Entry[] = [];
    for (const entry of this.pool) if (entry.index >= first && entry.index < last) shown.set(entry.index, entry); else free.push(entry);
    for (let index = first; index < last; ++index) {
      let entry = shown.get(index);
      if (!entry) {
        entry = free.pop() ?? this.newEntry();
        entry.index = index;
        this.fill(entry);
      }
      this.place(entry, scale === 1 ? index * kRow : top + (index * kRow - top * scale));
    }
    for (const entry of free) { this.place(entry, -100); entry.index = -1; }
    this.source.painted?.(first, last, top);
  }

  private place(entry: Entry, y: number): void {
    if (entry.y === y) return;
    entry.y = y;
    entry.row.style.transform = `translateY(${y}px)`;
  }

  private newEntry(): Entry {
    const cells = this.columns.map((_, i) => this.cell(i));
    const row = h("div", { class: "tr", role: "row" }, ...cells.map((cell) => cell.element));
    const entry = { row, cells, index: -1, y: NaN };
    this.pool.push(entry);
    this.space.append(row);
    return entry;
  }

  private fill(entry: Entry): void {
    const { row, index } = entry;
    row.className = "tr";
    row.setAttribute("aria-rowindex", String(index + 1));
    const level = this.source.level?.(index);
    if (level !== undefined) row.setAttribute("aria-level", String(level + 1));
    const expanded = this.source.expanded?.(index);
    if (expanded === undefined) row.removeAttribute("aria-expanded");
    else row.setAttribute("aria-expanded", String(expanded));
    this.source.fill(index, row, entry.cells);
    this.markEntry(entry);
  }
  private markEntry({ row, index }: Entry): void {
    const selected = index === this.selected && index >= 0;
    row.classList.toggle("selected", selected);
    row.setAttribute("aria-selected", String(selected));
  }

  private entryOf(event: MouseEvent): Entry | undefined {
    const row = (event.target as Element).closest(".tr");
    return row ? this.pool.find((entry) => entry.row === row && entry.index >= 0) : undefined;
  }
  private hint(event: MouseEvent): void {
    const entry = this.entryOf(event);
    const cell = (event.target as Element).closest<HTMLElement>(".td");
    if (!entry || !cell || !this.source.hint) return;
    const at = entry.cells.findIndex((each) => each.element === cell);
    if (at >= 0) cell.title = this.source.hint(entry.index, this.columns[at]!.key);
  }

  /** Marks a row; and shows it, if asked. */
  mark(index: number, show: boolean): void {
    this.selected = index;
    for (const entry of this.pool) this.markEntry(entry);
    if (!show || index < 0) return;
    const y = (index * kRow) / this.scale;
    const top = this.scroller.scrollTop;
    if (y < top || y + kRow > top + this.size.height) this.scroller.scrollTop = Math.max(y - this.size.height / 3, 0);
    this.paint();
  }
}
