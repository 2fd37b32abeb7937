// Program for one module: a table of labels, metrics with bars, scope and source, with brackets from start to done.
import { type Cell, formatExact } from "./cells";
import { displayText, h } from "./dom";
import { formatBytes, formatCount, formatSeconds, formatSi } from "./format";
import { Kind } from "./instructions";
import type { Collectives, Model } from "./model";
import { hasMetric, type ProgramLines, type RowMetric, rowMetrics } from "./program_lines";
import { RowKind } from "./rows";
import { type Column, type TableSource, VirtualTable } from "./table";
import { kindColors, type Page } from "./view";

export const kIndent = 15;
const kMaxBracketLines = 200;  // longer brackets are not drawn

export function formatMetric(metric: RowMetric, value: number): string {
  return metric === "flops" ? formatSi(value) : metric === "seconds" || metric === "measured" ? formatSeconds(value) : formatBytes(value);
}
export const metricTitles: { [metric in RowMetric]: string } = { flops: "flops", bytes: "memory", wire: "wire", seconds: "time *", measured: "measured" };

/** "a/b/layers.py:74" → "layers.py:74" */
export function baseName(path: string): string { return path.slice(path.lastIndexOf("/") + 1); }

/** The scope without the prefix that it shares with the scope of the parent row. */
export function relativeScope(scope: string, parentScope: string): string {
  let commonEnd = 0;
  for (let i = 0; i < scope.length && scope[i] === parentScope[i]; ++i) if (scope[i] === "/") commonEnd = i;
  const suffix = parentScope !== "" && scope.startsWith(parentScope + "/") ? scope.slice(parentScope.length + 1) : commonEnd > 0 ? scope.slice(commonEnd + 1) : scope;
  return displayText(suffix === scope || suffix === "" ? scope : `…/${suffix}`, 300);
}

/** With two modules, the diff mark of each row: 0 entirely unchanged, 1 partly changed, 2 entirely unmatched. */
export function rowMarks(model: Model): Uint8Array {
  const { rows } = model;
  const out = new Uint8Array(model.marks ? rows.count : 0);
  if (!model.marks) return out;
  const unchanged = new Uint32Array(rows.count), changed = new Uint32Array(rows.count), unmatched = new Uint32Array(rows.count);
  // Fused instructions and those of called computations count towards the row of the op that contains them.
  for (let id = 0; id < model.instr.count; ++id) {
    const row = model.rowOf(id);
    if (row >= 0) ++[unchanged, changed, unmatched][model.marks[id]!]![row]!;
  }
  for (let row = rows.count - 1; row >= 0; --row) {
    out[row] = changed[row] === 0 && unmatched[row] === 0 ? 0 : unchanged[row] === 0 && changed[row] === 0 ? 2 : 1;
    const parent = rows.parent[row]!;
    if (parent >= 0) { unchanged[parent]! += unchanged[row]!; changed[parent]! += changed[row]!; unmatched[parent]! += unmatched[row]!; }
  }
  return out;
}

export class ProgramTable implements TableSource {
  readonly table = new VirtualTable(this, "program");
  lines!: ProgramLines;
  private keys: string[] = [];
  private readonly gutter = h("canvas", { class: "gutter", "aria-hidden": "true" });
  private readonly doneOf = new Map<number, number>();
  private marks: Uint8Array = new Uint8Array();
  private hasScope = false;
  private hasSource = false;
  private totals: { [metric in RowMetric]: number } = { flops: 0, bytes: 0, wire: 0, seconds: 0, measured: 0 };

  constructor(private readonly page: Page, private readonly actions: { select(line: number): void; toggle(line: number, recursive: boolean): void; onScroll(): void }) {
    this.table.scroller.append(this.gutter);
  }

  show(lines: ProgramLines, collectives: Collectives): void {
    this.lines = lines;
    this.doneOf.clear();
    for (let i = 0; i < collectives.count; ++i) if (collectives.start[i] !== collectives.done[i]) this.doneOf.set(collectives.start[i]!, collectives.done[i]!);
    const { instr } = lines.model;
    this.marks = rowMarks(lines.model);
    this.hasScope = instr.scope.some((each) => each !== 0);
    this.hasSource = instr.source.some((each) => each !== 0);
    const sum = (values: Float64Array) => values.reduce((all, each) => all + each, 0);
    const { totals } = lines.model.about;
    this.totals = { flops: totals.flops, bytes: totals.read + totals.written, wire: totals.wire, seconds: sum(instr.seconds), measured: sum(instr.measured) };
  }
  private get model(): Model { return this.lines.model; }

