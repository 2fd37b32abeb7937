import type { Page, View } from "./view";
export class TimelineView implements View {
  mount(_root: HTMLElement, _page: Page): void {}
  update(): void {}
  chips(): (Node | string)[] { return []; }
  keys(): [string, string][] { return []; }
  key(): boolean { return false; }
  state(): object { return {}; }
}
