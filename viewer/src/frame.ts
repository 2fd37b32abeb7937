// The frame around the views: tabs, totals bar, chips, panel and status bar. It keeps the view, the selection and the
// page's address in sync.
import { ArrayTable } from "./array_table";
import { CommunicationView } from "./communication";
import { CostView } from "./cost";
import { DataError } from "./data";
import { chip, clear, displayText, glyph, h } from "./dom";
import { savePicture, saveTable } from "./export_files";
import { GraphView } from "./graph";
import { showHelp } from "./help";
import { kindNames } from "./instructions";
import { MemoryView } from "./memory";
import type { Model } from "./model";
import { OverviewView } from "./overview";
import { Panel } from "./panel";
import { type Section, setUpPrinting } from "./print";
import { ProgramView } from "./program";
import { search } from "./search";
import { formatFragment, parseFragment, type Selection, type Settings, type ViewName, viewNames } from "./state";
import { TimelineView } from "./timeline";
import { drawTotalsBar } from "./totals_bar";
import type { Page, View } from "./view";

const titles: { [name in ViewName]: string } = { overview: "Overview", program: "Program", timeline: "Timeline", memory: "Memory", communication: "Communication", cost: "Cost", graph: "Graph" };
const kNarrowWidth = 1024;
const kPrepareDelay = 1500;               // ms until the data of all views is loaded, for printing
const kMaxPreparedInstructions = 20_000;  // in larger modules, the data of a view is loaded when it is opened or printed

export class Frame implements Page {
  current = 0;
  selection: Selection | null = null;
  settings: Settings = new Map();
  private view: ViewName = "overview";
  private readonly views = new Map<ViewName, Section>();
  private readonly totalsBar = h("div", { class: "totals-bar", role: "group", "aria-label": "totals per device and step" });
  private readonly chipBar = h("div", { class: "chips", role: "toolbar", "aria-label": "options of this view" });
  private readonly host = h("main", { class: "view", id: "view" });
  private readonly status = h("footer", { class: "status" });
  private readonly panelRoot = h("aside", { class: "panel", "aria-label": "selection" });
  private readonly tabs = new Map<ViewName, HTMLElement>();
  private readonly input = h("input", { type: "search", placeholder: "name, opcode:, scope:, line:, type: …", "aria-label": "search instructions", spellcheck: "false" });
  private readonly panel: Panel;
  private readonly asTable = new ArrayTable();
  private readonly tableRoot = h("div", { class: "as-table", hidden: true }, this.asTable.table.element);
  private message = "";
  private panelClosed = innerWidth < kNarrowWidth;

  constructor(private readonly app: HTMLElement, readonly models: Model[], private readonly overview: HTMLElement) {
    this.panel = new Panel(this.panelRoot, this, () => this.togglePanel(false), () => this.entry?.view.panel?.() ?? null);
    const tablist = h("div", { role: "tablist", "aria-label": "views" });
    for (const each of viewNames) {
      const tab = h("button", { role: "tab", id: `tab-${each}`, "aria-controls": "view", onclick: () => this.go(each) }, titles[each]);
      this.tabs.set(each, tab);
      tablist.append(tab);
    }
    app.append(h("header", {}, h("span", { class: "brand" }, "shoal"), tablist, h("div", { class: "search" }, this.input, h("kbd", { "aria-hidden": "true" }, "/")),
      h("button", { class: "icon", title: "theme (t)", "aria-label": "theme", onclick: () => this.toggleTheme() }, "◐"),
      h("button", { class: "icon", title: "keyboard shortcuts (?)", "aria-label": "keyboard shortcuts", onclick: showHelp }, "?")),
      this.totalsBar, this.chipBar, this.host, this.panelRoot, this.status);
    this.host.append(this.tableRoot);
    this.input.addEventListener("input", () => this.onSearchInput(this.input.value));
    document.addEventListener("keydown", (event) => this.onKey(event));
    addEventListener("hashchange", () => void this.open());
    new ResizeObserver(() => this.redraw()).observe(this.host);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    try {
      const theme = localStorage.getItem("shoal-theme");
      if (theme) document.documentElement.dataset.theme = theme;
    } catch { /* storage is unavailable: use the system's theme */ }
  }

