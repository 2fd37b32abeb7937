// Numbers as the verbs print them.

/** 1.23e15 as "1.23 P"; small whole numbers as they are. */
export function scaled(value: number): string {
  const prefixes = ["", " k", " M", " G", " T", " P", " E"];
  let prefix = 0;
  let size = Math.abs(value);
  for (; size >= 1000 && prefix < 6; ++prefix) size /= 1000;
  const whole = prefix === 0 && size === Math.floor(size);
  const digits = whole ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return (value < 0 ? "-" : "") + size.toFixed(digits) + prefixes[prefix];
}

/** 1536 as "1.5 KiB", 150.2 KiB as "150 KiB": three digits are enough in a cell. */
export function bytes(value: number): string {
  const prefixes = [" B", " KiB", " MiB", " GiB", " TiB", " PiB"];
  let prefix = 0;
  let size = Math.abs(value);
  for (; size >= 1024 && prefix < 5; ++prefix) size /= 1024;
  return (value < 0 ? "-" : "") + size.toFixed(prefix === 0 || size >= 99.95 ? 0 : 1) + prefixes[prefix];
}

/** Three significant digits: "6.83 ms", "403 µs". */
export function seconds(value: number): string {
  const units: [number, string][] = [[1, " s"], [1e-3, " ms"], [1e-6, " µs"], [1e-9, " ns"]];
  if (value === 0) return "0 s";
  const size = Math.abs(value);
  const [unit, name] = units.find(([each]) => size >= each * 0.9995) ?? [1e-9, " ns"];
  const scaledDown = size / unit;
  return (value < 0 ? "-" : "") + scaledDown.toFixed(scaledDown < 9.995 ? 2 : scaledDown < 99.95 ? 1 : 0) + name;
}

/** "12,345" */
export function count(value: number): string {
  if (!Number.isInteger(value)) return scaled(value);
  const text = Math.abs(value).toFixed(0);
  return (value < 0 ? "-" : "") + text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function counted(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? "" : "s"}`;
}

export function percent(part: number): string {
  return `${(100 * part).toFixed(part < 0.0995 ? 1 : 0)} %`;
}

/** "80GB" → 8e10, "1.5 GiB", "4096"; undefined if that is no number of bytes. */
export function bytesNamed(text: string): number | undefined {
  const match = /^\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*$/i.exec(text);
  if (!match) return undefined;
  const power = "kmgt".indexOf((match[2] ?? "").toLowerCase()) + 1;
  const value = Number(match[1]) * (match[2] ? (match[3] ? 1024 : 1000) ** power : 1);
  return Number.isFinite(value) ? value : undefined;
}
