import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { decodeScene } from "./wire";

// The fixtures are written by the encoder's own test: internal/render/wire.
const testdata = new URL("../../../internal/render/wire/testdata/", import.meta.url);

function bytes(name: string): ArrayBuffer {
  const b = readFileSync(new URL(name, testdata));
  return b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength) as ArrayBuffer;
}

/** Go's names start with a capital, ours do not; columns become plain lists. */
function plain(x: unknown): unknown {
  if (ArrayBuffer.isView(x)) return Array.from(x as Float32Array);
  if (Array.isArray(x)) return x.map(plain);
  if (x === null || typeof x !== "object") return x;
  return Object.fromEntries(Object.entries(x).map(([k, v]) => [k[0]!.toLowerCase() + k.slice(1), plain(v)]));
}

/** Go writes an absent list as null where the wire has an empty one. */
function withoutNulls(x: unknown): unknown {
  if (Array.isArray(x)) return x.map(withoutNulls);
  if (x === null || typeof x !== "object") return x;
  return Object.fromEntries(
    Object.entries(x).filter(([, v]) => v !== null && !(Array.isArray(v) && v.length === 0)).map(([k, v]) => [k, withoutNulls(v)]),
  );
}

describe("decodeScene", () => {
  for (const name of ["every", "empty", "coarse"]) {
    test(`reads what Go wrote: ${name}`, () => {
      const { empty: _, coarse: __, ...scene } = decodeScene(bytes(`${name}.scene`));
      const want = JSON.parse(readFileSync(new URL(`${name}.json`, testdata), "utf8"), (_k, v: unknown) => v);
      expect(round(withoutNulls(plain(scene)))).toEqual(round(withoutNulls(plain(want))));
    });
  }

  test("tells an empty state and a coarse picture", () => {
    expect(decodeScene(bytes("empty.scene")).empty).toEqual({ what: "no interval", hint: "choose more" });
    expect(decodeScene(bytes("coarse.scene")).coarse).toBe(true);
    expect(decodeScene(bytes("every.scene"))).toMatchObject({ empty: null, coarse: false });
  });

  test("damaged bytes are an error or a scene, at a thousand places", () => {
    const sound = new Uint8Array(bytes("every.scene"));
    let seed = 31;
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
    let refused = 0;
    for (let i = 0; i < 1000; i++) {
      const damaged = i % 4 === 0 ? sound.slice(0, random(sound.length)) : sound.slice();
      if (i % 4 === 1) damaged[random(damaged.length)]! ^= 1 << random(8);
      if (i % 4 === 2) damaged.fill(0, random(damaged.length), random(damaged.length));
      if (i % 4 === 3) damaged[random(4)] = random(256);
      try {
        decodeScene(damaged.buffer);
      } catch (e) {
        refused++;
        expect(e).toBeInstanceOf(Error);
      }
    }
    expect(refused).toBeGreaterThan(300);
  });

  test("views columns in place and keeps hostile names as they are", () => {
    const buffer = bytes("every.scene");
    const rect = decodeScene(buffer).layers[0]!.marks[0]!;
    expect(rect.kind === "rect" && rect.x.buffer).toBe(buffer);
    const text = decodeScene(buffer).layers[1]!.marks[1]!;
    expect(text.kind === "text" && text.text[1]).toBe("<script>alert(1)</script>");
  });

  test.each([
    ["nothing", new ArrayBuffer(0), /shorter/],
    ["a header beyond the end", new Uint32Array([999]).buffer, /header of 999/],
    ["another version", encode({ version: 99 }), /version 99/],
    ["an unknown mark", encode({ version: 1, strings: [], layers: [{ marks: [{ kind: "blob" }] }] }), /blob/],
    [
      "a column beyond the end",
      encode({ version: 1, strings: [], layers: [{ marks: [{ kind: "rect", x: { type: "f32", offset: 8, length: 9 } }] }] }),
      /length|bounds|range/i,
    ],
  ])("refuses %s", (_name, buffer, message) => {
    expect(() => decodeScene(buffer)).toThrow(message);
  });
});

function encode(header: unknown): ArrayBuffer {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const out = new Uint8Array((4 + json.length + 7) & ~7);
  new DataView(out.buffer).setUint32(0, json.length, true);
  out.set(json, 4);
  return out.buffer;
}

/** Go prints a float32 shortest, the wire as the float64 of the same value. */
function round(x: unknown): unknown {
  if (typeof x === "number") return Math.fround(x);
  if (Array.isArray(x)) return x.map(round);
  if (x === null || typeof x !== "object") return x;
  return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, round(v)]));
}
