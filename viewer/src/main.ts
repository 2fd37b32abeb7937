// The page: opens its data, builds the frame, and keeps view, selection and address in step.
import { CommunicationView } from "./communication";
import { CostView } from "./cost";
import { DataError, PageData } from "./data";
import { chip, clear, csv, download, glyph, h, name } from "./dom";
import { bytes, count, scaled, seconds } from "./format";
import { GraphView } from "./graph";
import { MemoryView } from "./memory";
import { kindNames, Model } from "./model";
import { OverviewView } from "./overview";
import { Panel } from "./panel";
import { ProgramView } from "./program";
import { search } from "./search";
import { readFragment, type Selection, type Settings, type ViewName, viewNames, writeFragment } from "./state";
import { TimelineView } from "./timeline";
import type { Page, View } from "./view";

const titles: { [name in ViewName]: string } = { overview: "Overview", program: "Program", timeline: "Timeline", memory: "Memory", communication: "Communication", cost: "Cost", graph: "Graph" };

class Frame implements Page {
  current = 0;
  selection: Selection | null = null;
  settings: Settings = new Map();
  hits: Uint8Array | null = null;
  private view: ViewName = "overview";
  private views = new Map<ViewName, { view: View; root: HTMLElement; ready: Promise<void> | void }>();
  private readonly strip = h("div", { class: "strip", "aria-label": "totals per device and step" });
  private readonly chipBar = h("div", { class: "chips" });
  private readonly host = h("main", { class: "view", id: "view" });
  private readonly status = h("footer", { class: "status" });
  private readonly panelRoot = h("aside", { class: "panel", "aria-label": "selection" });
  private readonly tabs = new Map<ViewName, HTMLElement>();
  private readonly input = h("input", { type: "search", placeholder: "name, opcode:, scope:, line:, type: …", "aria-label": "search instructions", spellcheck: "false" });
  private panel: Panel;
  private said = "";
  private searched = "";

