// What is shown: the view, the one selection of the page, and the view's own settings. All of it is in the fragment.

export type Selection =
  | { kind: "instr"; module: number; id: number }
  | { kind: "row"; module: number; row: number }
  | { kind: "alike"; module: number; group: number }
  | { kind: "moment"; module: number; step: number }
  | { kind: "span"; from: number; to: number };

export type ViewName = "overview" | "program" | "timeline" | "memory" | "communication" | "cost" | "graph";
export const viewNames: ViewName[] = ["overview", "program", "timeline", "memory", "communication", "cost", "graph"];

/** Settings that are part of the address: q, by, sort, axis, z, x, span, ops, open, … */
export type Settings = Map<string, string>;

export interface Address { view: ViewName; settings: Settings; bad: string }

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function readFragment(fragment: string): Address {
  const parts = fragment.replace(/^#/, "").split("&");
  const first = parts[0] ?? "";
  const settings: Settings = new Map();
  for (const part of parts.slice(first.includes("=") ? 0 : 1)) {
    const equals = part.indexOf("=");
    if (equals > 0) settings.set(part.slice(0, equals), decode(part.slice(equals + 1)));
  }
  const named = first.includes("=") || first === "" ? "overview" : first;
  const view = viewNames.find((each) => each === named);
  return { view: view ?? "overview", settings: view ? settings : new Map(), bad: view ? "" : `nothing here is called ${named}` };
}

export function writeFragment(view: ViewName, settings: Settings): string {
  let out = `#${view}`;
  for (const [key, value] of settings) if (value !== "") out += `&${key}=${encodeURIComponent(value).replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ",")}`;
  return out;
}