  async start(): Promise<void> {
    drawTotalsBar(this.totalsBar, this.models);
    await this.panel.prepare();
    await this.open();
    setUpPrinting({ app: this.app, sections: this.views, titles, loadAll: () => this.loadAll(), restore: () => this.show(this.view) });
    setTimeout(() => { if (this.models[0]!.instr.count <= kMaxPreparedInstructions) void this.loadAll(); }, kPrepareDelay);
  }
  /** Loads the data of all views, so that they can be printed. */
  private async loadAll(): Promise<void> {
    for (const name of viewNames) { const { root, ready } = this.sectionOf(name); root.hidden = name !== this.view; await ready; }
  }
  private get entry(): Section | undefined { return this.views.get(this.view); }

  // ---- the address
  private async open(): Promise<void> {
    const address = parseFragment(location.hash);
    this.settings = address.settings;
    this.message = address.error;
    this.current = this.settings.get("m") === "b" && this.models.length > 1 ? 1 : 0;
    this.selection = this.selectionFromAddress();
    if (this.settings.get("i") && !this.selection) {
      this.message = `no instruction named ${this.settings.get("i")!.slice(0, 80)} in this module`;
      this.settings.delete("i");
      address.view = "overview";
    }
    this.input.value = this.settings.get("q") ?? "";
    await this.runSearch(this.input.value);
    this.show(address.view);
  }
  private selectionFromAddress(): Selection | null {
    const module = this.current;
    const [instr, row] = [this.settings.get("i"), Number(this.settings.get("r") || NaN)];
    if (instr) { const id = this.models[module]!.find(instr); return id < 0 ? null : { kind: "instr", module, id }; }
    return Number.isInteger(row) && row >= 0 && row < this.models[module]!.rows.count ? { kind: "row", module, row } : null;
  }
  private writeAddress(mode: "push" | "replace"): void {
    const fragment = formatFragment(this.view, this.settings);
    if (fragment === location.hash) return;
    if (mode === "push") history.pushState(null, "", fragment);
    else history.replaceState(null, "", fragment);
  }

  // ---- the Page interface, used by views
  select(selection: Selection | null, mode: "push" | "replace" = "push"): void {
    this.selection = selection;
    if (selection && "module" in selection) this.current = selection.module;
    if (this.models.length > 1) this.settings.set("m", this.current === 1 ? "b" : "");
    this.settings.set("i", selection?.kind === "instr" ? this.models[selection.module]!.address(selection.id) : "");
    this.settings.set("r", selection?.kind === "row" ? String(selection.row) : "");
    if (selection) this.togglePanel(true);
    this.message = "";
    this.writeAddress(mode);
    this.redraw();
  }
  set(key: string, value: string, mode: "push" | "replace" = "push"): void {
    this.settings.set(key, value);
    this.writeAddress(mode);
    this.redraw();
  }
  go(view: ViewName, settings: [string, string][] = []): void {
    if (view === this.view && settings.length === 0) return;
    const keep: Settings = new Map();
    for (const key of ["i", "r", "m", "q"]) if (this.settings.get(key)) keep.set(key, this.settings.get(key)!);
    this.settings = keep;
    for (const [key, value] of settings) this.settings.set(key, value);
    this.input.value = this.settings.get("q") ?? "";
    this.view = view;
    this.message = "";
    this.writeAddress("push");
    void this.runSearch(this.input.value).then(() => this.show(view));
  }
  showMessage(text: string): void {
    this.message = text;
    this.drawStatus();
  }
  redraw(): void {
    const entry = this.entry;
    if (!entry) return;
    void Promise.resolve(entry.ready).then(() => {
      if (this.entry !== entry) return;
      this.drawView(entry);
      this.drawChips(entry.view);
      this.drawStatus();
      this.panel.draw();
    });
  }
  private drawView(entry: Section): void {
    entry.view.update();
    const asTable = this.settings.get("table") === "1" ? entry.view.asTable?.() ?? entry.view.csv?.() : undefined;
    this.tableRoot.hidden = asTable === undefined;
    entry.root.hidden = asTable !== undefined;
    if (asTable) this.asTable.show(asTable);
  }

