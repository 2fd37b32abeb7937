// The page's data: "SHOAL\0", version, directory, sections. docs/report.md describes the format.

const kVersion = 2;

interface ColumnEntry { name: string; type: string; count: number }
interface SectionEntry { name: string; at: number; bytes: number; raw_bytes: number; crc: number; columns: ColumnEntry[] }
interface Directory { version: number; tool: string; files: string[]; sections: SectionEntry[] }

/** The page's data cannot be read. The message is shown to the user. */
export class DataError extends Error {}

/** The columns of one section, as views of its bytes. */
export class Columns {
  private readonly offsets = new Map<string, number>();
  constructor(private readonly raw: Uint8Array, private readonly entry: SectionEntry) {
    let offset = 0;
    for (const column of entry.columns) {
      offset = Math.ceil(offset / 8) * 8;
      this.offsets.set(column.name, offset);
      offset += column.type === "str" ? this.stringBytes(offset, column.count) : column.count * sizeOf(column.type);
      if (offset > raw.length) throw new DataError(`this page's data is corrupt: section ${entry.name} is too short`);
    }
  }

  u8(name: string): Uint8Array { return new Uint8Array(this.raw.buffer, this.start(name, "u8"), this.count(name)); }
  u32(name: string): Uint32Array { return new Uint32Array(this.raw.buffer, this.start(name, "u32"), this.count(name)); }
  i32(name: string): Int32Array { return new Int32Array(this.raw.buffer, this.start(name, "i32"), this.count(name)); }
  f64(name: string): Float64Array { return new Float64Array(this.raw.buffer, this.start(name, "f64"), this.count(name)); }
  strings(name: string): string[] {
    const start = this.start(name, "str") - this.raw.byteOffset;
    const end = start + this.stringBytes(start, this.count(name));
    const text = new TextDecoder().decode(this.raw.subarray(start, Math.max(end - 1, start)));
    return this.count(name) === 0 ? [] : text.split("\0");
  }
  has(name: string): boolean { return this.offsets.has(name); }

  private count(name: string): number { return this.entry.columns.find((each) => each.name === name)!.count; }
  private start(name: string, type: string): number {
    const column = this.entry.columns.find((each) => each.name === name);
    if (!column || column.type !== type) throw new DataError(`this page's data has no column ${this.entry.name}.${name} of type ${type}`);
    return this.raw.byteOffset + this.offsets.get(name)!;
  }
  private stringBytes(start: number, count: number): number {
    let offset = start;
    for (let i = 0; i < count; ++i) {
      offset = this.raw.indexOf(0, offset) + 1;
      if (offset === 0) throw new DataError(`this page's data is corrupt: section ${this.entry.name} is truncated`);
    }
    return offset - start;
  }
}

function sizeOf(type: string): number {
  const size = { u8: 1, u16: 2, u32: 4, i32: 4, f64: 8 }[type];
  if (size === undefined) throw new DataError(`this page's data has a column of unknown type ${type}`);
  return size;
}

let crcTable: Uint32Array | undefined;
function crc32(bytes: Uint8Array): number {
  if (!crcTable) {
    crcTable = new Uint32Array(256);
    for (let i = 0; i < 256; ++i) {
      let c = i;
      for (let k = 0; k < 8; ++k) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
      crcTable[i] = c;
    }
  }
  let crc = 0xffffffff;
  for (let i = 0; i < bytes.length; ++i) crc = crcTable[(crc ^ bytes[i]!) & 255]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

function decodeBase64(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text.trim());
  } catch {
    throw new DataError("this page's data is corrupt: invalid base64. The file may be truncated");
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The sections of a page, decompressed on first use. */
export class PageData {
  readonly files: string[];
  private readonly entries = new Map<string, SectionEntry>();
  private readonly sections = new Map<string, Promise<Columns>>();

  private constructor(private readonly bytes: Uint8Array, private readonly sectionsStart: number, directory: Directory) {
    this.files = directory.files;
    for (const section of directory.sections) this.entries.set(section.name, section);
  }

  static open(base64: string): PageData {
    const bytes = decodeBase64(base64);
    const magic = new TextDecoder().decode(bytes.subarray(0, 6));
    if (bytes.length < 12 || magic !== "SHOAL\0") throw new DataError("this page's data is corrupt: wrong magic number");
    const view = new DataView(bytes.buffer);
    const version = view.getUint16(6, true);
    if (version > kVersion) throw new DataError(`this page's data has version ${version}; this viewer reads versions up to ${kVersion}`);
    const end = 12 + view.getUint32(8, true);
    let directory: Directory;
    try {
      directory = JSON.parse(new TextDecoder().decode(bytes.subarray(12, end))) as Directory;
    } catch {
      throw new DataError("this page's data is corrupt: invalid directory");
    }
    const base = Math.ceil(end / 8) * 8;
    for (const section of directory.sections)
      if (base + section.at + section.bytes > bytes.length) throw new DataError(`this page's data is truncated: section ${section.name} is incomplete`);
    return new PageData(bytes, base, directory);
  }

  has(name: string): boolean { return this.entries.has(name); }
  names(): string[] { return [...this.entries.keys()]; }

  section(name: string): Promise<Columns> {
    let section = this.sections.get(name);
    if (!section) this.sections.set(name, (section = this.unpack(name)));
    return section;
  }

  private async unpack(name: string): Promise<Columns> {
    const entry = this.entries.get(name);
    if (!entry) throw new DataError(`this page's data has no section ${name}`);
    const compressed = this.bytes.subarray(this.sectionsStart + entry.at, this.sectionsStart + entry.at + entry.bytes);
    const corrupt = new DataError(`this page's data is corrupt: wrong checksum or size of section ${name}`);
    if (crc32(compressed) !== entry.crc) throw corrupt;
    try {
      const stream = new Blob([compressed as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
      const raw = new Uint8Array(await new Response(stream).arrayBuffer());
      if (raw.length !== entry.raw_bytes) throw corrupt;
      return new Columns(raw, entry);
    } catch (error) {
      throw error instanceof DataError ? error : corrupt;
    }
  }
}
