// The ledger: collectives as a sortable table, alike ones as one row.
import { type Cell, exact } from "./cells";
import { visible } from "./dom";
import { bytes, count, counted, scaled } from "./format";
import { Kind } from "./instructions";
import type { PairRules } from "./matrix";
import type { Collectives, Join, Model } from "./model";
import { type Column, type TableSource, VirtualTable } from "./table";
import type { Page } from "./view";

/** A row of the ledger: alike collectives, or one of them. */
interface Line { group: number; use: number }
export interface Alike { uses: number[]; kind: string; axis: string; payload: number; ring: number; direct: number; across: number; nodes: number; times: number; sync: number; bare: number }
/** One module's collectives. */
export interface Side { model: Model; all: Collectives; joins: Join[]; rules: PairRules; alike: Alike[] }

export function alikeOf(model: Model, all: Collectives): Alike[] {
  const out: Alike[] = [];
  for (let i = 0; i < all.count; ++i) {
    const group = all.alike[i]!;
    const each = (out[group] ??= { uses: [], kind: model.string(all.kind[i]!), axis: model.axisOf.get(all.start[i]!) ?? "", payload: all.payload[i]!, ring: 0, direct: 0, across: 0, nodes: 1, times: 0, sync: 0, bare: 0 });
    each.uses.push(i);
    each.ring += all.times[i]! * all.ring[i]!;
    each.direct += all.times[i]! * all.direct[i]!;
    each.across += all.times[i]! * all.acrossDirect[i]!;
    each.times += all.times[i]!;
    each.nodes = Math.max(each.nodes, all.nodes[i]!);
    if (all.overlap[i]! < 0) ++each.sync;
    else if (all.overlap[i] === 0) ++each.bare;
  }
  return out;
}

export class Ledger implements TableSource {
  readonly table = new VirtualTable(this, "collectives");
  lines: Line[] = [];
  private readonly open = new Set<number>();
  private side!: Side;
  private most = { ring: 1, direct: 1 };

  constructor(private readonly page: Page, private readonly choose: (group: number, use: number) => void) {}

  private get sort(): string { return this.page.settings.get("sort") ?? "-direct"; }

  show(side: Side, axis: string, selected: number): void {
    if (this.side !== side) this.open.clear();
    this.side = side;
    this.most = { ring: Math.max(...side.alike.map((each) => each.ring), 1), direct: Math.max(...side.alike.map((each) => each.direct), 1) };
    const query = (this.page.settings.get("q") ?? "").toLowerCase().split(/\s+/).filter((word) => word !== "").map((word) => word.replace(/^(axis|opcode|name):/, ""));
    const field = this.sort.replace(/^-/, "") as keyof Alike;
    const order = side.alike.map((_, group) => group).filter((group) => {
      const each = side.alike[group]!;
      return query.every((word) => `${each.kind} ${each.axis}`.toLowerCase().includes(word)) && (axis === "" || side.joins[side.all.joins[each.uses[0]!]!]!.axis === axis);
    });
    order.sort((x, y) => {
      const [a, b] = [side.alike[x]![field], side.alike[y]![field]];
      const compared = typeof a === "string" ? a.localeCompare(b as string) : (a as number) - (b as number);
      return (this.sort.startsWith("-") ? -compared : compared) || x - y;
    });
    this.lines = [];
    for (const group of order) {
      this.lines.push({ group, use: -1 });
      if (this.open.has(group)) for (const use of side.alike[group]!.uses) this.lines.push({ group, use });
    }
    this.table.reset();
    this.table.mark(this.lines.findIndex((line) => line.group === selected && line.use < 0), true);
  }

