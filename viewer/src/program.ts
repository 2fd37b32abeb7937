// Program: the module as a tree table with folded loops, repeated layers and minor ops. Two modules share one table.
import { chip, h } from "./dom";
import { formatCount } from "./format";
import { Kind } from "./instructions";
import { Minimap } from "./minimap";
import type { Collectives, Model } from "./model";
import { filters, hasMetric, type LineOptions, ProgramLines, type RowMetric, rowMetrics } from "./program_lines";
import { ProgramPairs } from "./program_pairs";
import { metricTitles, ProgramTable } from "./program_table";
import { kindColors, type Page, type View } from "./view";

const kMaxPrintHeight = 8000;  // px, about 400 rows

export class ProgramView implements View {
  private page!: Page;
  private single!: ProgramTable;
  private pairs: ProgramPairs | null = null;
  private minimap!: Minimap;
  private readonly linesOfModule = new Map<number, ProgramLines>();
  private collectives: Collectives[] = [];
  private shownKey = "";
  private showNames = false;

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    root.classList.add("program");
    this.single = new ProgramTable(page, { select: (line) => this.selectLine(line), toggle: (line, recursive) => this.toggle(line, recursive), onScroll: () => this.drawMinimap() });
    this.minimap = new Minimap(this.single.table.scroller, () => ({ first: this.single.table.firstVisible, count: this.single.table.visibleCount, height: this.single.table.viewHeight + 47 }));
    this.single.table.element.classList.add("with-map");
    root.append(this.single.table.element, this.minimap.canvas);
    this.collectives = await Promise.all(page.models.map((model) => model.collectives()));
    if (page.models.length > 1) {
      const bOf = (await page.models[0]!.data.section("diff")).u32("b_of");
      this.pairs = new ProgramPairs(page, bOf, { select: (line) => this.selectLine(line), toggle: (line) => this.toggle(line, false) });
      root.append(this.pairs.table.element);
    }
    this.single.show(this.lines, this.collectives[page.current]!);
  }

  private get model(): Model { return this.page.models[this.page.current]!; }
  /** The lines of the current module. */
  private get lines(): ProgramLines {
    let lines = this.linesOfModule.get(this.page.current);
    if (!lines) this.linesOfModule.set(this.page.current, (lines = new ProgramLines(this.model, this.page.settings.get("open"))));
    return lines;
  }
  private get visiblePairs(): ProgramPairs | null { return this.page.settings.get("side") === "one" ? null : this.pairs; }
  private get filter(): string { return this.page.settings.get("ops") ?? "important"; }
  private get heaviestFirst(): boolean { return this.page.settings.get("by") === "heaviest"; }
  private get options(): LineOptions { return { filter: this.filter, heaviestFirst: this.heaviestFirst, hits: this.page.hits, showNames: this.showNames }; }

  update(): void {
    const { settings } = this.page;
    const pairs = this.visiblePairs;
    const key = [pairs ? "both" : this.page.current, ...["ops", "by", "q", "of"].map((each) => settings.get(each) ?? ""), this.page.hits ? 1 : 0, this.showNames].join("|");
    if (key !== this.shownKey) {
      this.shownKey = key;
      if (pairs) pairs.flatten(this.options, this.page.models.map((_, i) => this.page.hitsOf(i)));
      else {
        this.lines.flatten(this.options);
        this.single.show(this.lines, this.collectives[this.page.current]!);
      }
      this.single.table.element.hidden = this.minimap.canvas.hidden = pairs !== null;
      if (this.pairs) this.pairs.table.element.hidden = pairs === null;
      this.table.reset();
      if (this.page.hits) this.table.scroller.scrollTop = 0;
    }
    this.showSelection();
    if (!pairs) this.drawMinimap();
  }
  printHeight(): number { return Math.min(this.count * 20 + 60, kMaxPrintHeight); }
  private get table(): ProgramTable["table"] { return this.visiblePairs?.table ?? this.single.table; }
  private get count(): number { return this.visiblePairs?.lines.length ?? this.lines.count; }

  // ---- the selection
  private selectLine(line: number, mode: "push" | "replace" = "push"): void {
    const { module, row, id } = this.target(line);
    if (id >= 0) this.page.select({ kind: "instr", module, id }, mode);
    else this.page.select({ kind: "row", module, row }, mode);
  }
  private target(line: number): { module: number; row: number; id: number } {
    if (!this.visiblePairs) return { module: this.page.current, row: this.lines.rows[line]!, id: this.lines.instrOf(line) };
    const { module, row } = this.visiblePairs.target(line);
    return { module, row, id: this.page.models[module]!.rows.first(row) };
  }
  private get selectedLine(): number {
    const selection = this.page.selection;
    if (selection?.kind !== "row" && selection?.kind !== "instr") return -1;
    const row = selection.kind === "row" ? selection.row : this.page.models[selection.module]!.rowOf(selection.id);
    if (this.visiblePairs) return this.visiblePairs.lineOf(selection.module, row);
    return selection.kind === "row" ? this.lines.lineOf(row) : this.lines.lineOfInstruction(selection.id);
  }
  private showSelection(): void {
    const selection = this.page.selection;
    if (!this.visiblePairs && selection?.kind === "instr" && this.selectedLine < 0 && !this.page.hits && selection.module === this.page.current) {
      this.lines.reveal(selection.id);
      this.table.reset();
    }
    this.table.setSelected(this.selectedLine, true);
  }

  private canOpen(line: number): boolean { return line >= 0 && (this.visiblePairs ?? this.lines).canOpen(line); }
  private isOpen(line: number): boolean { return (this.visiblePairs ?? this.lines).isOpen(line); }
  private toggle(line: number, recursive: boolean, expand?: boolean): void {
    if (!this.canOpen(line)) return;
    if (this.visiblePairs) {
      this.visiblePairs.toggle(line, expand);
      this.visiblePairs.flatten(this.options, this.page.models.map((_, i) => this.page.hitsOf(i)));
    } else {
      this.lines.toggle(line, recursive, expand);
      const { open } = this.lines;
      if (open.size < 300) this.page.set("open", [...open].join("."), "replace");
    }
    this.table.reset();
    this.table.setSelected(this.selectedLine, false);
    this.drawMinimap();
  }

  // ---- chips and keys
  chips(): (Node | string)[] {
    const { page } = this;
    const hits = page.hits ? page.hits.reduce((sum, hit) => sum + hit, 0) : 0;
    const note = page.hits ? `${formatCount(hits)} of ${formatCount(this.model.instr.count)} instructions` : "per device and step";
    const out: (Node | string)[] = [];
    if (this.pairs) out.push(chip("both", this.visiblePairs !== null, () => page.set("side", this.visiblePairs ? "one" : "")), h("span", { class: "gap" }));
    out.push(...filters.map((each) => chip(each, this.filter === each, () => page.set("ops", each === "important" ? "" : each))), h("span", { class: "gap" }));
    if (this.visiblePairs) out.push("metric", ...rowMetrics.filter((each) => hasMetric(this.model, each)).map((each: RowMetric) => chip(metricTitles[each].replace(" *", ""), this.visiblePairs!.columns()[2]!.title === `A: ${metricTitles[each]}`, () => page.set("of", each))));
    else out.push(h("span", { class: "note" }, note));
    out.push(h("span", { class: "grow" }));
    if (this.visiblePairs) out.push(chip("largest change first", this.heaviestFirst, () => page.set("by", this.heaviestFirst ? "" : "heaviest")));
    else out.push(chip("names", this.showNames, () => { this.showNames = !this.showNames; page.redraw(); }), "order", chip("program", !this.heaviestFirst, () => page.set("by", "")), chip("heaviest first", this.heaviestFirst, () => page.set("by", "heaviest")));
    return out;
  }
  showsOneModule(): boolean { return this.visiblePairs === null; }
  keys(): [string, string][] { return [["↑↓", "row"], ["←→", "fold"], ["o u", "operand, user"], ["/", "search"]]; }

  key(event: KeyboardEvent): boolean {
    const line = this.selectedLine;
    const move = (to: number) => { if (this.count > 0) this.selectLine(Math.max(0, Math.min(to, this.count - 1)), "replace"); return true; };
    switch (event.key) {
      case "ArrowDown": return move(line + 1);
      case "ArrowUp": return move(line < 0 ? 0 : line - 1);
      case "Home": return move(0);
      case "End": return move(this.count - 1);
      case "PageDown": return move(line + this.table.visibleCount - 1);
      case "PageUp": return move(line - this.table.visibleCount + 1);
      case "ArrowRight": if (event.altKey) return false; this.toggle(line, event.shiftKey, true); return true;
      case "ArrowLeft": {
        if (event.altKey) return false;
        if (this.canOpen(line) && this.isOpen(line)) this.toggle(line, event.shiftKey, false);
        else if (line >= 0) this.moveToParent(line);
        return true;
      }
    }
    return false;
  }
  private moveToParent(line: number): void {
    const { module, row } = this.target(line);
    const parent = this.page.models[module]!.rows.parent[row]!;
    const parentLine = parent < 0 ? -1 : this.visiblePairs ? this.visiblePairs.lineOf(module, parent) : this.lines.lineOf(parent);
    if (parentLine >= 0) this.selectLine(parentLine, "replace");
  }

  private drawMinimap(): void {
    if (this.visiblePairs) return;
    const lines = this.lines;
    const palette = kindColors();
    const values = this.model.hasTime ? lines.sums.seconds : lines.sums.bytes;
    const maxValue = Math.max(this.model.hasTime ? lines.maxima.seconds : lines.maxima.bytes, 1e-300);
    this.minimap.draw(`${this.page.current} ${lines.version}`, lines.count, (line) => {
      if (lines.fusedInstr[line]! >= 0 || lines.isOpen(line)) return null;
      const id = lines.instrOf(line);
      return { share: values[lines.rows[line]!]! / maxValue, color: palette[id < 0 ? Kind.Elementwise : this.model.instr.kind[id]!]! };
    });
  }

  // ---- export
  csv(): (string | number)[][] {
    if (this.visiblePairs) return this.visiblePairs.csv();
    const { model, lines } = this;
    const out: (string | number)[][] = [["level", "label", "name", "computation", "type", "times", "flops", "bytes", "wire_bytes", "seconds", "measured_seconds", "op_name", "source"]];
    lines.rows.forEach((row, line) => {
      const id = lines.instrOf(line);
      const instrCells = id < 0 ? ["", "", "", ""] : [model.name(id), model.computation(id), model.type(id), model.instr.times[id]!];
      const values = rowMetrics.map((metric) => (lines.fusedInstr[line]! >= 0 ? 0 : lines.sums[metric][row]!));
      out.push([lines.depths[line]!, lines.label(line).join(" ").trim(), ...instrCells, ...values, id < 0 ? "" : model.scope(id), id < 0 ? "" : model.source(id)]);
    });
    return out;
  }

  state(): object {
    const { model } = this;
    const totals = { flops: 0, bytes: 0, wire: 0, seconds: 0, measured: 0 };
    for (let row = 0; row < model.rows.count; row = model.rows.end[row]!) for (const metric of rowMetrics) totals[metric] += this.lines.sums[metric][row]!;
    const pairs = this.visiblePairs;
    return {
      lines: this.count, first: this.table.firstVisible, shownRows: this.table.element.querySelectorAll(".tr").length, sums: totals, selectedLine: this.selectedLine,
      visible: pairs ? [] : this.visibleLines(), hits: this.page.hits ? this.page.hits.reduce((sum, hit) => sum + hit, 0) : null,
      marks: model.marks ? [0, 1, 2].map((mark) => model.marks!.reduce((sum, each) => sum + (each === mark ? 1 : 0), 0)) : null,
      pairs: pairs ? pairs.csv().slice(1) : null,
    };
  }
  private visibleLines(): object[] {
    const { lines } = this;
    const first = this.single.table.firstVisible;
    return Array.from({ length: Math.max(Math.min(this.single.table.visibleCount, lines.count - first), 0) }, (_, i) => {
      const line = first + i;
      const id = lines.instrOf(line);
      return { label: lines.label(line).join(" ").trim(), name: id < 0 ? "" : this.model.name(id), depth: lines.depths[line]!, open: lines.isOpen(line), ...Object.fromEntries(rowMetrics.map((metric) => [metric, lines.sums[metric][lines.rows[line]!]!])) };
    });
  }
}