  // ---- search
  get hits(): Uint8Array | null { return this.searchHits[this.current] ?? null; }
  hitsOf(module: number): Uint8Array | null { return this.searchHits[module] ?? null; }
  private searchHits: (Uint8Array | null)[] = [];
  private lastQuery = "";
  private onSearchInput(text: string): void {
    this.settings.set("q", text);
    void this.runSearch(text).then(() => {
      if (text !== "" && this.view !== "program" && this.view !== "communication") { this.settings = new Map([["q", text]]); this.view = "program"; this.show("program"); }
      this.writeAddress("replace");
      this.redraw();
    });
  }
  private async runSearch(text: string): Promise<void> {
    if (text === this.lastQuery) return;
    this.lastQuery = text;
    const hits = await Promise.all(this.models.map((model) => search(model, text)));
    if (text === this.lastQuery) this.searchHits = hits;
  }

  // ---- drawing
  private createView(view: ViewName): View {
    switch (view) {
      case "overview": return new OverviewView(this.overview);
      case "program": return new ProgramView();
      case "timeline": return new TimelineView();
      case "memory": return new MemoryView();
      case "communication": return new CommunicationView();
      case "cost": return new CostView();
      case "graph": return new GraphView();
    }
  }
  private sectionOf(name: ViewName): Section {
    let section = this.views.get(name);
    if (!section) {
      const root = h("div", { class: "tabpanel", role: "tabpanel", "aria-labelledby": `tab-${name}` });
      const view = this.createView(name);
      this.host.append(root);
      const created: Section = { view, root, isReady: false, ready: Promise.resolve(view.mount(root, this)).then(() => { created.isReady = true; }, (error: unknown) => this.showFailure(root, error)) };
      section = created;
      this.views.set(name, section);
    }
    return section;
  }
  private show(view: ViewName): void {
    this.view = view;
    this.sectionOf(view);
    for (const [other, { root }] of this.views) root.hidden = other !== view;
    for (const [each, tab] of this.tabs) { tab.setAttribute("aria-selected", String(each === view)); tab.tabIndex = each === view ? 0 : -1; }
    this.app.classList.toggle("closed", this.panelClosed || view === "overview");
    this.redraw();
  }
  private showFailure(root: HTMLElement, error: unknown): void {
    clear(root);
    root.append(h("p", { class: "failure" }, error instanceof DataError ? error.message : `this view failed with an error: ${String(error)}`));
  }
  private togglePanel(open: boolean): void {
    this.panelClosed = !open;
    this.app.classList.toggle("closed", this.panelClosed || this.view === "overview");
  }

  private drawChips(view: View): void {
    const sideChip = (letter: string, i: number) => chip(letter, this.current === i, () => { this.current = i; this.selection = null; this.settings.set("m", i === 1 ? "b" : ""); this.settings.set("i", ""); this.settings.set("r", ""); this.writeAddress("push"); this.redraw(); });
    const sideChips = this.models.length > 1 && view.showsOneModule?.() !== false ? [...["A", "B"].map(sideChip), h("span", { class: "gap" })] : [];
    const asTable = this.settings.get("table") === "1";
    const picture = view.picture?.();
    const exportChips = [
      picture || asTable ? chip("as table", asTable, () => this.toggleTable()) : "",
      view.csv ? chip("CSV", false, () => this.showMessage(saveTable(this.view, view))) : "",
      picture ? chip(picture instanceof HTMLCanvasElement ? "PNG" : "SVG", false, () => this.showMessage(savePicture(this.view, view))) : ""];
    this.chipBar.replaceChildren(...sideChips, ...view.chips(), h("span", { class: "export" }, ...exportChips));
  }
  private toggleTable(): void { this.set("table", this.settings.get("table") === "1" ? "" : "1"); }

