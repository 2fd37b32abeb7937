// A virtual table: only the visible rows are in the document, and their elements are reused while scrolling.
import { Cell } from "./cells";
import { clear, h } from "./dom";

export interface Column {
  key: string;
  title: string;
  width: number;       // px; 0: shares the remaining width
  class?: string;
  sort?: () => void;
}

export interface TableSource {
  columns(): Column[];
  count(): number;
  /** Fills the cells of a row that became visible or changed. */
  fill(index: number, row: HTMLElement, cells: Cell[]): void;
  /** Fills the row of totals above the table; returns false if there is none. */
  fillTotals?(cells: Cell[]): boolean;
  click(index: number, event: MouseEvent): void;
  level?(index: number): number;
  expanded?(index: number): boolean | undefined;
  /** The tooltip of a cell. */
  tooltip?(index: number, key: string): string;
  onPaint?(first: number, last: number, top: number): void;
}

interface Entry { row: HTMLElement; cells: Cell[]; index: number; y: number }

const kRow = 20;
// Browsers limit the height of an element. In a taller table, scrolling by one pixel moves the rows by more than one.
const kMaxHeight = 10_000_000;

export class VirtualTable {
  readonly element: HTMLElement;
  readonly scroller: HTMLElement;
  /** The scrolled content, as high as all rows. */
  readonly spacer: HTMLElement;
  private readonly head: HTMLElement;
  private readonly totalsRow: HTMLElement;
  private pool: Entry[] = [];
  private columns: Column[] = [];
  private widths: number[] = [];
  private shape = "";
  private selected = -1;
  private frame = 0;
  // Cached until the next resize: reading sizes during a frame forces a layout.
  private size = { width: 0, height: 0 };
  private top = 0;

  private static readonly all: VirtualTable[] = [];
  /** Adapts all tables to their current sizes without waiting for the browser's notification. */
  static resizeAll(): void { for (const table of this.all) if (table.element.isConnected) { table.measure(); table.reset(); } }

  constructor(private readonly source: TableSource, label: string) {
    VirtualTable.all.push(this);
    this.head = h("div", { class: "thead", role: "row" });
    this.totalsRow = h("div", { class: "tsum", role: "row" });
    this.spacer = h("div", { class: "space", role: "presentation" });
    this.scroller = h("div", { class: "scroller", tabindex: 0, role: "rowgroup", "aria-label": label }, this.spacer);
    this.element = h("div", { class: "table", role: "treegrid", "aria-label": label }, h("div", { role: "rowgroup" }, this.head, this.totalsRow), this.scroller);
    this.scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.spacer.addEventListener("click", (event) => { const entry = this.entryOf(event); if (entry) this.source.click(entry.index, event); });
    this.spacer.addEventListener("mouseover", (event) => this.showTooltip(event));
    new ResizeObserver(() => { this.measure(); this.reset(); }).observe(this.scroller);
  }

  private measure(): void { this.size = { width: this.scroller.clientWidth, height: this.scroller.clientHeight }; }
  get width(): number { return this.size.width; }
  get viewHeight(): number { return this.size.height; }

  /** Call this when the columns or the rows have changed. */
  reset(): void {
    if (this.size.height === 0) this.measure();
    this.columns = this.source.columns();
    const fixedWidth = this.columns.reduce((sum, column) => sum + column.width, 0);
    const flexibleCount = this.columns.filter((column) => column.width === 0).length;
    const flexibleWidth = Math.max((this.size.width - fixedWidth) / Math.max(flexibleCount, 1), 60);
    this.widths = this.columns.map((column) => column.width || flexibleWidth);
    const shape = this.columns.map((column, i) => `${column.key} ${column.class} ${this.widths[i]} ${column.title}`).join("|");
    if (shape !== this.shape) this.rebuild(shape);
    const cells = this.columns.map((_, i) => this.cell(i));
    const hasTotals = this.source.fillTotals?.(cells) ?? false;
    this.totalsRow.replaceChildren(...cells.map((cell) => cell.element));
    this.totalsRow.style.display = hasTotals ? "" : "none";
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
  private get scale(): number { return this.height > kMaxHeight ? this.height / kMaxHeight : 1; }
  get firstVisible(): number { return Math.floor((this.top * this.scale) / kRow); }
  get visibleCount(): number { return Math.ceil(this.size.height / kRow); }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => { this.frame = 0; this.paint(); });
  }

  /** Draws the visible rows. */
  paint(): void {
    const count = this.source.count();
    const top = (this.top = this.scroller.scrollTop);
    const scale = this.scale;
    const height = `${Math.min(this.height, kMaxHeight)}px`;
    if (this.spacer.style.height !== height) this.spacer.style.height = height;
    const first = Math.max(Math.floor((top * scale) / kRow) - 2, 0);
    const last = Math.min(first + this.visibleCount + 5, count);
    const entriesByIndex = new Map<number, Entry>();
    const freeEntries: Entry[] = [];
    for (const entry of this.pool) if (entry.index >= first && entry.index < last) entriesByIndex.set(entry.index, entry); else freeEntries.push(entry);
    for (let index = first; index < last; ++index) {
      let entry = entriesByIndex.get(index);
      if (!entry) {
        entry = freeEntries.pop() ?? this.newEntry();
        entry.index = index;
        this.fill(entry);
      }
      this.moveTo(entry, scale === 1 ? index * kRow : top + (index * kRow - top * scale));
    }
    for (const entry of freeEntries) { this.moveTo(entry, -100); entry.index = -1; }
    this.source.onPaint?.(first, last, top);
  }

  private moveTo(entry: Entry, y: number): void {
    if (entry.y === y) return;
    entry.y = y;
    entry.row.style.transform = `translateY(${y}px)`;
  }

  private newEntry(): Entry {
    const cells = this.columns.map((_, i) => this.cell(i));
    const row = h("div", { class: "tr", role: "row" }, ...cells.map((cell) => cell.element));
    const entry = { row, cells, index: -1, y: NaN };
    this.pool.push(entry);
    this.spacer.append(row);
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
    this.updateSelection(entry);
  }
  private updateSelection({ row, index }: Entry): void {
    const selected = index === this.selected && index >= 0;
    row.classList.toggle("selected", selected);
    row.setAttribute("aria-selected", String(selected));
  }

  private entryOf(event: MouseEvent): Entry | undefined {
    const row = (event.target as Element).closest(".tr");
    return row ? this.pool.find((entry) => entry.row === row && entry.index >= 0) : undefined;
  }
  private showTooltip(event: MouseEvent): void {
    const entry = this.entryOf(event);
    const cell = (event.target as Element).closest<HTMLElement>(".td");
    if (!entry || !cell || !this.source.tooltip) return;
    const cellIndex = entry.cells.findIndex((each) => each.element === cell);
    if (cellIndex >= 0) cell.title = this.source.tooltip(entry.index, this.columns[cellIndex]!.key);
  }

  /** Selects a row and, if `reveal`, scrolls to it. */
  setSelected(index: number, reveal: boolean): void {
    this.selected = index;
    for (const entry of this.pool) this.updateSelection(entry);
    if (!reveal || index < 0) return;
    const y = (index * kRow) / this.scale;
    const top = this.scroller.scrollTop;
    if (y < top || y + kRow > top + this.size.height) this.scroller.scrollTop = Math.max(y - this.size.height / 3, 0);
    this.paint();
  }
}
