// The decoder of scenes, the other half of internal/render/wire:
//
//	u32 n            length of the header, little endian
//	n bytes          JSON header; a column is {"type", "offset", "length"}
//	0–7 bytes        zeros, up to a multiple of 8
//	columns          little endian, each padded to a multiple of 8 bytes
//
// Columns are views of the buffer, nothing is copied; every browser runs on a
// little-endian machine.

import type { Layer, Mark, MarkKind, Scene } from "../scene/scene";

export const wireVersion = 1;
export const contentType = "application/vnd.parallax.scene";

interface Column {
  type: "f32" | "u32" | "u16" | "u8" | "text";
  offset: number;
  length: number;
}

type Header = Omit<Scene, "layers"> & {
  version: number;
  strings: string[];
  layers: { name: string; frame: number; marks: (Record<string, unknown> & { kind: MarkKind })[] }[];
};

// Columns that a mark may lack; the decoder sets them to null.
const optional: Record<MarkKind, string[]> = {
  rect: ["flags", "count"],
  line: ["flags"],
  path: [],
  polygon: ["flags"],
  point: ["shape", "count"],
  text: ["anchor"],
  image: [],
};

/** Reads a scene. Marks of a kind that this page does not know are an error. */
export function decodeScene(buffer: ArrayBuffer): Scene {
  if (buffer.byteLength < 4) throw new Error("decode scene: shorter than its header");
  const n = new DataView(buffer).getUint32(0, true);
  if (4 + n > buffer.byteLength) throw new Error(`decode scene: header of ${n} bytes in ${buffer.byteLength}`);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, n))) as Header;
  if (header.version !== wireVersion) {
    throw new Error(`decode scene: version ${header.version}, want ${wireVersion}; reload the page`);
  }
  const base = (4 + n + 7) & ~7;
  const { version: _, strings, layers, ...rest } = header;
  return {
    ...rest,
    layers: layers.map((l): Layer => ({
      name: l.name,
      frame: l.frame,
      marks: l.marks.map((m) => decodeMark(m, buffer, base, strings)),
    })),
  };
}

function decodeMark(
  m: Record<string, unknown> & { kind: MarkKind }, buffer: ArrayBuffer, base: number, strings: string[],
): Mark {
  const lacks = optional[m.kind];
  if (!lacks) throw new Error(`decode scene: unknown mark "${m.kind}"`);
  const out: Record<string, unknown> = { kind: m.kind };
  for (const name of lacks) out[name] = null;
  for (const [name, value] of Object.entries(m)) out[name] = isColumn(value) ? view(value, buffer, base, strings) : value;
  return out as unknown as Mark;
}

function isColumn(x: unknown): x is Column {
  return typeof x === "object" && x !== null && "offset" in x;
}

function view(c: Column, buffer: ArrayBuffer, base: number, strings: string[]) {
  const at = base + c.offset;
  switch (c.type) {
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
