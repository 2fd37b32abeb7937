// Rows of words and numbers as a table: what a picture shows, for who cannot see it or wants the figures.
import { type Cell, exact } from "./cells";
import { visible } from "./dom";
import { type Column, type TableSource, VirtualTable } from "./table";

export class ArrayTable implements TableSource {
  readonly table = new VirtualTable(this, "as table");
  private rows: (string | number)[][] = [[]];

  show(rows: (string | number)[][]): void {
    this.rows = rows;
    this.table.reset();
  }
  get title(): string[] { return (this.rows[0] ?? []).map(String); }

  columns(): Column[] {
    const numeric = this.title.map((_, i) => this.rows.length > 1 && typeof this.rows[1]![i] === "number");
    const words = numeric.filter((each) => !each).length;
    const room = (this.table.width - 110 * (numeric.length - words)) / Math.max(words, 1);
    return this.title.map((title, i) => ({ key: String(i), title: visible(title, 40), width: numeric[i] ? 110 : Math.max(Math.floor(room) - 4, 120), class: numeric[i] ? "num" : "mono" }));
  }
  count(): number { return this.rows.length - 1; }
  fill(index: number, _row: HTMLElement, cells: Cell[]): void {
    this.rows[index + 1]!.forEach((value, i) => cells[i]?.text(typeof value === "number" ? shown(value) : visible(value, 120)));
  }
  hint(index: number, key: string): string {
    const value = this.rows[index + 1]![Number(key)]!;
    return typeof value === "number" ? exact(value) : visible(value, 400);
  }
  click(): void { /* rows are only read */ }
}

function shown(value: number): string {
  return Number.isInteger(value) || Math.abs(value) >= 1e6 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(4);
}
