import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decodeScene } from "../api/wire";
import { briefFact } from "./brief";

// The fixtures are written by the server's own test: internal/server/brief_test.go.
const testdata = new URL("../../../internal/server/testdata/", import.meta.url);

test("says of each of many items what the server says", () => {
  const b = readFileSync(new URL("briefs.scene", testdata));
  const scene = decodeScene(b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength) as ArrayBuffer);
  const want = JSON.parse(readFileSync(new URL("briefs.json", testdata), "utf8")) as Record<number, unknown>;
  expect(scene.briefs!.map((b) => b.begin.length)).toEqual([1, 1, 1, 5, 5]);
  expect(Object.keys(want)).toHaveLength(13);
  for (const [item, fact] of Object.entries(want)) expect(briefFact(scene.briefs, Number(item))).toEqual(fact);
  for (const item of [1, 3, 5, 11, 17, 18]) expect(briefFact(scene.briefs, item)).toBeUndefined();
  expect(briefFact(undefined, 0)).toBeUndefined();
});