  constructor(private readonly app: HTMLElement, readonly models: Model[], private readonly written: HTMLElement) {
    this.panel = new Panel(this.panelRoot, this, () => this.togglePanel(false), () => this.panelOfView());
    const tablist = h("div", { role: "tablist", "aria-label": "views" });
    for (const each of viewNames) {
      const tab = h("button", { role: "tab", id: `tab-${each}`, "aria-controls": "view", onclick: () => this.go(each) }, titles[each]);
      this.tabs.set(each, tab);
      tablist.append(tab);
    }
    app.append(h("header", {}, h("span", { class: "brand" }, "shoal"), tablist, h("div", { class: "search" }, this.input, h("kbd", {}, "/")),
      h("button", { class: "icon", title: "theme (t)", "aria-label": "theme", onclick: () => this.toggleTheme() }, "◐"),
      h("button", { class: "icon", title: "keys (?)", "aria-label": "help", onclick: () => this.help() }, "?")),
      this.strip, this.chipBar, this.host, this.panelRoot, this.status);
    this.input.addEventListener("input", () => this.searchFor(this.input.value));
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => this.open());
    addEventListener("popstate", () => this.open());
    new ResizeObserver(() => this.redraw()).observe(this.host);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    try {
      const theme = localStorage.getItem("shoal-theme");
      if (theme) document.documentElement.dataset.theme = theme;
    } catch { /* no storage here: the system's theme */ }
  }

  async start(): Promise<void> {
    this.drawStrip();
    await this.panel.prepare();
    this.open();
  }

  // ---- the address
  private writing = "";
  private open(): void {
    if (location.hash === this.writing && this.writing !== "") return;
    const address = readFragment(location.hash);
    this.settings = address.settings;
    this.said = address.bad;
    const selected = this.settings.get("i");
    this.selection = null;
    this.current = this.settings.get("m") === "b" && this.models.length > 1 ? 1 : 0;
    if (selected !== undefined) {
      const id = this.models[this.current]!.find(selected);
      if (id >= 0) this.selection = { kind: "instr", module: this.current, id };
      else {
        this.said = `no instruction is called ${selected.slice(0, 80)}`;
        address.view = "overview";
      }
    }
    this.input.value = this.settings.get("q") ?? "";
    void this.searchNow(this.input.value).then(() => this.show(address.view));
  }

  private write(how: "push" | "replace"): void {
    const fragment = writeFragment(this.view, this.settings);
    if (fragment === location.hash) return;
    this.writing = fragment;
    if (how === "push") history.pushState(null, "", fragment);
    else history.replaceState(null, "", fragment);
  }

  // ---- what views ask for
  select(selection: Selection | null, how: "push" | "replace" = "push"): void {
    this.selection = selection;
    if (selection && "module" in selection) this.current = selection.module;
    if (this.models.length > 1) this.settings.set("m", this.current === 1 ? "b" : "");
    this.settings.set("i", selection?.kind === "instr" ? this.models[selection.module]!.address(selection.id) : "");
    if (selection) this.togglePanel(true);
    this.said = "";
    this.write(how);
    this.redraw();
  }
  set(key: string, value: string, how: "push" | "replace" = "push"): void {
    this.settings.set(key, value);
    this.write(how);
    this.redraw();
  }
  go(view: ViewName, settings: [string, string][] = []): void {
    const keep = new Map<string, string>();
    for (const key of ["i", "m", "q"]) if (this.settings.get(key)) keep.set(key, this.settings.get(key)!);
    if (view === this.view && settings.length === 0) return;
    this.settings = keep;
    for (const [key, value] of settings) this.settings.set(key, value);
    if (settings.some(([key]) => key === "q")) { this.input.value = this.settings.get("q") ?? ""; }
    this.view = view;
    this.said = "";
    this.write("push");
    void this.searchNow(this.settings.get("q") ?? "").then(() => this.show(view));
  }
  say(text: string): void {
    this.said = text;
    this.drawStatus();
  }
  redraw(): void {
    const entry = this.views.get(this.view);
    if (!entry) return;
    void Promise.resolve(entry.ready).then(() => {
      if (this.views.get(this.view) !== entry) return;
      entry.view.update();
      this.drawChips(entry.view);
      this.drawStatus();
      this.panel.draw();
    });
  }
  private panelOfView(): HTMLElement | null {
    const view = this.views.get(this.view)?.view as (View & { panel?: () => HTMLElement | null }) | undefined;
    return view?.panel?.() ?? null;
  }

  // ---- search
  private searchFor(text: string): void {
    this.settings.set("q", text);
    void this.searchNow(text).then(() => {
      if (text !== "" && this.view !== "program" && this.view !== "communication") { this.view = "program"; this.settings = new Map([["q", text]]); this.show("program"); }
      this.write("replace");
      this.redraw();
    });
  }
  private async searchNow(text: string): Promise<void> {
    const key = `${this.current} ${text}`;
    if (key === this.searched) return;
    this.searched = key;
    const start = performance.now();
    const hits = await search(this.models[this.current]!, text);
    if (key !== this.searched) return;
    this.hits = hits;
    this.searchMilliseconds = performance.now() - start;
  }
  searchMilliseconds = 0;

  // ---- drawing
  private make(view: ViewName): View {
    switch (view) {
      case "overview": return new OverviewView(this.written);
      case "program": return new ProgramView();
      case "timeline": return new TimelineView();
      case "memory": return new MemoryView();
      case "communication": return new CommunicationView();
      case "cost": return new CostView();
      case "graph": return new GraphView();
    }
  }

  private show(view: ViewName): void {
    this.view = view;
    let entry = this.views.get(view);
    if (!entry) {
      const root = h("div", { role: "tabpanel", "aria-labelledby": `tab-${view}` });
      root.style.position = "absolute";
      root.style.inset = "0";
      const made = this.make(view);
      this.host.append(root);
      const ready = made.mount(root, this);
      entry = { view: made, root, ready: ready instanceof Promise ? ready.catch((error: unknown) => this.fail(root, error)) : undefined };
      this.views.set(view, entry);
    }
    for (const [other, { root }] of this.views) root.hidden = other !== view;
    for (const [each, tab] of this.tabs) { tab.setAttribute("aria-selected", String(each === view)); tab.tabIndex = each === view ? 0 : -1; }
    this.app.classList.toggle("closed", this.closed || view === "overview");
    this.redraw();
  }

  private fail(root: HTMLElement, error: unknown): void {
    clear(root);
    root.append(h("p", { class: "failure" }, error instanceof DataError ? error.message : `this view failed: ${String(error)}`));
  }

  private closed = innerWidth < 1024;
  private togglePanel(open: boolean): void {
    this.closed = !open;
    this.app.classList.toggle("closed", this.closed || this.view === "overview");
  }

  private drawStrip(): void {
    clear(this.strip);
    const pair = (key: string, value: string, narrow = false) => h("span", { class: narrow ? "hide-narrow" : "" }, h("span", { class: "k" }, key), value);
    if (this.models.length > 1) return this.drawStripOfTwo();
    const model = this.models[0]!;
    const { about } = model;
    this.strip.append(h("span", { class: "name", title: about.file }, name(about.name || about.file)), pair("devices", count(about.devices)));
    if (about.mesh.length > 0) this.strip.append(h("span", { class: "hide-narrow" }, h("span", { class: "k" }, "mesh"), name(about.mesh.map((axis) => `${axis.name}=${axis.size}`).join(" · "))));
    this.strip.append(pair("flops", scaled(about.totals.flops)), pair("read + written", bytes(about.totals.read + about.totals.written)), pair("wire", bytes(about.totals.wire)));
    for (const machine of about.machines ?? []) this.strip.append(pair(`time on ${machine.name} *`, seconds(machine.step_seconds)));
    const peak = h("span", {}, h("span", { class: "k" }, "peak"), bytes(about.memory.peak));
    if (model.capacity > 0) {
      const fill = h("i");
      fill.style.width = `${Math.min((100 * about.needed) / model.capacity, 100)}%`;
      peak.append(h("span", { class: `meter${about.needed > model.capacity ? " over" : ""}` }, fill), h("span", { class: "muted" }, `of ${bytes(model.capacity)}`));
    }
    this.strip.append(peak, pair("instructions", count(model.instr.count), true));
  }

  private drawStripOfTwo(): void {
    const [a, b] = [this.models[0]!.about, this.models[1]!.about];
    this.strip.append(h("span", { class: "name" }, name(`${a.name || a.file} → ${b.name || b.file}`)));
    const change = (key: string, from: number, to: number, text: (value: number) => string) => {
      const part = from === to ? "=" : from === 0 ? "new" : `${to > from ? "+" : "−"}${Math.abs((100 * (to - from)) / from).toFixed(1)} %`;
      this.strip.append(h("span", {}, h("span", { class: "k" }, key), from === to ? text(from) : `${text(from)} → ${text(to)} `, h("span", { class: "muted" }, part)));
    };
    change("flops", a.totals.flops, b.totals.flops, scaled);
    change("memory", a.totals.read + a.totals.written, b.totals.read + b.totals.written, bytes);
    change("wire", a.totals.wire, b.totals.wire, bytes);
    change("peak", a.memory.peak, b.memory.peak, bytes);
    change("instructions", this.models[0]!.instr.count, this.models[1]!.instr.count, count);
  }

  private drawChips(view: View): void {
    clear(this.chipBar);
    if (this.models.length > 1 && this.view !== "overview") this.chipBar.append(...["A", "B"].map((letter, i) => chip(letter, this.current === i, () => { this.current = i; this.settings.set("m", i === 1 ? "b" : ""); this.selection = null; this.settings.set("i", ""); this.write("push"); void this.searchNow(this.input.value).then(() => this.redraw()); })), h("span", { class: "gap" }));
    this.chipBar.append(...view.chips());
  }

  private drawStatus(): void {
    const view = this.views.get(this.view)?.view;
    if (!view) return;
    clear(this.status);
    if (this.said) this.status.append(h("span", { class: "say", role: "status" }, this.said));
    for (const [key, what] of view.keys()) this.status.append(h("span", {}, h("kbd", {}, key), what));
    const legend = h("span", { class: "legend" });
    const machine = this.models[0]!.about.machines?.[0];
    if (machine) legend.append(h("span", {}, `* predicted on ${machine.name}`));
    for (const item of view.legend?.() ?? kindNames.slice(0, 5).map((each, i) => h("span", {}, glyph(i), each))) legend.append(item);
    this.status.append(legend);
  }

  private toggleTheme(): void {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("shoal-theme", dark ? "light" : "dark"); } catch { /* not kept */ }
    this.redraw();
  }

  private help(): void {
    const rows: [string, string][] = [["1 … 7", "views"], ["/", "search: words, name: opcode: scope: line: type: axis:, >1GiB, >1ms"], ["↑ ↓ home end", "select a row"], ["← →, shift →", "fold, unfold, unfold all below"], ["o, u", "go to the first operand, the first user"], ["alt ←", "back"], ["w s, a d", "zoom, pan (Timeline, Memory)"], ["f, 0", "zoom to the selection, to all"], ["[ ], p", "a step back or on, the peak (Memory)"], ["c, e, l", "CSV, picture, copy the link"], ["t", "light or dark"], ["esc", "close, or clear the selection"]];
    const box = h("div", { role: "dialog", "aria-label": "keys", tabindex: -1 }, h("h2", {}, "Keys"), h("table", {}, ...rows.map(([key, what]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, what)))));
    const veil = h("div", { class: "help", onclick: () => veil.remove() }, box);
    document.body.append(veil);
    box.focus();
  }

  // ---- keys
  private key(event: KeyboardEvent): void {
    const veil = document.querySelector(".help");
    if (veil && event.key === "Escape") { veil.remove(); return; }
    if (event.target === this.input) {
      if (event.key === "Escape") { this.input.value = ""; this.searchFor(""); this.input.blur(); }
      else if (event.key === "Enter" || event.key === "ArrowDown") { this.input.blur(); this.views.get(this.view)?.view.key(new KeyboardEvent("keydown", { key: "ArrowDown" })); event.preventDefault(); }
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (this.ownKey(event) || this.views.get(this.view)?.view.key(event)) event.preventDefault();
  }

  private ownKey(event: KeyboardEvent): boolean {
    if (event.altKey) return false;
    if (/^[1-7]$/.test(event.key)) { this.go(viewNames[Number(event.key) - 1]!); return true; }
    switch (event.key) {
      case "/": this.input.focus(); this.input.select(); return true;
      case "t": this.toggleTheme(); return true;
      case "?": this.help(); return true;
      case "c": this.exportCsv(); return true;
      case "e": this.exportPicture(); return true;
      case "l": void navigator.clipboard?.writeText(location.href).catch(() => undefined); this.say("the link is copied"); return true;
      case "o": case "u": return this.follow(event.key === "o");
      case "Escape": this.select(null); return true;
      case "ArrowLeft": case "ArrowRight": {
        if (document.activeElement?.getAttribute("role") !== "tab") return false;
        const at = viewNames.indexOf(this.view) + (event.key === "ArrowRight" ? 1 : -1);
        const next = viewNames[(at + viewNames.length) % viewNames.length]!;
        this.go(next);
        this.tabs.get(next)!.focus();
        return true;
      }
    }
    return false;
  }

  private follow(operand: boolean): boolean {
    if (this.selection?.kind !== "instr") return false;
    const { module, id } = this.selection;
    const to = operand ? this.models[module]!.operands(id)[0] : this.models[module]!.users(id)[0];
    if (to === undefined) this.say(operand ? "it has no operands" : "nothing uses it");
    else this.select({ kind: "instr", module, id: to });
    return true;
  }

  private exportCsv(): void {
    const rows = this.views.get(this.view)?.view.csv?.();
    if (!rows) return this.say("this view has no table");
    download(`${this.view}.csv`, new Blob([csv(rows)], { type: "text/csv" }));
    this.say(`${this.view}.csv has ${count(rows.length - 1)} rows`);
  }

  private exportPicture(): void {
    const picture = this.views.get(this.view)?.view.picture?.();
    if (!picture) return this.say("this view has no picture");
    if (picture instanceof HTMLCanvasElement) {
      picture.toBlob((blob) => { if (blob) download(`${this.view}.png`, blob); });
    } else {
      const copy = picture.cloneNode(true) as SVGSVGElement;
      copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
      const style = getComputedStyle(document.documentElement);
      copy.querySelectorAll("text").forEach((text) => { text.setAttribute("fill", style.getPropertyValue(text.classList.contains("muted") ? "--muted" : "--text")); text.setAttribute("font-family", "sans-serif"); text.setAttribute("font-size", "11"); });
      download(`${this.view}.svg`, new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
    }
    this.say("the picture is saved");
  }

  state(): object {
    const view = this.views.get(this.view)?.view;
    const selection = this.selection?.kind === "instr" ? { kind: "instr", id: this.selection.id, name: this.models[this.selection.module]!.name(this.selection.id) } : this.selection;
    return { view: this.view, selection, settings: Object.fromEntries(this.settings), said: this.said, searchMilliseconds: this.searchMilliseconds, machines: this.models[0]!.about.machines ?? [], strip: this.strip.innerText, totals: this.models.map((model) => ({ ...model.about.totals, peak: model.about.memory.peak, instructions: model.instr.count, devices: model.about.devices })), detail: view?.state() ?? {} };
  }
}

async function main(): Promise<void> {
  const written = document.getElementById("overview")!;
  const app = document.getElementById("app")!;
  const fail = (error: unknown) => {
    clear(app);
    app.before(h("p", { class: "failure", id: "failure" }, error instanceof DataError ? `${error.message}. What was written below can still be read.` : `This page's script failed: ${String(error)}`));
  };
  try {
    const data = PageData.open(document.getElementById("shoal-data")!.textContent ?? "");
    const models = [await Model.load(data, "a.")];
    if (data.has("b.about")) models.push(await Model.load(data, "b."));
    const frame = new Frame(app, models, written);
    await frame.start();
    (window as unknown as { shoal: object }).shoal = { state: () => frame.state(), ready: true };
  } catch (error) {
    fail(error);
  }
}

void main();