  /** Omits columns without values. In a narrow window, drops the scope first, then the type. */
  columns(): Column[] {
    const isWide = this.table.width > 760;
    const metrics = rowMetrics.filter((metric) => hasMetric(this.model, metric) && (this.totals[metric] > 0 || metric === "bytes"));
    const source = this.hasSource ? (isWide ? 122 : 84) : 0;
    const freeWidth = this.table.width - (isWide ? 240 : 210) - 52 - 80 * metrics.length - source;
    const hasType = freeWidth > 110 || (!this.hasSource && isWide);
    const hasScope = this.hasScope && freeWidth > 165 + 110;
    const all: (Column | false)[] = [
      { key: "label", title: "op", width: !isWide && !hasType ? 0 : !isWide ? 210 : hasScope || this.hasSource ? 240 : 330, class: "label" },
      hasType && { key: "type", title: "type", width: hasScope ? 165 : 0, class: "mono" },
      { key: "times", title: "×", width: 52, class: "num soft" },
      ...metrics.map((metric): Column => ({ key: metric, title: metricTitles[metric], width: 80, class: "num" })),
      hasScope && { key: "scope", title: "scope", width: 0, class: "elide-left" },
      this.hasSource && { key: "source", title: "source", width: hasType || !isWide ? source : 0, class: "elide-left" },
    ];
    const columns = all.filter((each): each is Column => each !== false);
    this.keys = columns.map((column) => column.key);
    return columns;
  }
  count(): number { return this.lines.count; }
  level(line: number): number { return this.lines.depths[line]!; }
  expanded(line: number): boolean | undefined { return this.lines.canOpen(line) ? this.lines.isOpen(line) : undefined; }

  fillTotals(cells: Cell[]): boolean {
    this.keys.forEach((key, i) => { cells[i]!.setText(key === "label" ? "per step" : key in this.totals ? formatMetric(key as RowMetric, this.totals[key as RowMetric]) : ""); if (key === "label") cells[i]!.element.style.paddingLeft = "31px"; });
    return true;
  }

  fill(line: number, tr: HTMLElement, cells: Cell[]): void {
    const { lines, model } = this;
    const { rows, instr } = model;
    const row = lines.rows[line]!;
    const isFused = lines.fusedInstr[line]! >= 0;
    const id = lines.instrOf(line);
    const kind = isFused ? RowKind.Op : rows.kind[row]!;
    const hasChildren = lines.hasChildRows(line);
    const workKind = kind === RowKind.Minor ? Kind.Elementwise : kind === RowKind.NoWork ? Kind.None : id < 0 ? Kind.Control : instr.kind[id]!;
    const done = kind === RowKind.Done;
    const open = lines.isOpen(line);
    tr.classList.toggle("bold", hasChildren && open && kind !== RowKind.Minor && kind !== RowKind.NoWork && kind !== RowKind.Start);
    tr.classList.toggle("pale", done || kind === RowKind.NoWork || isFused);
    for (let i = 0; i < this.keys.length; ++i) {
      const cell = cells[i]!;
      switch (this.keys[i]) {
        case "label": {
          const [label, detail] = lines.label(line);
          cell.setLabel({ indent: 16 + kIndent * Math.min(lines.depths[line]!, 12), mark: this.markOf(line), fold: lines.canOpen(line) ? (open ? "▾" : "▸") : "", foldOnHover: !hasChildren, kind: workKind, label, detail });
          break;
        }
        case "type": cell.setText(id < 0 || (hasChildren && kind === RowKind.Loop) ? "" : displayText(model.type(kind === RowKind.Start ? this.doneFor(id) : id), 80)); break;
        case "times": { const times = lines.times(line); cell.setText(times === 1 || times === 0 ? "" : formatCount(times)); break; }
        case "scope": cell.setText(id < 0 ? "" : this.scopeOf(line, id)); break;
        case "source": cell.setText(id < 0 ? "" : displayText(baseName(model.source(id)))); break;
        default: {
          const metric = this.keys[i] as RowMetric;
          const value = isFused || done ? 0 : lines.sums[metric][row]!;
          cell.setNumber(value === 0 ? "" : formatMetric(metric, value), open && hasChildren ? 0 : value / lines.maxima[metric], workKind === Kind.None || workKind === Kind.Control ? Kind.DataMovement : workKind);
        }
      }
    }
  }