  private drawStatus(): void {
    const view = this.entry?.view;
    if (!view) return;
    clear(this.status);
    this.status.append(h("span", { class: "message", role: "status" }, this.message));
    for (const [key, text] of view.keys()) this.status.append(h("span", {}, h("kbd", {}, key), text));
    const legend = h("span", { class: "legend" });
    const machine = this.models[0]!.about.machines?.[0];
    if (machine && !view.legend) legend.append(h("span", {}, displayText(`* predicted on ${machine.name}`)));
    for (const item of view.legend?.() ?? kindNames.slice(0, 5).map((each, i) => h("span", {}, glyph(i), each))) legend.append(item);
    this.status.append(legend);
  }

  private toggleTheme(): void {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("shoal-theme", dark ? "light" : "dark"); } catch { /* storage is unavailable: the choice is not saved */ }
    this.redraw();
  }

  // ---- keys
  private onKey(event: KeyboardEvent): void {
    const overlay = document.querySelector(".help");
    if (overlay && event.key === "Escape") { overlay.remove(); return; }
    if (event.target === this.input) {
      if (event.key === "Escape") { this.input.value = ""; this.onSearchInput(""); this.input.blur(); }
      else if (event.key === "Enter" || event.key === "ArrowDown") { this.input.blur(); this.entry?.view.key(new KeyboardEvent("keydown", { key: "ArrowDown" })); event.preventDefault(); }
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (this.frameKey(event) || this.entry?.view.key(event)) event.preventDefault();
  }

  private frameKey(event: KeyboardEvent): boolean {
    if (event.altKey) return false;
    if (/^[1-7]$/.test(event.key)) { this.go(viewNames[Number(event.key) - 1]!); return true; }
    const view = this.entry?.view;
    switch (event.key) {
      case "/": this.input.focus(); this.input.select(); return true;
      case "t": this.toggleTheme(); return true;
      case "?": showHelp(); return true;
      case "v": if (view?.picture?.() || this.settings.get("table") === "1") this.toggleTable(); else this.showMessage("this view is already a table"); return true;
      case "c": if (view) this.showMessage(saveTable(this.view, view)); return true;
      case "e": if (view) this.showMessage(savePicture(this.view, view)); return true;
      case "l": void navigator.clipboard?.writeText(location.href).catch(() => undefined); this.showMessage("link copied"); return true;
      case "o": case "u": return this.followEdge(event.key === "o");
      case "Escape": this.select(null); return true;
      case "ArrowLeft": case "ArrowRight": return this.nextTab(event.key === "ArrowRight" ? 1 : -1);
    }
    return false;
  }
  private nextTab(delta: number): boolean {
    if (document.activeElement?.getAttribute("role") !== "tab") return false;
    const next = viewNames[(viewNames.indexOf(this.view) + delta + viewNames.length) % viewNames.length]!;
    this.go(next);
    this.tabs.get(next)!.focus();
    return true;
  }
  private followEdge(toOperand: boolean): boolean {
    if (this.selection?.kind !== "instr") return false;
    const { module, id } = this.selection;
    const target = toOperand ? this.models[module]!.operands(id)[0] : this.models[module]!.users(id)[0];
    if (target === undefined) this.showMessage(toOperand ? "this instruction has no operands" : "this instruction has no users");
    else this.select({ kind: "instr", module, id: target });
    return true;
  }

  /** A snapshot for tests. */
  state(): object {
    const { selection } = this;
    const selected = selection?.kind === "instr" ? { kind: "instr", id: selection.id, module: selection.module, name: this.models[selection.module]!.name(selection.id) } : selection;
    return {
      view: this.view, prepared: [...this.views].filter(([, { isReady }]) => isReady).map(([name]) => name), selection: selected, settings: Object.fromEntries(this.settings), message: this.message, machines: this.models[0]!.about.machines ?? [], totalsBar: this.totalsBar.innerText,
      totals: this.models.map((model) => ({ ...model.about.totals, peak: model.about.memory.peak, instructions: model.instr.count, devices: model.about.devices })),
      table: this.tableRoot.hidden ? null : { columns: this.asTable.header, rows: this.asTable.count() }, detail: this.entry?.view.state() ?? {},
    };
  }
}
