// The program as a table: loops, layers and light ops folded, down to the instruction.
import { chip, clear, glyph, h, name, visible } from "./dom";
import { bytes, count, scaled, seconds } from "./format";
import { type Collectives, Kind, Model, RowKind } from "./model";
import { type Column, fillNumber, type TableSource, VirtualTable } from "./table";
import { kindColors, type Page, type View } from "./view";

const kIndent = 15;
const kFilters = ["important", "communication", "computation", "all"];

/** Figures of all rows, with those below them. */
interface Sums { flops: Float64Array; bytes: Float64Array; wire: Float64Array; seconds: Float64Array; times: Float64Array }

export class ProgramView implements View, TableSource {
  private page!: Page;
  private table!: VirtualTable;
  private gutter = h("canvas", { class: "gutter", "aria-hidden": "true" });
  private minimap = h("canvas", { class: "minimap", "aria-hidden": "true" });
  private sums!: Sums;
  private most!: { flops: number; bytes: number; wire: number; seconds: number };
  // What is shown, line by line: a row of the program, or an instruction inside a fusion.
  private rows: number[] = [];
  private inside: number[] = [];
  private depths: number[] = [];
  private lineOfRow = new Map<number, number>();
  private lineOfInstr = new Map<number, number>();
  private open = new Set<number>();
  private openFusions = new Set<number>();
  private shownFor = "";
  private names = false;
  private hasScope = false;
  private hasSource = false;
  private doneOf = new Map<number, number>();

