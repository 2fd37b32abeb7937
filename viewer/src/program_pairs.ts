// Program for two modules: matched rows of A and B share a line, with both values and their difference.
import { type Cell, formatExact } from "./cells";
import { displayText } from "./dom";
import { formatSigned } from "./format";
import { Kind } from "./instructions";
import type { Model } from "./model";
import { type LineOptions, ProgramLines, type RowMetric, rowMetrics } from "./program_lines";
import { baseName, formatMetric, kIndent, metricTitles, rowMarks } from "./program_table";
import { RowKind } from "./rows";
import { type Column, type TableSource, VirtualTable } from "./table";
import type { Page } from "./view";

const kNoMatch = 0xffffffff;

/** A line: a row of A, a row of B, or a matched pair; -1: no row on that side. */
export interface RowPair { a: number; b: number }

/** For each row of A, the row of B that contains most of its matched instructions; -1: none. */
function matchRows(a: Model, b: Model, bOf: Uint32Array): Int32Array {
  const out = new Int32Array(a.rows.count).fill(-1);
  const votes: Map<number, number>[] = Array.from({ length: a.rows.count }, () => new Map<number, number>());
  for (let row = a.rows.count - 1; row >= 0; --row) {
    const rowVotes = votes[row]!;
    for (let member = a.rows.memberStart(row); member < a.rows.memberEnd[row]!; ++member) {
      const other = bOf[a.rows.members[member]!]!;
      const candidate = other === kNoMatch ? -1 : b.rows.rowOfInstr[other]!;
      if (candidate >= 0) rowVotes.set(candidate, (rowVotes.get(candidate) ?? 0) + 1);
    }
    let maxVotes = 0;
    for (const [candidate, count] of rowVotes) if (count > maxVotes) { maxVotes = count; out[row] = candidate; }
    const parent = a.rows.parent[row]!;
    const partnerParent = out[row]! >= 0 ? b.rows.parent[out[row]!]! : -1;
    if (parent >= 0 && partnerParent >= 0 && a.rows.memberCount(parent) === 0) votes[parent]!.set(partnerParent, (votes[parent]!.get(partnerParent) ?? 0) + 1);
  }
  return out;
}

export class ProgramPairs implements TableSource {
  readonly table = new VirtualTable(this, "both programs");
  lines: RowPair[] = [];
  depths: number[] = [];
  version = 0;
  private readonly sides: [ProgramLines, ProgramLines];
  private readonly partner: Int32Array;
  private readonly marks: [Uint8Array, Uint8Array];
  private readonly open = new Set<string>();
  private keys: string[] = [];
  private maxValue = 1;

  constructor(private readonly page: Page, bOf: Uint32Array, private readonly actions: { select(line: number): void; toggle(line: number, recursive: boolean): void }) {
    const [a, b] = [page.models[0]!, page.models[1]!];
    this.sides = [new ProgramLines(a, undefined), new ProgramLines(b, undefined)];
    this.partner = matchRows(a, b, bOf);
    this.marks = [rowMarks(a), rowMarks(b)];
    for (const row of this.sides[0].open) this.open.add(`a${row}`);
    for (const row of this.sides[1].open) this.open.add(`b${row}`);
  }

  private get metric(): RowMetric {
    const setting = this.page.settings.get("of") as RowMetric | undefined;
    return setting && rowMetrics.includes(setting) ? setting : this.page.models[0]!.hasTime ? "seconds" : "bytes";
  }
  private key(pair: RowPair): string { return pair.a >= 0 ? `a${pair.a}` : `b${pair.b}`; }
  private children(side: 0 | 1, row: number, visible: Uint8Array): number[] {
    const { rows } = this.page.models[side]!;
    const out: number[] = [];
    for (let child = row + 1; child < (row < 0 ? rows.count : rows.end[row]!); child = rows.end[child]!) if (visible[child]) out.push(child);
    return out;
  }