  tooltip(line: number, key: string): string {
    const { lines, model } = this;
    const id = lines.instrOf(line);
    switch (key) {
      case "label": return displayText(`${lines.label(line).join(" ").trim()}${id < 0 ? "" : ` · ${model.name(id)}`}`, 300);
      case "type": return id < 0 ? "" : displayText(model.type(id), 400);
      case "scope": return id < 0 ? "" : displayText(model.scope(id), 1000);
      case "source": return id < 0 ? "" : displayText(model.source(id), 1000);
      case "times": return "";
      default: return lines.fusedInstr[line]! >= 0 ? "" : formatExact(lines.sums[key as RowMetric][lines.rows[line]!]!);
    }
  }

  /** The done of a start. Its type is shown for the start, whose own type includes the operands. */
  private doneFor(start: number): number {
    const { rows } = this.model;
    return this.doneOf.get(start) ?? this.model.users(start).find((user) => rows.rowOfInstr[user]! >= 0 && rows.kind[rows.rowOfInstr[user]!] === RowKind.Done) ?? start;
  }

  private scopeOf(line: number, id: number): string {
    const { rows } = this.model;
    const parent = rows.parent[this.lines.rows[line]!]!;
    return relativeScope(this.model.scope(id), parent >= 0 && rows.first(parent) >= 0 ? this.model.scope(rows.first(parent)) : "");
  }

  /** With two modules, the diff mark of a line and everything below it: = ~ + −. */
  private markOf(line: number): string {
    const fusedInstr = this.lines.fusedInstr[line]!;
    if (!this.model.marks) return "";
    const mark = fusedInstr >= 0 ? this.model.marks[fusedInstr]! : this.marks[this.lines.rows[line]!]!;
    return ["=", "~", this.page.current === 0 ? "−" : "+"][mark]!;
  }

  click(line: number, event: MouseEvent): void {
    if ((event.target as HTMLElement).classList.contains("fold")) this.actions.toggle(line, event.shiftKey);
    else this.actions.select(line);
  }

  /** Draws brackets from starts to their dones. */
  onPaint(first: number, last: number, top: number): void {
    this.actions.onScroll();
    if (this.doneOf.size === 0) { this.gutter.hidden = true; return; }
    const ratio = devicePixelRatio;
    const height = this.table.viewHeight;
    if (this.gutter.height !== Math.round(height * ratio)) {
      this.gutter.width = 14 * ratio;
      this.gutter.height = Math.round(height * ratio);
      this.gutter.style.width = "14px";
      this.gutter.style.height = `${height}px`;
    }
    this.gutter.style.transform = `translateY(${top}px)`;
    const context = this.gutter.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, 14, height);
    context.strokeStyle = kindColors()[Kind.Collective]!;
    const { rows } = this.model;
    const bracketEnds: number[] = [];
    for (let line = Math.max(first - 60, 0); line < Math.min(last + 10, this.lines.count); ++line) {
      const start = this.lines.fusedInstr[line]! >= 0 ? -1 : rows.first(this.lines.rows[line]!);
      const done = start < 0 ? undefined : this.doneOf.get(start);
      const end = done === undefined ? -1 : this.lines.lineOf(rows.rowOfInstr[done] ?? -1);
      if (end <= line || end - line > kMaxBracketLines) continue;
      const slot = bracketEnds.findIndex((until) => until < line);
      const x = 9.5 - 3 * Math.min(slot < 0 ? bracketEnds.push(end) - 1 : (bracketEnds[slot] = end, slot), 2);
      context.beginPath();
      context.moveTo(13, line * 20 + 10 - top);
      context.lineTo(x, line * 20 + 10 - top);
      context.lineTo(x, end * 20 + 10 - top);
      context.lineTo(13, end * 20 + 10 - top);
      context.stroke();
    }
  }
}
