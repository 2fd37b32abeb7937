// The program as a table: loops, layers and light ops folded, down to the instruction. Of two modules, both in one.
import { chip, h } from "./dom";
import { count } from "./format";
import { Kind } from "./instructions";
import { Minimap } from "./minimap";
import type { Collectives, Model } from "./model";
import { type Figure, figures, filters, hasFigure, type LineOptions, ProgramLines } from "./program_lines";
import { ProgramPairs } from "./program_pairs";
import { figureTitles, ProgramTable } from "./program_table";
import { kindColors, type Page, type View } from "./view";

export class ProgramView implements View {
  private page!: Page;
  private one!: ProgramTable;
  private pairs: ProgramPairs | null = null;
  private minimap!: Minimap;
  private readonly lines = new Map<number, ProgramLines>();
  private collectives: Collectives[] = [];
  private shownFor = "";
  private names = false;

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    root.classList.add("program");
    this.one = new ProgramTable(page, { select: (line) => this.selectLine(line), toggle: (line, all) => this.toggle(line, all), scrolled: () => this.drawMinimap() });
    this.minimap = new Minimap(this.one.table.scroller, () => ({ first: this.one.table.firstVisible, count: this.one.table.visibleCount, height: this.one.table.viewHeight + 47 }));
    this.one.table.element.classList.add("with-map");
    root.append(this.one.table.element, this.minimap.canvas);
    this.collectives = await Promise.all(page.models.map((model) => model.collectives()));
    if (page.models.length > 1) {
      const bOf = (await page.models[0]!.data.section("diff")).u32("b_of");
      this.pairs = new ProgramPairs(page, bOf, { select: (line) => this.selectLine(line), toggle: (line) => this.toggle(line, false) });
      root.append(this.pairs.table.element);
    }
    this.one.show(this.at, this.collectives[page.current]!);
  }

  private get model(): Model { return this.page.models[this.page.current]!; }
  /** The lines of the module that is shown. */
  private get at(): ProgramLines {
    let lines = this.lines.get(this.page.current);
    if (!lines) this.lines.set(this.page.current, (lines = new ProgramLines(this.model, this.page.settings.get("open"))));
    return lines;
  }
  private get together(): ProgramPairs | null { return this.page.settings.get("side") === "one" ? null : this.pairs; }
  private get filter(): string { return this.page.settings.get("ops") ?? "important"; }
  private get heaviest(): boolean { return this.page.settings.get("by") === "heaviest"; }
  private get options(): LineOptions { return { filter: this.filter, heaviest: this.heaviest, hits: this.page.hits, names: this.names }; }

  update(): void {
    const { settings } = this.page;
    const pairs = this.together;
    const key = [pairs ? "both" : this.page.current, ...["ops", "by", "q", "of"].map((each) => settings.get(each) ?? ""), this.page.hits ? 1 : 0, this.names].join("|");
    if (key !== this.shownFor) {
      this.shownFor = key;
      if (pairs) pairs.flatten(this.options, this.page.models.map((_, i) => this.page.hitsOf(i)));
      else {
        this.at.flatten(this.options);
        this.one.show(this.at, this.collectives[this.page.current]!);
      }
      this.one.table.element.hidden = this.minimap.canvas.hidden = pairs !== null;
      if (this.pairs) this.pairs.table.element.hidden = pairs === null;
      this.table.reset();
      if (this.page.hits) this.table.scroller.scrollTop = 0;
    }
    this.showSelection();
    if (!pairs) this.drawMinimap();
  }
  private get table(): ProgramTable["table"] { return this.together?.table ?? this.one.table; }
  private get count(): number { return this.together?.lines.length ?? this.at.count; }

  // ---- the selection
  private selectLine(line: number, how: "push" | "replace" = "push"): void {
    const { module, row, id } = this.target(line);
    if (id >= 0) this.page.select({ kind: "instr", module, id }, how);
    else this.page.select({ kind: "row", module, row }, how);
  }
  private target(line: number): { module: number; row: number; id: number } {
    if (!this.together) return { module: this.page.current, row: this.at.rows[line]!, id: this.at.instrOf(line) };
    const { module, row } = this.together.target(line);
    return { module, row, id: this.page.models[module]!.rows.first(row) };
  }
  private get selectedLine(): number {
    const selection = this.page.selection;
    if (selection?.kind !== "row" && selection?.kind !== "instr") return -1;
    const row = selection.kind === "row" ? selection.row : this.page.models[selection.module]!.rowOf(selection.id);
    if (this.together) return this.together.lineOf(selection.module, row);
    return selection.kind === "row" ? this.at.lineOf(row) : this.at.lineOfInstruction(selection.id);
  }
  private showSelection(): void {
    const selection = this.page.selection;
    if (!this.together && selection?.kind === "instr" && this.selectedLine < 0 && !this.page.hits && selection.module === this.page.current) {
      this.at.reveal(selection.id);
      this.table.reset();
    }
    this.table.mark(this.selectedLine, true);
  }

  private canOpen(line: number): boolean { return line >= 0 && (this.together ?? this.at).canOpen(line); }
  private isOpen(line: number): boolean { return (this.together ?? this.at).isOpen(line); }
  private toggle(line: number, all: boolean, to?: boolean): void {
    if (!this.canOpen(line)) return;
    if (this.together) {
      this.together.toggle(line, to);
      this.together.flatten(this.options, this.page.models.map((_, i) => this.page.hitsOf(i)));
    } else {
      this.at.toggle(line, all, to);
      const { open } = this.at;
      if (open.size < 300) this.page.set("open", [...open].join("."), "replace");
    }
    this.table.reset();
    this.table.mark(this.selectedLine, false);
    this.drawMinimap();
  }

  // ---- the frame
  chips(): (Node | string)[] {
    const { page } = this;
    const hits = page.hits ? page.hits.reduce((sum, hit) => sum + hit, 0) : 0;
    const note = page.hits ? `${count(hits)} of ${count(this.model.instr.count)} instructions` : "per step, of one device";
    const out: (Node | string)[] = [];
    if (this.pairs) out.push(chip("both", this.together !== null, () => page.set("side", this.together ? "one" : "")), h("span", { class: "gap" }));
    out.push(...filters.map((each) => chip(each, this.filter === each, () => page.set("ops", each === "important" ? "" : each))), h("span", { class: "gap" }));
    if (this.together) out.push("of", ...figures.filter((each) => hasFigure(this.model, each)).map((each: Figure) => chip(figureTitles[each].replace(" *", ""), this.together!.columns()[2]!.title === `A: ${figureTitles[each]}`, () => page.set("of", each))));
    else out.push(h("span", { class: "note" }, note));
    out.push(h("span", { class: "grow" }));
    if (this.together) out.push(chip("by change", this.heaviest, () => page.set("by", this.heaviest ? "" : "heaviest")));
    else out.push(chip("names", this.names, () => { this.names = !this.names; page.redraw(); }), "order", chip("program", !this.heaviest, () => page.set("by", "")), chip("heaviest", this.heaviest, () => page.set("by", "heaviest")));
    return out;
  }
  oneSided(): boolean { return this.together === null; }
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
    const to = parent < 0 ? -1 : this.together ? this.together.lineOf(module, parent) : this.at.lineOf(parent);
    if (to >= 0) this.selectLine(to, "replace");
  }

  private drawMinimap(): void {
    if (this.together) return;
    const lines = this.at;
    const palette = kindColors();
    const values = this.model.hasTime ? lines.sums.seconds : lines.sums.bytes;
    const most = Math.max(this.model.hasTime ? lines.most.seconds : lines.most.bytes, 1e-300);
    this.minimap.draw(`${this.page.current} ${lines.version}`, lines.count, (line) => {
      if (lines.inside[line]! >= 0 || lines.isOpen(line)) return null;
      const id = lines.instrOf(line);
      return { share: values[lines.rows[line]!]! / most, color: palette[id < 0 ? Kind.Elementwise : this.model.instr.kind[id]!]! };
    });
  }

  // ---- for others
  csv(): (string | number)[][] {
    if (this.together) return this.together.csv();
    const { model, at } = this;
    const out: (string | number)[][] = [["level", "what", "name", "computation", "type", "times", "flops", "bytes", "wire_bytes", "seconds", "measured_seconds", "op_name", "source"]];
    at.rows.forEach((row, line) => {
      const id = at.instrOf(line);
      const named = id < 0 ? ["", "", "", ""] : [model.name(id), model.computation(id), model.type(id), model.instr.times[id]!];
      const values = figures.map((figure) => (at.inside[line]! >= 0 ? 0 : at.sums[figure][row]!));
      out.push([at.depths[line]!, at.words(line).join(" ").trim(), ...named, ...values, id < 0 ? "" : model.scope(id), id < 0 ? "" : model.source(id)]);
    });
    return out;
  }

  state(): object {
    const { model } = this;
    const top = { flops: 0, bytes: 0, wire: 0, seconds: 0, measured: 0 };
    for (let row = 0; row < model.rows.count; row = model.rows.end[row]!) for (const figure of figures) top[figure] += this.at.sums[figure][row]!;
    const pairs = this.together;
    return {
      lines: this.count, first: this.table.firstVisible, shownRows: this.table.element.querySelectorAll(".tr").length, sums: top, selectedLine: this.selectedLine,
      visible: pairs ? [] : this.visibleLines(), hits: this.page.hits ? this.page.hits.reduce((sum, hit) => sum + hit, 0) : null,
      marks: model.marks ? [0, 1, 2].map((mark) => model.marks!.reduce((sum, each) => sum + (each === mark ? 1 : 0), 0)) : null,
      pairs: pairs ? pairs.csv().slice(1) : null,
    };
  }
  private visibleLines(): object[] {
    const { at } = this;
    const first = this.one.table.firstVisible;
    return Array.from({ length: Math.max(Math.min(this.one.table.visibleCount, at.count - first), 0) }, (_, i) => {
      const line = first + i;
      const id = at.instrOf(line);
      return { words: at.words(line).join(" ").trim(), name: id < 0 ? "" : this.model.name(id), depth: at.depths[line]!, open: at.isOpen(line), ...Object.fromEntries(figures.map((figure) => [figure, at.sums[figure][at.rows[line]!]!])) };
    });
  }
}