  /** The children of both rows in A's order; unmatched rows of B are inserted at their position in B. */
  private mergeChildren(pair: RowPair, visible: [Uint8Array, Uint8Array]): RowPair[] {
    const inA = pair.a === -1 && pair.b >= 0 ? [] : this.children(0, pair.a, visible[0]);
    const inB = pair.b === -1 && pair.a >= 0 ? [] : this.children(1, pair.b, visible[1]);
    const indexInB = new Map(inB.map((row, i) => [row, i]));
    const partnerOf = new Map<number, number>();
    const matched = new Set<number>();
    for (const row of inA) { const other = this.partner[row]!; if (indexInB.has(other) && !matched.has(other)) { partnerOf.set(row, other); matched.add(other); } }
    const out: RowPair[] = [];
    let next = 0;
    const addUnmatched = (end: number) => { for (; next < end; ++next) if (!matched.has(inB[next]!)) out.push({ a: -1, b: inB[next]! }); };
    for (const row of inA) {
      const other = partnerOf.get(row) ?? -1;
      if (other >= 0) addUnmatched(indexInB.get(other)!);
      out.push({ a: row, b: other });
    }
    addUnmatched(inB.length);
    return out;
  }

  flatten(options: LineOptions, hits: (Uint8Array | null)[]): void {
    ++this.version;
    const visible = this.sides.map((side, i) => side.visibleRowsFor({ ...options, hits: hits[i] ?? null })) as [Uint8Array, Uint8Array];
    this.lines = []; this.depths = [];
    const isSearch = hits.some((each) => each !== null);
    const pending: { pair: RowPair; depth: number }[] = [];
    const push = (pair: RowPair, depth: number) => {
      const children = this.mergeChildren(pair, visible);
      if (options.heaviestFirst) children.sort((x, y) => Math.abs(this.change(y)) - Math.abs(this.change(x)));
      for (const each of children.reverse()) pending.push({ pair: each, depth });
    };
    push({ a: -1, b: -1 }, 0);
    while (pending.length > 0) {
      const { pair, depth } = pending.pop()!;
      this.lines.push(pair);
      this.depths.push(depth);
      if (this.hasChildren(pair) && (isSearch || this.open.has(this.key(pair)))) push(pair, depth + 1);
    }
    this.maxValue = this.lines.reduce((max, pair) => (this.hasChildren(pair) ? max : Math.max(max, this.value(0, pair.a), this.value(1, pair.b))), 1e-300);
  }

  private hasChildren(pair: RowPair): boolean {
    const isParent = (side: 0 | 1, row: number) => row >= 0 && this.page.models[side]!.rows.end[row]! > row + 1;
    return isParent(0, pair.a) || isParent(1, pair.b);
  }
  value(side: 0 | 1, row: number): number { return row < 0 ? 0 : this.sides[side].sums[this.metric][row]!; }
  change(pair: RowPair): number { return this.value(1, pair.b) - this.value(0, pair.a); }
  /** The module and row that a line selects: the row of A, or of B if the line has no row of A. */
  target(line: number): { module: 0 | 1; row: number } {
    const pair = this.lines[line]!;
    return pair.a >= 0 ? { module: 0, row: pair.a } : { module: 1, row: pair.b };
  }
  lineOf(module: number, row: number): number { return this.lines.findIndex((pair) => (module === 0 ? pair.a : pair.b) === row); }
  canOpen(line: number): boolean { return this.hasChildren(this.lines[line]!); }
  isOpen(line: number): boolean { return this.open.has(this.key(this.lines[line]!)); }
  toggle(line: number, expand?: boolean): void {
    const key = this.key(this.lines[line]!);
    if (expand ?? !this.open.has(key)) this.open.add(key); else this.open.delete(key);
  }
  mark(pair: RowPair): string {
    if (pair.a < 0) return "+";
    if (pair.b < 0) return "−";
    return this.marks[0][pair.a] || this.marks[1][pair.b] ? "~" : "=";
  }

  // ---- the table
  columns(): Column[] {
    const title = metricTitles[this.metric];
    const isWide = this.table.width > 860;
    const columns: Column[] = [
      { key: "label", title: "op", width: isWide ? 300 : 0, class: "label" }, ...(isWide ? [{ key: "type", title: "type", width: 0, class: "mono" }] : []),
      { key: "a", title: `A: ${title}`, width: 104, class: "num" }, { key: "b", title: `B: ${title}`, width: 104, class: "num" },
      { key: "change", title: "B − A", width: 92, class: "num" }, { key: "source", title: "source", width: isWide ? 128 : 84, class: "elide-left" }];
    this.keys = columns.map((column) => column.key);
    return columns;
  }
  count(): number { return this.lines.length; }
  level(line: number): number { return this.depths[line]!; }
  expanded(line: number): boolean | undefined { return this.canOpen(line) ? this.isOpen(line) : undefined; }

