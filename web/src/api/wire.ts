// The decoder of scenes, the other half of internal/render/wire:
//
//	u32 n            length of the header, little endian
//	n bytes          JSON header; a column is {"type", "offset", "length"}
//	0–7 bytes        zeros, up to a multiple of 8
//	columns          little endian, each padded to a multiple of 8 bytes
//
// Columns are views of the buffer, nothing is copied; every browser runs on a
// little-endian machine.

import { markKinds, type Briefs, type Layer, type Mark, type MarkKind, type Scene } from "../scene/scene";

export const wireVersion = 1;

interface Column {
  type: "f64" | "f32" | "u32" | "u16" | "u8" | "text";
  /** -1: the page has it, under its key. */
  offset: number;
  length: number;
  key?: string;
}

/** Large columns that were sent before, by the name of their content. */
export class ColumnKeep {
  private kept = new Map<string, Float32Array>();
  private bytes = 0;

  /** As many bytes are kept at most, the last used. */
  constructor(private readonly most = 64e6) {}

  /** The names, for the server. Small columns are not worth one. */
  keys(): string[] {
    return [...this.kept.keys()].slice(-64);
  }

  get(key: string): Float32Array | undefined {
    const c = this.kept.get(key);
    if (c) {
      this.kept.delete(key);
      this.kept.set(key, c);
    }
    return c;
  }

  put(key: string, c: Float32Array): void {
    if (c.byteLength < 4096 || this.kept.has(key)) return;
    this.kept.set(key, c.slice()); // not the whole answer that it lies in
    this.bytes += c.byteLength;
    for (const [old, x] of this.kept) {
      if (this.bytes <= this.most || old === key) break;
      this.kept.delete(old);
      this.bytes -= x.byteLength;
    }
  }
}

type Header = Omit<Scene, "layers" | "briefs"> & {
  briefs?: Record<string, unknown>[];
  version: number;
  strings: string[];
  layers: { name: string; frame: number; marks: (Record<string, unknown> & { kind: MarkKind })[] }[];
};

/** Reads a scene. Marks of a kind that this page does not know are an error. */
export function decodeScene(buffer: ArrayBuffer, keep = new ColumnKeep()): Scene {
  if (buffer.byteLength < 4) throw new Error("decode scene: shorter than its header");
  const n = new DataView(buffer).getUint32(0, true);
  if (4 + n > buffer.byteLength) throw new Error(`decode scene: header of ${n} bytes in ${buffer.byteLength}`);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, n))) as Header;
  if (header.version !== wireVersion) {
    throw new Error(`decode scene: version ${header.version}, want ${wireVersion}; reload the page`);
  }
  const base = (4 + n + 7) & ~7;
  const { version: _, strings, layers, briefs, ...rest } = header;
  return {
    ...rest,
    ...(briefs ? { briefs: briefs.map((b) => decodeBriefs(decodeColumns(b, (c) => view(c, buffer, base, strings)))) } : {}),
    layers: layers.map((l): Layer => ({
      name: l.name,
      frame: l.frame,
      marks: l.marks.map((m) => decodeMark(m, buffer, base, strings, keep)),
    })),
  };
}

function decodeMark(
  m: Record<string, unknown> & { kind: MarkKind }, buffer: ArrayBuffer, base: number, strings: string[], keep: ColumnKeep,
): Mark {
  if (!markKinds.includes(m.kind)) throw new Error(`decode scene: unknown mark "${m.kind}"`);
  return decodeColumns(m, (c) => kept(c, buffer, base, strings, keep)) as unknown as Mark;
}

/** Briefs with their times: each begins some time after the end of the one before, modulo 2^32 where times are that short. */
function decodeBriefs(x: Record<string, unknown>): Briefs {
  const { origin, gap, length, ...rest } = x as { origin: number; gap: Uint32Array | Float64Array; length: Uint32Array | Float64Array };
  const [begin, end] = [new Float64Array(gap.length), new Float64Array(gap.length)];
  const round = (t: number) => (gap instanceof Uint32Array ? t >>> 0 : t);
  for (let i = 0, before = 0; i < gap.length; i++) {
    const at = round(before + gap[i]!);
    before = at + length[i]!;
    [begin[i], end[i]] = [origin + at, origin + before];
  }
  return { ...(rest as unknown as Briefs), begin, end };
}

/** An object with its columns read. */
function decodeColumns(x: Record<string, unknown>, read: (c: Column) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(x).map(([name, value]) => [name, isColumn(value) ? read(value) : value]));
}

function isColumn(x: unknown): x is Column {
  return typeof x === "object" && x !== null && "offset" in x;
}

/** A column, from the buffer or from what was sent before. */
function kept(c: Column, buffer: ArrayBuffer, base: number, strings: string[], keep: ColumnKeep) {
  if (c.offset < 0) {
    const had = keep.get(c.key ?? "");
    if (!had) throw new Error("decode scene: a column is left out that the page does not have; reload the page");
    return had;
  }
  const out = view(c, buffer, base, strings);
  if (c.key && out instanceof Float32Array) keep.put(c.key, out);
  return out;
}

function view(c: Column, buffer: ArrayBuffer, base: number, strings: string[]) {
  const at = base + c.offset;
  switch (c.type) {
    case "f64":
      return new Float64Array(buffer, at, c.length);
    case "f32":
      return new Float32Array(buffer, at, c.length);
    case "u32":
      return new Uint32Array(buffer, at, c.length);
    case "u16":
      return new Uint16Array(buffer, at, c.length);
    case "u8":
      return new Uint8Array(buffer, at, c.length);
    case "text":
      return Array.from(new Uint32Array(buffer, at, c.length), (i) => strings[i] ?? "");
  }
}
