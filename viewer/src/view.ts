// The interfaces between views and the frame, and the colours of the page.
import type { Model } from "./model";
import type { Selection, Settings, ViewName } from "./state";

export interface Page {
  readonly models: Model[];
  /** Index of the module shown by views that show one module: 0 is A, 1 is B. */
  readonly current: number;
  readonly selection: Selection | null;
  readonly settings: Settings;
  select(selection: Selection | null, mode?: "push" | "replace"): void;
  /** Changes a setting in the address and redraws. */
  set(key: string, value: string, mode?: "push" | "replace"): void;
  go(view: ViewName, settings?: [string, string][]): void;
  /** Shows a message in the status bar. */
  showMessage(text: string): void;
  redraw(): void;
  /** 1 for each instruction of the current module that matches the search; null: no search is active. */
  readonly hits: Uint8Array | null;
  hitsOf(module: number): Uint8Array | null;
}

export interface View {
  /** Called once: creates the view's elements in `root`. */
  mount(root: HTMLElement, page: Page): Promise<void> | void;
  /** Called when the page's state or the size of the view changed. */
  update(): void;
  chips(): (Node | string)[];
  keys(): [string, string][];
  legend?(): (Node | string)[];
  /** Replaces the panel's description of the selection, unless it returns null. */
  panel?(): HTMLElement | null;
  /** True (the default) if the view shows one module at a time. With two modules, the frame then offers a choice. */
  showsOneModule?(): boolean;
  /** Returns true if the key was handled. */
  key(event: KeyboardEvent): boolean;
  /** The height on paper in pixels; by default, that of a page. */
  printHeight?(): number;
  /** A snapshot for tests. */
  state(): object;
  /** The view's table, for CSV. The first row is the header. */
  csv?(): (string | number)[][];
  picture?(): HTMLCanvasElement | SVGSVGElement | null;
  /** The contents of the picture as a table, if they differ from csv(). */
  asTable?(): (string | number)[][];
}

export type Colors = { readonly [name: string]: string };
const colorCache = new Map<boolean, Colors>();
/** The colours of the current theme. Cached, because reading a computed style during a frame forces a style update. */
export function colors(): Colors {
  const dark = isDark();
  let cached = colorCache.get(dark);
  if (!cached) {
    const style = getComputedStyle(document.documentElement);
    const names = ["bg", "panel", "line", "grid", "text", "muted", "link", "selected", "warning", "matmul", "collective", "elementwise", "move", "library"];
    colorCache.set(dark, (cached = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]))));
  }
  return cached;
}
export function kindColors(): string[] {
  const c = colors();
  return [c.matmul!, c.collective!, c.elementwise!, c.move!, c.library!, c.muted!, c.line!];
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