  fillTotals(cells: Cell[]): boolean {
    const totals = this.page.models.map((model, side) => { let sum = 0; for (let row = 0; row < model.rows.count; row = model.rows.end[row]!) sum += this.value(side as 0 | 1, row); return sum; });
    const texts: { [key: string]: string } = { label: "per step", a: formatMetric(this.metric, totals[0]!), b: formatMetric(this.metric, totals[1]!), change: this.formatChange(totals[1]! - totals[0]!) };
    this.keys.forEach((key, i) => { cells[i]!.setText(texts[key] ?? ""); if (key === "label") cells[i]!.element.style.paddingLeft = "45px"; });
    return true;
  }
  private formatChange(value: number): string {
    return value === 0 ? "" : formatSigned(value, formatMetric(this.metric, Math.abs(value)));
  }

  fill(line: number, tr: HTMLElement, cells: Cell[]): void {
    const pair = this.lines[line]!;
    const { module, row } = this.target(line);
    const model = this.page.models[module]!;
    const id = model.rows.first(row);
    const kind = model.rows.kind[row]!;
    const workKind = kind === RowKind.Minor ? Kind.Elementwise : kind === RowKind.NoWork ? Kind.None : id < 0 ? Kind.Control : model.instr.kind[id]!;
    const open = this.canOpen(line) && this.isOpen(line);
    tr.classList.toggle("bold", open && kind !== RowKind.Minor && kind !== RowKind.NoWork);
    tr.classList.toggle("pale", kind === RowKind.NoWork || kind === RowKind.Done);
    const [label, detail] = this.sides[module].labelOf(row, -1);
    const types = [[0, pair.a], [1, pair.b]].filter(([, sideRow]) => sideRow! >= 0).map(([side, sideRow]) => { const first = this.page.models[side!]!.rows.first(sideRow!); return first < 0 ? "" : this.page.models[side!]!.type(first); });
    const bar = (side: 0 | 1, row: number) => (open ? 0 : this.value(side, row) / this.maxValue);
    const color = workKind === Kind.None || workKind === Kind.Control ? Kind.DataMovement : workKind;
    for (let i = 0; i < this.keys.length; ++i) {
      const cell = cells[i]!;
      switch (this.keys[i]) {
        case "label": cell.setLabel({ indent: 6 + kIndent * Math.min(this.depths[line]!, 12), mark: this.mark(pair), fold: this.canOpen(line) ? (open ? "▾" : "▸") : "", foldOnHover: false, kind: workKind, label, detail }); break;
        case "type": cell.setText(displayText([...new Set(types)].join(" → "), 120)); break;
        case "a": cell.setNumber(pair.a < 0 ? "" : hideZero(formatMetric(this.metric, this.value(0, pair.a))), bar(0, pair.a), color); break;
        case "b": cell.setNumber(pair.b < 0 ? "" : hideZero(formatMetric(this.metric, this.value(1, pair.b))), bar(1, pair.b), color); break;
        case "change": { const change = this.change(pair); cell.setNumber(this.formatChange(change), open ? 0 : Math.abs(change) / this.maxValue, change > 0 ? Kind.Collective : Kind.Matmul); break; }
        default: cell.setText(id < 0 ? "" : displayText(baseName(model.source(id))));
      }
    }
  }
  tooltip(line: number, key: string): string {
    const pair = this.lines[line]!;
    if (key === "a") return formatExact(this.value(0, pair.a));
    if (key === "b") return formatExact(this.value(1, pair.b));
    return key === "change" ? formatExact(this.change(pair)) : "";
  }
  click(line: number, event: MouseEvent): void {
    if ((event.target as HTMLElement).classList.contains("fold")) this.actions.toggle(line, event.shiftKey);
    else this.actions.select(line);
  }

  csv(): (string | number)[][] {
    const name = (side: 0 | 1, row: number) => { const id = row < 0 ? -1 : this.page.models[side]!.rows.first(row); return id < 0 ? "" : this.page.models[side]!.name(id); };
    return [["level", "mark", "label", "a", "b", `a_${this.metric}`, `b_${this.metric}`, "change"], ...this.lines.map((pair, line): (string | number)[] => {
      const { module, row } = this.target(line);
      return [this.depths[line]!, { "=": "unchanged", "~": "changed", "+": "only B", "−": "only A" }[this.mark(pair)]!, this.sides[module].labelOf(row, -1).join(" ").trim(), name(0, pair.a), name(1, pair.b), this.value(0, pair.a), this.value(1, pair.b), this.change(pair)];
    })];
  }
}

const hideZero = (text: string) => (/^0( |$)/.test(text) ? "" : text);