  columns(): Column[] {
    const column = (key: string, title: string, width: number, cls: string): Column => ({
      key, width, class: cls, title: title + (this.sort === `-${key}` ? " ▾" : this.sort === key ? " ▴" : ""),
      sort: () => this.page.set("sort", this.sort === `-${key}` ? key : `-${key}`) });
    const wide = this.table.width > 900;
    const columns = [column("kind", "collective", wide ? 200 : 178, "what"), column("axis", "axis", wide ? 150 : 0, "mono"), column("payload", "payload", wide ? 84 : 72, "num"), column("times", "× per step", wide ? 84 : 70, "num soft"), column("ring", "ring / step", wide ? 110 : 88, "num"), column("direct", "direct / step", wide ? 110 : 92, "num"), column("across", "across †", wide ? 90 : 76, "num")];
    return wide ? [...columns, { key: "overlap", title: "overlap", width: 0, class: "soft" }] : columns;
  }
  count(): number { return this.lines.length; }
  level(line: number): number { return this.lines[line]!.use < 0 ? 0 : 1; }
  private many(group: number): boolean { return this.side.alike[group]!.uses.length > 1; }
  expanded(line: number): boolean | undefined {
    const { group, use } = this.lines[line]!;
    return use < 0 && this.many(group) ? this.open.has(group) : undefined;
  }

  private figures(line: number): { payload: number; times: number; ring: number; direct: number; across: number } {
    const { group, use } = this.lines[line]!;
    const { all, alike } = this.side;
    if (use < 0) return alike[group]!;
    const times = all.times[use]!;
    return { payload: all.payload[use]!, times, ring: all.ring[use]! * times, direct: all.direct[use]! * times, across: all.acrossDirect[use]! * times };
  }
  private overlap(line: number): string {
    const { group, use } = this.lines[line]!;
    const { all, alike } = this.side;
    if (use >= 0) return all.overlap[use]! < 0 ? "sync: nothing" : all.overlap[use] === 0 ? "nothing" : `${counted(all.overlap[use]!, "op")}, ${scaled(all.overlapFlops[use]!)}flop`;
    const { uses, sync, bare } = alike[group]!;
    if (sync === uses.length) return "sync: nothing";
    return bare === uses.length ? "async: nothing" : `${count(uses.length - sync - bare)} of ${count(uses.length)} overlap`;
  }

  fill(line: number, _row: HTMLElement, cells: Cell[]): void {
    const { group, use } = this.lines[line]!;
    const alike = this.side.alike[group]!;
    const values = this.figures(line);
    const one = use >= 0;
    const fold = !one && this.many(group) ? (this.open.has(group) ? "▾" : "▸") : "";
    cells[0]!.what({ indent: one ? 22 : 6, mark: "", fold, inner: false, kind: Kind.Collective, words: one ? this.side.model.name(this.side.all.start[use]!) : alike.kind, aside: !one && this.many(group) ? `× ${count(alike.uses.length)}` : "" });
    cells[1]!.text(visible(alike.axis));
    cells[2]!.text(bytes(values.payload));
    cells[3]!.text(`× ${count(values.times)}`);
    cells[4]!.number(bytes(values.ring), values.ring / this.most.ring, Kind.Collective);
    cells[5]!.number(bytes(values.direct), values.direct / this.most.direct, Kind.Collective);
    cells[6]!.text(values.across > 0 ? bytes(values.across) : "–");
    cells[7]?.text(this.overlap(line));
  }
  hint(line: number, key: string): string {
    const values = this.figures(line);
    return key in values ? exact(values[key as "ring"]) : key === "axis" ? visible(this.side.alike[this.lines[line]!.group]!.axis, 400) : "";
  }

  click(line: number, event: MouseEvent): void {
    const { group, use } = this.lines[line]!;
    if ((event.target as HTMLElement).classList.contains("fold")) this.toggle(group);
    else this.choose(group, use);
  }
  toggle(group: number, to?: boolean): void {
    if (to ?? !this.open.has(group)) this.open.add(group); else this.open.delete(group);
    this.page.redraw();
  }
  isOpen(group: number): boolean { return this.open.has(group); }
  get openGroups(): string { return [...this.open].join("."); }
}
