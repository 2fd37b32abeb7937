// Number formats, identical to those of the commands, and parsing of byte counts.

/** 1.23e15 → "1.23 P". Integers below 1000 have no decimals. */
export function formatSi(value: number): string {
  const prefixes = ["", " k", " M", " G", " T", " P", " E"];
  let prefix = 0;
  let size = Math.abs(value);
  for (; size >= 1000 && prefix < 6; ++prefix) size /= 1000;
  const whole = prefix === 0 && size === Math.floor(size);
  const digits = whole ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return (value < 0 ? "-" : "") + size.toFixed(digits) + prefixes[prefix];
}

/** 1536 → "1.5 KiB". Plain bytes and numbers of at least 100 have no decimals: "150 KiB". */
export function formatBytes(value: number): string {
  const prefixes = [" B", " KiB", " MiB", " GiB", " TiB", " PiB"];
  let prefix = 0;
  let size = Math.abs(value);
  for (; size >= 1024 && prefix < 5; ++prefix) size /= 1024;
  return (value < 0 ? "-" : "") + size.toFixed(prefix === 0 || size >= 99.95 ? 0 : 1) + prefixes[prefix];
}

/** Three significant digits: "6.83 ms", "403 µs". */
export function formatSeconds(value: number): string {
  const units: [number, string][] = [[1, " s"], [1e-3, " ms"], [1e-6, " µs"], [1e-9, " ns"]];
  const size = Math.abs(value);
  if (size < 5e-12) return "0 s";
  const [unit, name] = units.find(([each]) => size >= each * 0.9995) ?? [1e-9, " ns"];
  const scaledDown = size / unit;
  return (value < 0 ? "-" : "") + scaledDown.toFixed(scaledDown < 9.995 ? 2 : scaledDown < 99.95 ? 1 : 0) + name;
}

/** Adds the sign of a change to its formatted size. A change that is shown as zero has no sign. */
export function formatSigned(value: number, size: string): string {
  return /[1-9]/.test(size) ? (value < 0 ? "−" : "+") + size : size;
}

/** 12345 → "12,345" */
export function formatCount(value: number): string {
  if (!Number.isInteger(value)) return formatSi(value);
  const text = Math.abs(value).toFixed(0);
  return (value < 0 ? "-" : "") + text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** (3, "op") → "3 ops" */
export function pluralize(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;
}

export function formatPercent(part: number): string {
  return `${(100 * part).toFixed(part < 0.0995 ? 1 : 0)} %`;
}

/** Parses "80GB", "1.5 GiB" or "4096"; undefined if the text is not a number of bytes. */
export function parseBytes(text: string): number | undefined {
  const match = /^\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*$/i.exec(text);
  if (!match) return undefined;
  const power = "kmgt".indexOf((match[2] ?? "").toLowerCase()) + 1;
  const value = Number(match[1]) * (match[2] ? (match[3] ? 1024 : 1000) ** power : 1);
  return Number.isFinite(value) ? value : undefined;
}
