// The state of the page: the view, the selection and the view's settings. All of it is in the URL fragment.

export type Selection =
  | { kind: "instr"; module: number; id: number }
  | { kind: "row"; module: number; row: number }
  | { kind: "group"; module: number; group: number };

export type ViewName = "overview" | "program" | "timeline" | "memory" | "communication" | "cost" | "graph";
export const viewNames: ViewName[] = ["overview", "program", "timeline", "memory", "communication", "cost", "graph"];

/** Settings in the address: q, by, sort, axis, z, x, span, ops, open, … */
export type Settings = Map<string, string>;

/** `error` is empty unless the fragment names an unknown view. */
export interface Address { view: ViewName; settings: Settings; error: string }

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parseFragment(fragment: string): Address {
  const parts = fragment.replace(/^#/, "").split("&");
  const first = parts[0] ?? "";
  const settings: Settings = new Map();
  for (const part of parts.slice(first.includes("=") ? 0 : 1)) {
    const equals = part.indexOf("=");
    if (equals > 0) settings.set(part.slice(0, equals), decode(part.slice(equals + 1)));
  }
  const viewName = first.includes("=") || first === "" ? "overview" : first;
  const view = viewNames.find((each) => each === viewName);
  return { view: view ?? "overview", settings: view ? settings : new Map(), error: view ? "" : `unknown view '${viewName}'` };
}

export function formatFragment(view: ViewName, settings: Settings): string {
  let out = `#${view}`;
  for (const [key, value] of settings) if (value !== "") out += `&${key}=${encodeURIComponent(value).replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ",")}`;
  return out;
}
