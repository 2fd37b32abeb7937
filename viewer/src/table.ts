// A table of any number of rows: only those in view are in the document, and they are reused.
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
  fill(index: number, row: HTMLElement, cells: HTMLElement[]): void;
  /** The totals, above the rows; none if it returns false. */
  fillSum?(cells: HTMLElement[]): boolean;
  click(index: number, event: MouseEvent): void;
  level?(index: number): number;
  expanded?(index: number): boolean | undefined;
  painted?(first: number, last: number, top: number): void;
}

const kRow = 20;
// Browsers do not scroll further than this; longer tables scroll faster.
const kMostHeight = 10_000_000;

export class VirtualTable {
  readonly element: HTMLElement;
  readonly scroller: HTMLElement;
  private readonly head: HTMLElement;
  private readonly sum: HTMLElement;
  private readonly space: HTMLElement;
  private pool: { row: HTMLElement; cells: HTMLElement[]; index: number }[] = [];
  private columns: Column[] = [];
  private selected = -1;
  private frame = 0;

  constructor(private readonly source: TableSource, label: string) {
    this.head = h("div", { class: "thead", role: "row" });
    this.sum = h("div", { class: "tsum", role: "row" });
    this.space = h("div");
    this.scroller = h("div", { class: "scroller", tabindex: 0, role: "rowgroup", "aria-label": label }, this.space);
    this.element = h("div", { class: "table", role: "treegrid", "aria-label": label }, this.head, this.sum, this.scroller);
    this.scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.reset()).observe(this.scroller);
  }

  /** The columns or the rows changed. */
  reset(): void {
    this.columns = this.source.columns();
    const fixed = this.columns.reduce((sum, column) => sum + column.width, 0);
    const flexible = this.columns.filter((column) => column.width === 0).length;
    const left = Math.max((this.scroller.clientWidth - fixed) / Math.max(flexible, 1), 60);
    this.widths = this.columns.map((column) => column.width || left);
    clear(this.head);
    this.columns.forEach((column, i) => {
      const cell = h("div", { class: `td ${column.class ?? ""}`, role: column.sort ? "button" : "columnheader", tabindex: column.sort ? 0 : undefined, onclick: column.sort }, column.title);
      cell.style.width = `${this.widths[i]}px`;
      this.head.append(cell);
    });
    clear(this.sum);
    const cells = this.columns.map((_, i) => this.cell(i));
    const has = this.source.fillSum?.(cells) ?? false;
    this.sum.append(...cells);
    this.sum.hidden = !has;
    this.sum.style.display = has ? "" : "none";
    for (const { row } of this.pool) row.remove();
    this.pool = [];
    this.element.setAttribute("aria-rowcount", String(this.source.count()));
    this.paint();
  }
  private widths: number[] = [];

  private cell(i: number): HTMLElement {
    const cell = h("div", { class: `td ${this.columns[i]!.class ?? ""}`, role: "gridcell" });
    cell.style.width = `${this.widths[i]}px`;
    return cell;
  }

  private get height(): number { return this.source.count() * kRow; }
  private get scale(): number { return this.height > kMostHeight ? this.height / kMostHeight : 1; }
  get firstVisible(): number { return Math.floor((this.scroller.scrollTop * this.scale) / kRow); }
  get visibleCount(): number { return Math.ceil(this.scroller.clientHeight / kRow); }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => { this.frame = 0; this.paint(); });
  }

  /** Fills the rows in view. */
  paint(): void {
    const count = this.source.count();
    this.space.style.height = `${Math.min(this.height, kMostHeight)}px`;
    const top = this.scroller.scrollTop;
    const first = Math.max(Math.floor((top * this.scale) / kRow) - 2, 0);
    const last = Math.min(first + this.visibleCount + 5, count);
    const free = this.pool.filter((each) => each.index < first || each.index >= last);
    const shown = new Map(this.pool.filter((each) => each.index >= first && each.index < last).map((each) => [each.index, each]));
    for (let index = first; index < last; ++index) {
      let entry = shown.get(index);
      if (!entry) {
        entry = free.pop() ?? this.newEntry();
        entry.index = index;
        this.fill(entry);
      }
      const y = this.scale === 1 ? index * kRow : top + (index * kRow - top * this.scale);
      entry.row.style.transform = `translateY(${y}px)`;
    }
    for (const entry of free) { entry.row.style.transform = "translateY(-100px)"; entry.index = -1; }
    this.source.painted?.(first, last, top);
  }

  private newEntry(): { row: HTMLElement; cells: HTMLElement[]; index: number } {
    const cells = this.columns.map((_, i) => this.cell(i));
    const row = h("div", { class: "tr", role: "row" }, ...cells);
    const entry = { row, cells, index: -1 };
    row.addEventListener("click", (event) => this.source.click(entry.index, event));
    this.pool.push(entry);
    this.space.append(row);
    return entry;
  }

  private fill(entry: { row: HTMLElement; cells: HTMLElement[]; index: number }): void {
    entry.row.className = "tr";
    entry.row.setAttribute("aria-rowindex", String(entry.index + 1));
    const level = this.source.level?.(entry.index);
    if (level !== undefined) entry.row.setAttribute("aria-level", String(level + 1));
    const expanded = this.source.expanded?.(entry.index);
    if (expanded === undefined) entry.row.removeAttribute("aria-expanded");
    else entry.row.setAttribute("aria-expanded", String(expanded));
    this.source.fill(entry.index, entry.row, entry.cells);
    entry.row.classList.toggle("selected", entry.index === this.selected);
    entry.row.setAttribute("aria-selected", String(entry.index === this.selected));
  }

  /** Marks a row; and shows it, if asked. */
  mark(index: number, show: boolean): void {
    this.selected = index;
    for (const entry of this.pool) {
      entry.row.classList.toggle("selected", entry.index === index && index >= 0);
      entry.row.setAttribute("aria-selected", String(entry.index === index && index >= 0));
    }
    if (!show || index < 0) return;
    const y = (index * kRow) / this.scale;
    const page = this.scroller.clientHeight;
    if (y < this.scroller.scrollTop || y + kRow > this.scroller.scrollTop + page) this.scroller.scrollTop = Math.max(y - page / 3, 0);
    this.paint();
  }
}

/** A number with its bar: `share` of the largest, of the colour of its kind. */
export function fillNumber(cell: HTMLElement, text: string, exact: number | string, share: number, kind: number): void {
  clear(cell);
  if (text === "") return;
  if (share > 0) {
    const bar = h("i", { class: `bar k${kind}` });
    bar.style.width = `${(100 * Math.min(share, 1)).toFixed(2)}%`;
    cell.append(bar);
  }
  cell.append(h("span", { class: "val" }, text));
  cell.title = typeof exact === "number" ? exact.toLocaleString("en-US", { maximumFractionDigits: 12 }) : exact;
}
