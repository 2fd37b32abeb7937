// The op table below the lanes: predicted time per step, and with a profile also the measured time.
import { type Cell, formatExact } from "./cells";
import { displayText } from "./dom";
import { formatCount, formatPercent, formatSeconds, formatSigned } from "./format";
import type { Model } from "./model";
import { type Column, type TableSource, VirtualTable } from "./table";
import type { Page } from "./view";

export class TimelineOps implements TableSource {
  readonly table = new VirtualTable(this, "ops by time");
  private ids: number[] = [];
  private total = 0;
  private maxSeconds = 1;

  constructor(private readonly page: Page) {}

  private get model(): Model { return this.page.models[this.page.current]!; }
  /** Sorts by prediction error if there is a profile, else by time. */
  show(): void {
    const { instr, hasMeasured } = this.model;
    const weight = (id: number) => (hasMeasured ? Math.abs(instr.measured[id]! - instr.seconds[id]!) : instr.seconds[id]!);
    this.ids = Array.from(instr.seconds.keys()).filter((id) => instr.seconds[id]! > 0 || instr.measured[id]! > 0).sort((a, b) => weight(b) - weight(a));
    this.maxSeconds = this.ids.reduce((max, id) => Math.max(max, instr.seconds[id]!, instr.measured[id]!), 1e-300);
    this.total = instr.seconds.reduce((sum, each) => sum + each, 0);
    this.table.reset();
    this.updateSelection();
  }
  updateSelection(): void {
    const selection = this.page.selection;
    this.table.setSelected(selection?.kind === "instr" && selection.module === this.page.current ? this.ids.indexOf(selection.id) : -1, true);
  }

  columns(): Column[] {
    const measuredColumns: Column[] = this.model.hasMeasured ? [{ key: "measured", title: "measured", width: 92, class: "num" }, { key: "change", title: "error", width: 92, class: "num" }] : [{ key: "share", title: "% of step", width: 92, class: "num" }];
    return [{ key: "name", title: this.model.hasMeasured ? "instruction, largest prediction error first" : "instruction, longest first", width: 0, class: "label" }, { key: "label", title: "op", width: 220, class: "soft" }, { key: "times", title: "×", width: 56, class: "num soft" }, { key: "seconds", title: "time *", width: 92, class: "num" }, ...measuredColumns];
  }
  count(): number { return this.ids.length; }
  fill(line: number, _row: HTMLElement, cells: Cell[]): void {
    const id = this.ids[line]!;
    const { instr, hasMeasured } = this.model;
    const kind = instr.kind[id]!;
    const [predicted, measured] = [instr.seconds[id]!, instr.measured[id]!];
    cells[0]!.setLabel({ indent: 8, mark: "", fold: "", foldOnHover: false, kind, label: this.model.name(id), detail: "" });
    cells[1]!.setText(displayText(this.model.label(id), 60));
    cells[2]!.setText(instr.times[id] === 1 ? "" : formatCount(instr.times[id]!));
    cells[3]!.setNumber(predicted > 0 ? formatSeconds(predicted) : "", predicted / this.maxSeconds, kind);
    if (!hasMeasured) { cells[4]!.setText(formatPercent(predicted / Math.max(this.total, 1e-300))); return; }
    cells[4]!.setNumber(measured > 0 ? formatSeconds(measured) : "", measured / this.maxSeconds, kind);
    cells[5]!.setText(formatSigned(measured - predicted, formatSeconds(Math.abs(measured - predicted))));
  }
  tooltip(line: number, key: string): string {
    const { instr } = this.model;
    const id = this.ids[line]!;
    return key === "seconds" ? formatExact(instr.seconds[id]!) : key === "measured" ? formatExact(instr.measured[id]!) : "";
  }
  click(line: number): void { this.page.select({ kind: "instr", module: this.page.current, id: this.ids[line]! }); }
}
