// Program's lines as rows of a table: words, figures with bars, scope and source; brackets from start to done.
import { type Cell, exact } from "./cells";
import { h, visible } from "./dom";
import { bytes, count, scaled, seconds } from "./format";
import { Kind } from "./instructions";
import type { Collectives, Model } from "./model";
import { type Figure, figures, hasFigure, type ProgramLines } from "./program_lines";
import { RowKind } from "./rows";
import { type Column, type TableSource, VirtualTable } from "./table";
import { kindColors, type Page } from "./view";

export const kIndent = 15;
const kFarthest = 200;  // lines that a bracket may span

export function figureText(figure: Figure, value: number): string {
  return figure === "flops" ? scaled(value) : figure === "seconds" || figure === "measured" ? seconds(value) : bytes(value);
}
export const figureTitles: { [figure in Figure]: string } = { flops: "flops", bytes: "memory", wire: "wire", seconds: "time *", measured: "measured" };

/** "layers.py:74" of a path */
export function lastPart(path: string): string { return path.slice(path.lastIndexOf("/") + 1); }

/** The scope without what the one above has in common. */
export function scopeBelow(scope: string, above: string): string {
  let common = 0;
  for (let i = 0; i < scope.length && scope[i] === above[i]; ++i) if (scope[i] === "/") common = i;
  const rest = above !== "" && scope.startsWith(above + "/") ? scope.slice(above.length + 1) : common > 0 ? scope.slice(common + 1) : scope;
  return visible(rest === scope || rest === "" ? scope : `…/${rest}`, 300);
}

/** Of two modules and each row: 0 all in it is the same in both, 1 something changed, 2 nothing of it is in the other. */
export function rowMarks(model: Model): Uint8Array {
  const { rows } = model;
  const out = new Uint8Array(model.marks ? rows.count : 0);
  if (!model.marks) return out;
  const same = new Uint32Array(rows.count), other = new Uint32Array(rows.count), only = new Uint32Array(rows.count);
  // What is fused, or part of an op, counts where the op stands.
  for (let id = 0; id < model.instr.count; ++id) {
    const row = model.rowOf(id);
    if (row >= 0) ++[same, other, only][model.marks[id]!]![row]!;
  }
  for (let row = rows.count - 1; row >= 0; --row) {
    out[row] = other[row] === 0 && only[row] === 0 ? 0 : same[row] === 0 && other[row] === 0 ? 2 : 1;
    const parent = rows.parent[row]!;
    if (parent >= 0) { same[parent]! += same[row]!; other[parent]! += other[row]!; only[parent]! += only[row]!; }
  }
  return out;
}

export class ProgramTable implements TableSource {
  readonly table = new VirtualTable(this, "program");
  lines!: ProgramLines;
  private keys: string[] = [];
  private readonly gutter = h("canvas", { class: "gutter", "aria-hidden": "true" });
  private readonly doneOf = new Map<number, number>();
  private marks = new Uint8Array();
  private hasScope = false;
  private hasSource = false;
  private totals: { [figure in Figure]: number } = { flops: 0, bytes: 0, wire: 0, seconds: 0, measured: 0 };

  constructor(private readonly page: Page, private readonly act: { select(line: number): void; toggle(line: number, all: boolean): void; scrolled(): void }) {
    this.table.scroller.append(this.gutter);
  }

  show(lines: ProgramLines, all: Collectives): void {
    this.lines = lines;
    this.doneOf.clear();
    for (let i = 0; i < all.count; ++i) if (all.start[i] !== all.done[i]) this.doneOf.set(all.start[i]!, all.done[i]!);
    const { instr } = lines.model;
    this.marks = rowMarks(lines.model);
    this.hasScope = instr.scope.some((each) => each !== 0);
    this.hasSource = instr.source.some((each) => each !== 0);
    const sum = (values: Float64Array) => values.reduce((all, each) => all + each, 0);
    const { totals } = lines.model.about;
    this.totals = { flops: totals.flops, bytes: totals.read + totals.written, wire: totals.wire, seconds: sum(instr.seconds), measured: sum(instr.measured) };
  }
  private get model(): Model { return this.lines.model; }

  /** What says nothing is left out; what gives way first where there is little room: the scope, then the type. */
  columns(): Column[] {
    const wide = this.table.width > 760;
    const shown = figures.filter((figure) => hasFigure(this.model, figure) && (this.totals[figure] > 0 || figure === "bytes"));
    const source = this.hasSource ? 122 : 0;
    const room = this.table.width - (wide ? 240 : 210) - 52 - 80 * shown.length - source;
    const hasType = room > 110 || !this.hasSource;
    const hasScope = this.hasScope && room > 165 + 110;
    const all: (Column | false)[] = [
      { key: "what", title: "what", width: !wide ? 210 : hasScope || this.hasSource ? 240 : 330, class: "what" },
      hasType && { key: "type", title: "type", width: hasScope ? 165 : 0, class: "mono" },
      { key: "times", title: "×", width: 52, class: "num soft" },
      ...shown.map((figure): Column => ({ key: figure, title: figureTitles[figure], width: 80, class: "num" })),
      hasScope && { key: "scope", title: "scope", width: 0, class: "left-cut" },
      this.hasSource && { key: "source", title: "source", width: hasType ? source : 0, class: "left-cut" },
    ];
    const columns = all.filter((each): each is Column => each !== false);
    this.keys = columns.map((column) => column.key);
    return columns;
  }
  count(): number { return this.lines.count; }
  level(line: number): number { return this.lines.depths[line]!; }
  expanded(line: number): boolean | undefined { return this.lines.canOpen(line) ? this.lines.isOpen(line) : undefined; }