  private get model(): Model { return this.page.models[this.page.current]!; }

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.table = new VirtualTable(this, "program");
    root.classList.add("program");
    root.append(this.table.element, this.minimap);
    this.table.scroller.append(this.gutter);
    this.minimap.addEventListener("pointerdown", (event) => this.dragMinimap(event));
    this.minimap.addEventListener("pointermove", (event) => { if (event.buttons & 1) this.dragMinimap(event); });
    this.collectives = await Promise.all(page.models.map((model) => model.collectives()));
    this.prepare();
  }
  private loops = new Map<number, number>();
  private collectives: Collectives[] = [];

  private prepared = -1;
  private prepare(): void {
    this.prepared = this.page.current;
    this.open.clear();
    this.openFusions.clear();
    this.loops = new Map(this.model.about.loops);
    this.doneOf.clear();
    const all = this.collectives[this.page.current]!;
    for (let i = 0; i < all.count; ++i) if (all.start[i] !== all.done[i]) this.doneOf.set(all.start[i]!, all.done[i]!);
    const { rows, instr } = this.model;
    this.sums = { flops: rows.sums(instr.flops), bytes: rows.sums(instr.bytes), wire: rows.sums(instr.wire), seconds: rows.sums(instr.seconds), times: rows.sums(instr.times) };
    this.hasScope = instr.scope.some((each) => each !== 0);
    this.hasSource = instr.source.some((each) => each !== 0);
    // What holds little, and loops, are open at first: a page of lines says more than ten.
    for (let row = 0; row < rows.count; ++row) {
      const kind = rows.kind[row]!;
      if ((kind === RowKind.Loop || kind === RowKind.Call || kind === RowKind.Conditional || kind === RowKind.Part || kind === RowKind.Repeat) && rows.depth[row]! < 6 && this.visibleBelow(row) <= 400) this.open.add(row);
    }
    const given = this.page.settings.get("open");
    if (given !== undefined) {
      this.open = new Set(given.split(".").filter((each) => /^\d+$/.test(each)).map(Number));
    }
  }

  private visibleBelow(row: number): number {
    let lines = 0;
    for (let at = row + 1; at < this.model.rows.end[row]!; ++at) if (this.model.rows.parent[at] === row) ++lines;
    return lines;
  }

  update(): void {
    const key = [this.page.current, this.page.settings.get("ops"), this.page.settings.get("by"), this.page.settings.get("q"), this.page.hits ? 1 : 0].join("|");
    if (key !== this.shownFor) {
      if (this.prepared !== this.page.current) this.prepare();
      this.shownFor = key;
      this.flatten();
      this.table.reset();
      if (this.page.hits) this.table.scroller.scrollTop = 0;
    }
    this.showSelection(true);
    this.drawMinimap();
  }

  private get filter(): string { return this.page.settings.get("ops") ?? "important"; }
  private get heaviest(): boolean { return this.page.settings.get("by") === "heaviest"; }

  private weight(row: number): number {
    return this.model.hasTime ? this.sums.seconds[row]! : this.sums.flops[row]! + 100 * (this.sums.bytes[row]! + this.sums.wire[row]!);
  }

  private wanted(row: number): boolean {
    const { rows, instr } = this.model;
    const kind = rows.kind[row]!;
    if (this.filter === "all") return true;
    if (kind === RowKind.Quiet || (rows.parent[row]! >= 0 && rows.kind[rows.parent[row]!] === RowKind.Quiet)) return false;
    const first = rows.first(row);
    const work = first < 0 ? Kind.Elementwise : instr.kind[first]!;
    const holds = rows.end[row]! > row + 1 && kind !== RowKind.Light && kind !== RowKind.Start;
    if (holds) return false;  // shown where something below is
    if (this.filter === "communication") return work === Kind.Collective;
    if (this.filter === "computation") return work !== Kind.Collective;
    return true;
  }

  /** Which rows may be shown: those wanted, and what holds them. */
  private allowed(): Uint8Array {
    const { rows, instr } = this.model;
    const hits = this.page.hits;
    const allowed = new Uint8Array(rows.count);
    if (hits) {
      for (let id = 0; id < instr.count; ++id)
        if (hits[id]) {
          const row = this.model.rowOf(id);
          if (row >= 0) allowed[row] = 1;
        }
    } else {
      for (let row = 0; row < rows.count; ++row) allowed[row] = this.wanted(row) ? 1 : 0;
    }
    for (let row = rows.count - 1; row >= 0; --row) if (allowed[row] && rows.parent[row]! >= 0) allowed[rows.parent[row]!] = 1;
    return allowed;
  }

  private flatten(): void {
    const { rows, instr } = this.model;
    const allowed = this.allowed();
    ++this.flattened;
    this.rows = []; this.inside = []; this.depths = [];
    this.lineOfRow.clear(); this.lineOfInstr.clear();
    const hits = this.page.hits;
    const add = (row: number, id: number, depth: number) => {
      if (id < 0) this.lineOfRow.set(row, this.rows.length);
      else this.lineOfInstr.set(id, this.rows.length);
      this.rows.push(row); this.inside.push(id); this.depths.push(depth);
    };
    const addFused = (row: number, id: number, depth: number) => {
      for (const computation of this.model.calls(id)) {
        const [first, end] = this.model.bodyOf(computation);
        for (let inner = first; inner < end; ++inner) {
          if (rows.ofInstr[inner]! >= 0 || (hits && !hits[inner])) continue;
          add(row, inner, depth);
          if (this.openFusions.has(inner) || hits) addFused(row, inner, depth + 1);
        }
      }
    };
    // Rows are walked with a stack: a text may nest deeper than the browser's.
    const todo: [number, number][] = [];
    const pushChildren = (from: number, end: number) => {
      const children: number[] = [];
      for (let row = from; row < end; row = rows.end[row]!) if (allowed[row]) children.push(row);
      if (this.heaviest) children.sort((a, b) => this.weight(a) - this.weight(b)); else children.reverse();
      for (const child of children) todo.push([child, child]);
    };
    pushChildren(0, rows.count);
    const hitsInside = hits !== null;
    while (todo.length > 0) {
      const [row] = todo.pop()!;
      add(row, -1, rows.depth[row]!);
      const isOpen = hits ? true : this.open.has(row);
      if (isOpen && rows.end[row]! > row + 1) pushChildren(row + 1, rows.end[row]!);
      const first = rows.first(row);
      if (first >= 0 && this.holdsFused(first) && (hitsInside || this.openFusions.has(first))) addFused(row, first, rows.depth[row]! + 1);
    }
    let most = { flops: 0, bytes: 0, wire: 0, seconds: 0 };
    for (let line = 0; line < this.rows.length; ++line) {
      const row = this.rows[line]!;
      if (this.inside[line]! >= 0 || this.isOpen(line)) continue;
      most = { flops: Math.max(most.flops, this.sums.flops[row]!), bytes: Math.max(most.bytes, this.sums.bytes[row]!), wire: Math.max(most.wire, this.sums.wire[row]!), seconds: Math.max(most.seconds, this.sums.seconds[row]!) };
    }
    this.most = most;
    void instr;
  }

  private holdsFused(id: number): boolean {
    const calls = this.model.calls(id);
    return calls.length > 0 && this.model.rows.ofInstr[this.model.bodyOf(calls[0]!)[0]] === -1;
  }
  private canOpen(line: number): boolean {
    const id = this.inside[line]!;
    if (id >= 0) return this.holdsFused(id);
    const row = this.rows[line]!;
    const first = this.model.rows.first(row);
    return this.model.rows.end[row]! > row + 1 || (first >= 0 && this.holdsFused(first));
  }
  private isOpen(line: number): boolean {
    if (this.page.hits) return this.canOpen(line) && this.model.rows.end[this.rows[line]!]! > this.rows[line]! + 1;
    const id = this.inside[line]!;
    if (id >= 0) return this.openFusions.has(id);
    const row = this.rows[line]!;
    if (this.model.rows.end[row]! > row + 1) return this.open.has(row);
    return this.openFusions.has(this.model.rows.first(row));
  }

  // ---- the table
  columns(): Column[] {
    const wide = this.table.scroller.clientWidth > 760;
    const time = this.model.hasTime;
    const all: (Column | false)[] = [
      { key: "what", title: "what", width: wide ? (this.hasScope ? 258 : 330) : 210, class: "what" },
      { key: "type", title: "type", width: this.hasScope || this.hasSource ? 165 : 0, class: "mono" },
      { key: "times", title: "×", width: 52, class: "num soft" },
      { key: "flops", title: "flops", width: 74, class: "num" },
      { key: "bytes", title: "memory", width: 80, class: "num" },
      { key: "wire", title: "wire", width: 80, class: "num" },
      time && { key: "seconds", title: "time *", width: 76, class: "num" },
      this.hasScope && { key: "scope", title: "scope", width: 0, class: "left-cut" },
      this.hasSource && { key: "source", title: "source", width: 128, class: "left-cut" },
    ];
    return all.filter((each): each is Column => each !== false);
  }
  count(): number { return this.rows.length; }
  level(line: number): number { return this.depths[line]!; }
  expanded(line: number): boolean | undefined { return this.canOpen(line) ? this.isOpen(line) : undefined; }

  fillSum(cells: HTMLElement[]): boolean {
    const totals = this.model.about.totals;
    const text: { [key: string]: string } = {
      what: "per step", flops: scaled(totals.flops), bytes: bytes(totals.read + totals.written), wire: bytes(totals.wire),
      seconds: seconds(this.model.instr.seconds.reduce((sum, each) => sum + each, 0)),
    };
    this.columns().forEach((column, i) => { cells[i]!.textContent = text[column.key] ?? ""; if (column.key === "what") cells[i]!.style.paddingLeft = "31px"; });
    return true;
  }

  /** The words of a line: what it is, and over which axis. */
  words(line: number): [string, string] {
    const { rows } = this.model;
    const row = this.rows[line]!;
    const id = this.inside[line]! >= 0 ? this.inside[line]! : rows.first(row);
    const kind = this.inside[line]! >= 0 ? RowKind.Op : rows.kind[row]!;
    if (kind === RowKind.Repeat) return [`× ${count(rows.repeats[row]!)} alike`, ""];
    if (id < 0) return [this.model.string(rows.words[row]!), ""];
    if (this.names) return [this.model.name(id), this.model.words(id)];
    const axis = this.model.axisOf.get(id) ?? "";
    let words = this.model.words(id);
    if (kind === RowKind.Start && !words.endsWith("-start")) words += " start";
    if (kind === RowKind.Done && !words.endsWith("-done")) words += " done";
    words = words.replace(/-(start|done)$/, " $1");
    if (kind === RowKind.Loop) {
      const trips = this.loops.get(id) ?? -1;
      words = trips >= 0 ? `while, ${count(trips)} round${trips === 1 ? "" : "s"}` : "while, ? rounds";
    }
    const members = this.inside[line]! >= 0 ? 1 : rows.memberCount(row);
    if (members > 1 && !this.page.hits && (rows.parent[row]! < 0 || rows.kind[rows.parent[row]!] !== RowKind.Repeat)) words += ` × ${count(members)}`;
    return [words, axis];
  }

  fill(line: number, tr: HTMLElement, cells: HTMLElement[]): void {
    const { rows, instr } = this.model;
    const row = this.rows[line]!;
    const fused = this.inside[line]! >= 0;
    const id = fused ? this.inside[line]! : rows.first(row);
    const kind = fused ? RowKind.Op : rows.kind[row]!;
    const holds = !fused && rows.end[row]! > row + 1;
    const work = kind === RowKind.Light ? Kind.Elementwise : kind === RowKind.Quiet ? Kind.None : id < 0 ? Kind.Control : instr.kind[id]!;
    const done = kind === RowKind.Done;
    const open = this.isOpen(line);
    tr.classList.toggle("bold", holds && kind !== RowKind.Light && kind !== RowKind.Quiet && kind !== RowKind.Start && open);
    tr.classList.toggle("pale", done || kind === RowKind.Quiet || fused);
    tr.id = `row${line}`;
    this.columns().forEach((column, i) => {
      const cell = cells[i]!;
      switch (column.key) {
        case "what": this.fillWhat(line, cell, work, open); break;
        case "type": {
          clear(cell);
          const shown = id >= 0 && kind === RowKind.Start ? this.doneAfter(id) : id;
          if (id >= 0 && !(holds && kind === RowKind.Loop)) cell.append(name(this.model.type(shown), 80));
          cell.title = id >= 0 ? visible(this.model.type(id), 400) : "";
          break;
        }
        case "times": {
          const times = fused ? instr.times[id]! : kind === RowKind.Repeat || id < 0 ? 0 : this.ownTimes(row);
          cell.textContent = times === 1 || times === 0 || done ? "" : count(times);
          break;
        }
        case "scope": clear(cell); if (id >= 0) cell.append(h("bdi", {}, this.scopeBelow(line, id))); cell.title = id >= 0 ? visible(this.model.scope(id), 1000) : ""; break;
        case "source": { clear(cell); const source = id >= 0 ? this.model.source(id) : ""; cell.append(name(source.slice(source.lastIndexOf("/") + 1))); cell.title = visible(source, 1000); break; }
        default: {
          const value = fused || done ? 0 : this.sums[column.key as "flops"][row]!;
          const text = value === 0 ? "" : column.key === "flops" ? scaled(value) : column.key === "seconds" ? seconds(value) : bytes(value);
          const most = this.most[column.key as "flops"];
          fillNumber(cell, text, value, open && holds ? 0 : value / most, work === Kind.None || work === Kind.Control ? Kind.Move : work);
        }
      }
    });
  }

  /** A start's own type has its operands in it: what it gives is the done's. */
  private doneAfter(start: number): number {
    const done = this.doneOf.get(start) ?? this.model.users(start).find((user) => this.model.rows.ofInstr[user]! >= 0 && this.model.rows.kind[this.model.rows.ofInstr[user]!] === RowKind.Done);
    return done ?? start;
  }

  private ownTimes(row: number): number {
    const { rows, instr } = this.model;
    let times = 0;
    for (let at = rows.memberStart(row); at < rows.memberEnd[row]!; ++at) times += instr.times[rows.members[at]!]!;
    return times;
  }

  private fillWhat(line: number, cell: HTMLElement, work: number, open: boolean): void {
    clear(cell);
    cell.style.paddingLeft = `${16 + kIndent * Math.min(this.depths[line]!, 12)}px`;
    const [words, axis] = this.words(line);
    cell.classList.toggle("coll", work === Kind.Collective);
    const fold = this.canOpen(line) ? (open ? "▾" : "▸") : "";
    const mark = this.markOf(line);
    if (mark) cell.append(h("span", { class: `mark ${mark === "~" ? "mod" : mark === "+" ? "add" : mark === "−" ? "del" : ""}`, title: mark === "~" ? "changed" : mark === "=" ? "the same in both" : mark === "+" ? "only in B" : "only in A" }, mark));
    cell.append(h("span", { class: this.inside[line]! >= 0 || this.model.rows.end[this.rows[line]!] === this.rows[line]! + 1 ? "fold inner" : "fold" }, fold), glyph(work), h("span", { class: "t", title: visible(`${words} ${axis}`, 300) }, h("bdi", {}, visible(words, 120)), axis ? h("span", { class: "axis" }, ` ${visible(axis, 60)}`) : ""));
  }

  /** Of two modules: = ~ + − of the row's instructions and all below. */
  private markOf(line: number): string {
    const marks = this.model.marks;
    if (!marks) return "";
    const { rows } = this.model;
    const row = this.rows[line]!;
    const seen = [0, 0, 0];
    if (this.inside[line]! >= 0) ++seen[marks[this.inside[line]!]!]!;
    else for (let at = rows.memberStart(row); at < rows.memberEnd[rows.end[row]! - 1]!; ++at) ++seen[marks[rows.members[at]!]!]!;
    if (seen[1] === 0 && seen[2] === 0) return "=";
    return seen[0] === 0 && seen[1] === 0 ? (this.page.current === 0 ? "−" : "+") : "~";
  }

  /** The scope without what the row above it has in common. */
  private scopeBelow(line: number, id: number): string {
    const scope = this.model.scope(id);
    const parent = this.model.rows.parent[this.rows[line]!]!;
    const above = parent >= 0 && this.model.rows.first(parent) >= 0 ? this.model.scope(this.model.rows.first(parent)) : "";
    let common = 0;
    for (let i = 0; i < scope.length && scope[i] === above[i]; ++i) if (scope[i] === "/") common = i;
    const rest = above !== "" && scope.startsWith(above + "/") ? scope.slice(above.length + 1) : common > 0 ? scope.slice(common + 1) : scope;
    return visible(rest === scope || rest === "" ? scope : `…/${rest}`, 300);
  }

  click(line: number, event: MouseEvent): void {
    if (line < 0) return;
    const target = event.target as HTMLElement;
    if (target.classList.contains("fold")) return this.toggle(line, event.shiftKey);
    this.selectLine(line);
  }

  private selectLine(line: number, how: "push" | "replace" = "push"): void {
    const id = this.inside[line]! >= 0 ? this.inside[line]! : this.model.rows.first(this.rows[line]!);
    if (id >= 0) this.page.select({ kind: "instr", module: this.page.current, id }, how);
    else this.page.select({ kind: "row", module: this.page.current, row: this.rows[line]! }, how);
  }

  private get selectedLine(): number {
    const selection = this.page.selection;
    if (!selection) return -1;
    if (selection.kind === "row") return this.lineOfRow.get(selection.row) ?? -1;
    if (selection.kind !== "instr") return -1;
    return this.lineOfInstr.get(selection.id) ?? this.lineOfRow.get(this.model.rowOf(selection.id)) ?? -1;
  }

  private showSelection(scroll: boolean): void {
    const selection = this.page.selection;
    if (selection?.kind === "instr" && this.selectedLine < 0 && !this.page.hits && selection.module === this.page.current) {
      // Opens what folds it away.
      let row = this.model.rowOf(selection.id);
      for (row = row < 0 ? -1 : this.model.rows.parent[row]!; row >= 0; row = this.model.rows.parent[row]!) this.open.add(row);
      this.flatten();
      this.table.reset();
    }
    this.table.mark(this.selectedLine, scroll);
  }

  private toggle(line: number, all: boolean, to?: boolean): void {
    if (line < 0 || !this.canOpen(line) || this.page.hits) return;
    const row = this.rows[line]!;
    const first = this.inside[line]! >= 0 ? this.inside[line]! : this.model.rows.first(row);
    const isRow = this.inside[line]! < 0 && this.model.rows.end[row]! > row + 1;
    const set = isRow ? this.open : this.openFusions;
    const key = isRow ? row : first;
    const open = to ?? !set.has(key);
    if (open) set.add(key); else set.delete(key);
    if (all && isRow) for (let below = row; below < this.model.rows.end[row]!; ++below) if (open) this.open.add(below); else this.open.delete(below);
    this.flatten();
    this.table.reset();
    this.table.mark(this.selectedLine, false);
    this.drawMinimap();
    if (this.open.size < 300) this.page.settings.set("open", [...this.open].join("."));
  }

  // ---- the frame
  chips(): (Node | string)[] {
    const shown = kFilters.map((each) => chip(each, this.filter === each, () => this.page.set("ops", each === "important" ? "" : each)));
    const total = this.page.hits ? this.page.hits.reduce((sum, hit) => sum + hit, 0) : 0;
    const note = this.page.hits ? `${count(total)} of ${count(this.model.instr.count)} instructions` : "per step, of one device";
    return [...shown, h("span", { class: "gap" }), h("span", { class: "note" }, note), h("span", { class: "grow" }),
      chip("names", this.names, () => { this.names = !this.names; this.table.reset(); this.page.redraw(); }), "order",
      chip("program", !this.heaviest, () => this.page.set("by", "")), chip("heaviest", this.heaviest, () => this.page.set("by", "heaviest"))];
  }
  keys(): [string, string][] { return [["↑↓", "row"], ["←→", "fold"], ["o u", "operand, user"], ["/", "search"], ["c", "CSV"]]; }

  key(event: KeyboardEvent): boolean {
    const line = this.selectedLine;
    const move = (to: number) => { if (this.rows.length > 0) this.selectLine(Math.max(0, Math.min(to, this.rows.length - 1)), "replace"); return true; };
    switch (event.key) {
      case "ArrowDown": return move(line + 1);
      case "ArrowUp": return move(line < 0 ? 0 : line - 1);
      case "Home": return move(0);
      case "End": return move(this.rows.length - 1);
      case "PageDown": return move(line + this.table.visibleCount - 1);
      case "PageUp": return move(line - this.table.visibleCount + 1);
      case "ArrowRight": if (event.altKey) return false; this.toggle(line, event.shiftKey, true); return true;
      case "ArrowLeft": {
        if (event.altKey) return false;
        if (line >= 0 && this.canOpen(line) && this.isOpen(line)) this.toggle(line, event.shiftKey, false);
        else if (line >= 0 && this.model.rows.parent[this.rows[line]!]! >= 0) move(this.lineOfRow.get(this.model.rows.parent[this.rows[line]!]!) ?? line);
        return true;
      }
    }
    return false;
  }

  // ---- drawings beside the table
  painted(first: number, last: number, top: number): void {
    const ratio = devicePixelRatio;
    const height = this.table.scroller.clientHeight;
    this.gutter.width = 14 * ratio;
    this.gutter.height = height * ratio;
    this.gutter.style.width = "14px";
    this.gutter.style.height = `${height}px`;
    this.gutter.style.transform = `translateY(${top}px)`;
    const context = this.gutter.getContext("2d")!;
    context.scale(ratio, ratio);
    context.strokeStyle = kindColors()[Kind.Collective]!;
    context.lineWidth = 1;
    const nested: number[] = [];
    for (let line = Math.max(first - 60, 0); line < Math.min(last + 10, this.rows.length); ++line) {
      const start = this.inside[line]! >= 0 ? -1 : this.model.rows.first(this.rows[line]!);
      const done = start < 0 ? undefined : this.doneOf.get(start);
      const end = done === undefined ? undefined : this.lineOfRow.get(this.model.rows.ofInstr[done] ?? -1);
      if (end === undefined || end <= line || end - line > 200) continue;
      const slot = nested.findIndex((until) => until < line);
      const x = 9.5 - 3 * Math.min(slot < 0 ? nested.push(end) - 1 : (nested[slot] = end, slot), 2);
      context.beginPath();
      context.moveTo(13, line * 20 + 10 - top);
      context.lineTo(x, line * 20 + 10 - top);
      context.lineTo(x, end * 20 + 10 - top);
      context.lineTo(13, end * 20 + 10 - top);
      context.stroke();
    }
    this.drawMinimap();
  }

  private drawMinimap(): void {
    const ratio = devicePixelRatio;
    const height = this.minimap.clientHeight;
    if (height === 0) return;
    // The rows are drawn once; scrolling moves the window over them.
    const key = `${height} ${ratio} ${this.flattened} ${getComputedStyle(document.documentElement).colorScheme}`;
    if (key !== this.minimapFor) { this.minimapFor = key; this.drawMinimapRows(height, ratio); }
    this.minimap.width = 56 * ratio;
    this.minimap.height = height * ratio;
    const context = this.minimap.getContext("2d")!;
    context.scale(ratio, ratio);
    const each = Math.min(height / Math.max(this.rows.length, 1), 6);
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--grid");
    context.fillRect(0, this.table.firstVisible * each, 56, Math.max(this.table.visibleCount * each, 3));
    context.drawImage(this.minimapRows, 0, 0, 56, height);
  }
  private minimapFor = "";
  private flattened = 0;
  private minimapRows = h("canvas");

  private drawMinimapRows(height: number, ratio: number): void {
    this.minimapRows.width = 56 * ratio;
    this.minimapRows.height = height * ratio;
    const context = this.minimapRows.getContext("2d")!;
    context.scale(ratio, ratio);
    const palette = kindColors();
    const values = this.model.hasTime ? this.sums.seconds : this.sums.bytes;
    const lines = this.rows.length;
    const each = Math.min(height / Math.max(lines, 1), 6);
    let most = 0;
    for (let line = 0; line < lines; ++line) if (!this.isOpen(line)) most = Math.max(most, values[this.rows[line]!]!);
    // Of the rows that share a pixel, the heaviest is drawn.
    let y = -1, best = -1, color = "";
    const paint = () => { if (y >= 0 && best >= 0) { context.fillStyle = color; context.fillRect(5, y, Math.max(46 * Math.sqrt(best), 1), Math.max(each - 1, 1)); } };
    for (let line = 0; line < lines; ++line) {
      const at = Math.floor(line * each);
      if (at !== y) { paint(); y = at; best = -1; }
      if (this.inside[line]! >= 0 || this.isOpen(line)) continue;
      const row = this.rows[line]!;
      const share = most > 0 ? values[row]! / most : 0;
      const id = this.model.rows.first(row);
      if (share > best) { best = share; color = palette[id < 0 ? Kind.Elementwise : this.model.instr.kind[id]!]!; }
    }
    paint();
  }

  private dragMinimap(event: PointerEvent): void {
    const each = Math.min(this.minimap.clientHeight / Math.max(this.rows.length, 1), 6);
    this.table.scroller.scrollTop = (event.offsetY / each - this.table.visibleCount / 2) * 20;
  }

  // ---- for others
  csv(): (string | number)[][] {
    const { instr, rows } = this.model;
    const out: (string | number)[][] = [["level", "what", "name", "computation", "type", "times", "flops", "bytes", "wire_bytes", "seconds", "op_name", "source"]];
    this.rows.forEach((row, line) => {
      const fused = this.inside[line]! >= 0;
      const id = fused ? this.inside[line]! : rows.first(row);
      const [words, axis] = this.words(line);
      out.push([this.depths[line]!, axis ? `${words} ${axis}` : words, id < 0 ? "" : this.model.name(id), id < 0 ? "" : this.model.computation(id), id < 0 ? "" : this.model.type(id), id < 0 ? "" : instr.times[id]!,
        fused ? 0 : this.sums.flops[row]!, fused ? 0 : this.sums.bytes[row]!, fused ? 0 : this.sums.wire[row]!, fused ? 0 : this.sums.seconds[row]!, id < 0 ? "" : this.model.scope(id), id < 0 ? "" : this.model.source(id)]);
    });
    return out;
  }

  state(): object {
    const first = this.table.firstVisible;
    const line = (at: number) => {
      const row = this.rows[at]!;
      const id = this.inside[at]! >= 0 ? this.inside[at]! : this.model.rows.first(row);
      return { words: this.words(at).join(" ").trim(), name: id < 0 ? "" : this.model.name(id), depth: this.depths[at]!, flops: this.sums.flops[row]!, bytes: this.sums.bytes[row]!, wire: this.sums.wire[row]!, seconds: this.sums.seconds[row]!, open: this.isOpen(at) };
    };
    const top = { flops: 0, bytes: 0, wire: 0, seconds: 0 };
    const { rows } = this.model;
    for (let row = 0; row < rows.count; row = rows.end[row]!) for (const key of ["flops", "bytes", "wire", "seconds"] as const) top[key] += this.sums[key][row]!;
    return { lines: this.rows.length, first, visible: Array.from({ length: Math.min(this.table.visibleCount, this.rows.length - first) }, (_, i) => line(first + i)), sums: top, selectedLine: this.selectedLine, marks: this.model.marks ? [0, 1, 2].map((mark) => this.model.marks!.reduce((sum, each) => sum + (each === mark ? 1 : 0), 0)) : null, hits: this.page.hits ? this.page.hits.reduce((sum, hit) => sum + hit, 0) : null };
  }
}
