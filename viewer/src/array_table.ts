// A read-only table of text and numbers: the accessible alternative to a picture, with its exact values.
import { type Cell, formatExact } from "./cells";
import { displayText } from "./dom";
import { type Column, type TableSource, VirtualTable } from "./table";

export class ArrayTable implements TableSource {
  readonly table = new VirtualTable(this, "as table");
  private rows: (string | number)[][] = [[]];

  show(rows: (string | number)[][]): void {
    this.rows = rows;
    this.table.reset();
  }
  get header(): string[] { return (this.rows[0] ?? []).map(String); }

  columns(): Column[] {
    const numeric = this.header.map((_, i) => this.rows.length > 1 && typeof this.rows[1]![i] === "number");
    const textColumns = numeric.filter((each) => !each).length;
    const textWidth = (this.table.width - 110 * (numeric.length - textColumns)) / Math.max(textColumns, 1);
    return this.header.map((title, i) => ({ key: String(i), title: displayText(title, 40), width: numeric[i] ? 110 : Math.max(Math.floor(textWidth) - 4, 120), class: numeric[i] ? "num" : "mono" }));
  }
  count(): number { return this.rows.length - 1; }
  fill(index: number, _row: HTMLElement, cells: Cell[]): void {
    this.rows[index + 1]!.forEach((value, i) => cells[i]?.setText(typeof value === "number" ? formatValue(value) : displayText(value, 120)));
  }
  tooltip(index: number, key: string): string {
    const value = this.rows[index + 1]![Number(key)]!;
    return typeof value === "number" ? formatExact(value) : displayText(value, 400);
  }
  click(): void { /* rows cannot be selected */ }
}

function formatValue(value: number): string {
  return Number.isInteger(value) || Math.abs(value) >= 1e6 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(4);
}
