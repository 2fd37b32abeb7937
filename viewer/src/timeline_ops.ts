// The ops below the lanes: what the step takes of each, and with a profile what was measured.
import { type Cell, exact } from "./cells";
import { visible } from "./dom";
import { count, percent, seconds } from "./format";
import type { Model } from "./model";
import { type Column, type TableSource, VirtualTable } from "./table";
import type { Page } from "./view";

export class TimelineOps implements TableSource {
  readonly table = new VirtualTable(this, "ops by time");
  private ids: number[] = [];
  private total = 0;

  constructor(private readonly page: Page) {}

  private get model(): Model { return this.page.models[this.page.current]!; }
  /** With a profile those first that are furthest from it; else the longest. */
  show(): void {
    const { instr, hasMeasured } = this.model;
    const weight = (id: number) => (hasMeasured ? Math.abs(instr.measured[id]! - instr.seconds[id]!) : instr.seconds[id]!);
    this.ids = Array.from(instr.seconds.keys()).filter((id) => instr.seconds[id]! > 0 || instr.measured[id]! > 0).sort((a, b) => weight(b) - weight(a));
    this.total = instr.seconds.reduce((sum, each) => sum + each, 0);
    this.table.reset();
    this.mark();
  }
  mark(): void {
    const selection = this.page.selection;
    this.table.mark(selection?.kind === "instr" && selection.module === this.page.current ? this.ids.indexOf(selection.id) : -1, true);
  }

  columns(): Column[] {
    const measured: Column[] = this.model.hasMeasured ? [{ key: "measured", title: "measured", width: 92, class: "num" }, { key: "change", title: "off by", width: 92, class: "num" }] : [{ key: "share", title: "of the step", width: 92, class: "num" }];
    return [{ key: "what", title: this.model.hasMeasured ? "op, furthest from its prediction first" : "op, longest first", width: 0, class: "what" }, { key: "words", title: "what", width: 220, class: "soft" }, { key: "times", title: "×", width: 56, class: "num soft" }, { key: "seconds", title: "time *", width: 92, class: "num" }, ...measured];
  }
  count(): number { return this.ids.length; }
  fill(line: number, _row: HTMLElement, cells: Cell[]): void {
    const id = this.ids[line]!;
    const { instr, hasMeasured } = this.model;
    const kind = instr.kind[id]!;
    const most = Math.max(...this.ids.slice(0, 1).map((each) => Math.max(instr.seconds[each]!, instr.measured[each]!)), 1e-300);
    const [predicted, measured] = [instr.seconds[id]!, instr.measured[id]!];
    cells[0]!.what({ indent: 8, mark: "", fold: "", inner: false, kind, words: this.model.name(id), aside: "" });
    cells[1]!.text(visible(this.model.words(id), 60));
    cells[2]!.text(instr.times[id] === 1 ? "" : count(instr.times[id]!));
    cells[3]!.number(predicted > 0 ? seconds(predicted) : "", predicted / most, kind);
    if (!hasMeasured) { cells[4]!.text(percent(predicted / Math.max(this.total, 1e-300))); return; }
    cells[4]!.number(measured > 0 ? seconds(measured) : "", measured / most, kind);
    cells[5]!.text(`${measured >= predicted ? "+" : "−"}${seconds(Math.abs(measured - predicted))}`);
  }
  hint(line: number, key: string): string {
    const { instr } = this.model;
    const id = this.ids[line]!;
    return key === "seconds" ? exact(instr.seconds[id]!) : key === "measured" ? exact(instr.measured[id]!) : "";
  }
  click(line: number): void { this.page.select({ kind: "instr", module: this.page.current, id: this.ids[line]! }); }
}
