import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decodeScene } from "../api/wire";
import { hasItems, itemAt } from "./item";
import { identity } from "./painter";

// The fixtures are written by the encoder's own test: internal/render/wire.
const testdata = new URL("../../../internal/render/wire/testdata/", import.meta.url);

function scene() {
  const b = readFileSync(new URL("items.scene", testdata));
  return decodeScene(b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength) as ArrayBuffer);
}

test("finds at every place what Go finds", () => {
  const s = scene();
  const want = JSON.parse(readFileSync(new URL("items.json", testdata), "utf8")) as [number, number, number][];
  expect(want.length).toBeGreaterThan(1000);
  expect(want.map(([x, y]) => [x, y, itemAt(s, x, y, () => identity, () => -1)])).toEqual(want);
});

test("follows a frame that is moved", () => {
  const s = scene();
  const at = (x: number, y: number, scaleX = 1, offsetX = 0) => itemAt(s, x, y, () => ({ ...identity, scaleX, offsetX }), () => -1);
  expect(at(50, 20)).toBe(at(100, 20, 2));
  expect(at(50, 20)).toBe(at(90, 20, 1, 40));
  expect(at(-5, 20)).toBe(-1);
});

test("carries facts, and scenes without items are told", () => {
  expect(scene().facts).toEqual({ 0: { title: "row", lines: [] } });
  expect(hasItems(scene())).toBe(true);
  expect(hasItems({ ...scene(), layers: [] })).toBe(false);
});
