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
  readonly hits: Uint8Array | null;
}

export interface View {
  /** Builds itself into `root`, once. */
  mount(root: HTMLElement, page: Page): Promise<void> | void;
  /** Something of the page changed, or its size did. */
  update(): void;
  chips(): (Node | string)[];
  keys(): [string, string][];
  legend?(): (Node | string)[];
  /** True if the key was taken. */
  key(event: KeyboardEvent): boolean;
  /** What the tests see. */
  state(): object;
  csv?(): (string | number)[][];
  picture?(): HTMLCanvasElement | SVGSVGElement | null;
}

export function colors(): { [name: string]: string } {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const names = ["bg", "panel", "line", "grid", "text", "muted", "link", "selected", "warning", "product", "collective", "elementwise", "move", "library"];
  return Object.fromEntries(names.map((name) => [name, read(name)]));
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
