// What every view offers the frame.
import type { Model } from "./model";
import type { Selection, Settings, ViewName } from "./state";

export interface Page {
  readonly models: Model[];
  /** The module that views of one module show: 0 is A. */
  readonly current: number;
  readonly selection: Selection | null;
  readonly settings: Settings;
  select(selection: Selection | null, how?: "push" | "replace"): void;
  /** Puts a setting into the address and redraws. */
  set(key: string, value: string, how?: "push" | "replace"): void;
  go(view: ViewName, settings?: [string, string][]): void;
  say(text: string): void;
  redraw(): void;
  /** Of each instruction of the current module whether the search found it; null: nothing is searched for. */
  readonly hits: Uint8Array | null;
  hitsOf(module: number): Uint8Array | null;
}

export interface View {
  /** Builds itself into `root`, once. */
  mount(root: HTMLElement, page: Page): Promise<void> | void;
  /** Something of the page changed, or its size did. */
  update(): void;
  chips(): (Node | string)[];
  keys(): [string, string][];
  legend?(): (Node | string)[];
  /** What the panel shows instead of the selection, if anything. */
  panel?(): HTMLElement | null;
  /** Of two modules: whether the view shows one of them, so that it can be chosen. */
  oneSided?(): boolean;
  /** True if the key was taken. */
  key(event: KeyboardEvent): boolean;
  /** What the tests see. */
  state(): object;
  /** The view's table, for CSV. The first row names the columns. */
  csv?(): (string | number)[][];
  picture?(): HTMLCanvasElement | SVGSVGElement | null;
  /** The picture in words and numbers, where that is not the view's table. */
  asTable?(): (string | number)[][];
}

export type Colors = { readonly [name: string]: string };
const read = new Map<boolean, Colors>();
/** The page's colours of this theme, read once: asking for a style in a frame makes the browser work it out anew. */
export function colors(): Colors {
  const dark = isDark();
  let known = read.get(dark);
  if (!known) {
    const style = getComputedStyle(document.documentElement);
    const names = ["bg", "panel", "line", "grid", "text", "muted", "link", "selected", "warning", "product", "collective", "elementwise", "move", "library"];
    read.set(dark, (known = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]))));
  }
  return known;
}
export function kindColors(): string[] {
  const c = colors();
  return [c.product!, c.collective!, c.elementwise!, c.move!, c.library!, c.muted!, c.line!];
}
export function isDark(): boolean {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
export const stackColors = {
  light: ["#0B62A8", "#D0601A", "#1F8A66", "#B58A12", "#9C4A94", "#5563C9", "#7C8A1F", "#1D8A9E"],
  dark: ["#62AEF5", "#FF9350", "#4CC79E", "#DDB646", "#E295D6", "#8FA2FF", "#C3CB5A", "#69C7D8"],
  lightArguments: "#AEB7C2", lightRest: "#DDE2E8", darkArguments: "#5B6573", darkRest: "#363D47",
};
export const heatRamp = {
  light: ["#FFFFFF", "#E3EBF4", "#A9C3DE", "#5C8FC2", "#1F5A9A", "#00204C"],
  dark: ["#14171C", "#1D3557", "#2F5C7E", "#5E8A86", "#A8AE6A", "#FFE945"],
};