  fillSum(cells: Cell[]): boolean {
    this.keys.forEach((key, i) => { cells[i]!.text(key === "what" ? "per step" : key in this.totals ? figureText(key as Figure, this.totals[key as Figure]) : ""); if (key === "what") cells[i]!.element.style.paddingLeft = "31px"; });
    return true;
  }

  fill(line: number, tr: HTMLElement, cells: Cell[]): void {
    const { lines, model } = this;
    const { rows, instr } = model;
    const row = lines.rows[line]!;
    const fused = lines.inside[line]! >= 0;
    const id = lines.instrOf(line);
    const kind = fused ? RowKind.Op : rows.kind[row]!;
    const holds = lines.holdsRows(line);
    const work = kind === RowKind.Light ? Kind.Elementwise : kind === RowKind.Quiet ? Kind.None : id < 0 ? Kind.Control : instr.kind[id]!;
    const done = kind === RowKind.Done;
    const open = lines.isOpen(line);
    tr.classList.toggle("bold", holds && open && kind !== RowKind.Light && kind !== RowKind.Quiet && kind !== RowKind.Start);
    tr.classList.toggle("pale", done || kind === RowKind.Quiet || fused);
    for (let i = 0; i < this.keys.length; ++i) {
      const cell = cells[i]!;
      switch (this.keys[i]) {
        case "what": {
          const [words, aside] = lines.words(line);
          cell.what({ indent: 16 + kIndent * Math.min(lines.depths[line]!, 12), mark: this.markOf(line), fold: lines.canOpen(line) ? (open ? "▾" : "▸") : "", inner: !holds, kind: work, words, aside });
          break;
        }
        case "type": cell.text(id < 0 || (holds && kind === RowKind.Loop) ? "" : visible(model.type(kind === RowKind.Start ? this.doneAfter(id) : id), 80)); break;
        case "times": { const times = lines.times(line); cell.text(times === 1 || times === 0 ? "" : count(times)); break; }
        case "scope": cell.text(id < 0 ? "" : this.scopeOf(line, id)); break;
        case "source": cell.text(id < 0 ? "" : visible(lastPart(model.source(id)))); break;
        default: {
          const figure = this.keys[i] as Figure;
          const value = fused || done ? 0 : lines.sums[figure][row]!;
          cell.number(value === 0 ? "" : figureText(figure, value), open && holds ? 0 : value / lines.most[figure], work === Kind.None || work === Kind.Control ? Kind.Move : work);
        }
      }
    }
  }

  hint(line: number, key: string): string {
    const { lines, model } = this;
    const id = lines.instrOf(line);
    switch (key) {
      case "what": return visible(`${lines.words(line).join(" ").trim()}${id < 0 ? "" : ` · ${model.name(id)}`}`, 300);
      case "type": return id < 0 ? "" : visible(model.type(id), 400);
      case "scope": return id < 0 ? "" : visible(model.scope(id), 1000);
      case "source": return id < 0 ? "" : visible(model.source(id), 1000);
      case "times": return "";
      default: return lines.inside[line]! >= 0 ? "" : exact(lines.sums[key as Figure][lines.rows[line]!]!);
    }
  }

  /** A start's own type has its operands in it: what it gives is the done's. */
  private doneAfter(start: number): number {
    const { rows } = this.model;
    return this.doneOf.get(start) ?? this.model.users(start).find((user) => rows.ofInstr[user]! >= 0 && rows.kind[rows.ofInstr[user]!] === RowKind.Done) ?? start;
  }

  private scopeOf(line: number, id: number): string {
    const { rows } = this.model;
    const parent = rows.parent[this.lines.rows[line]!]!;
    return scopeBelow(this.model.scope(id), parent >= 0 && rows.first(parent) >= 0 ? this.model.scope(rows.first(parent)) : "");
  }

  /** Of two modules: = ~ + − of the row's instructions and all below. */
  private markOf(line: number): string {
    const inside = this.lines.inside[line]!;
    if (!this.model.marks) return "";
    const mark = inside >= 0 ? this.model.marks[inside]! : this.marks[this.lines.rows[line]!]!;
    return ["=", "~", this.page.current === 0 ? "−" : "+"][mark]!;
  }

  click(line: number, event: MouseEvent): void {
    if ((event.target as HTMLElement).classList.contains("fold")) this.act.toggle(line, event.shiftKey);
    else this.act.select(line);
  }

  /** Brackets join starts with their dones. */
  painted(first: number, last: number, top: number): void {
    this.act.scrolled();
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
    const nested: number[] = [];
    for (let line = Math.max(first - 60, 0); line < Math.min(last + 10, this.lines.count); ++line) {
      const start = this.lines.inside[line]! >= 0 ? -1 : rows.first(this.lines.rows[line]!);
      const done = start < 0 ? undefined : this.doneOf.get(start);
      const end = done === undefined ? -1 : this.lines.lineOf(rows.ofInstr[done] ?? -1);
      if (end <= line || end - line > kFarthest) continue;
      const slot = nested.findIndex((until) => until < line);
      const x = 9.5 - 3 * Math.min(slot < 0 ? nested.push(end) - 1 : (nested[slot] = end, slot), 2);
      context.beginPath();
      context.moveTo(13, line * 20 + 10 - top);
      context.lineTo(x, line * 20 + 10 - top);
      context.lineTo(x, end * 20 + 10 - top);
      context.lineTo(13, end * 20 + 10 - top);
      context.stroke();
    }
  }
}
