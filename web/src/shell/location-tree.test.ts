import { describe, expect, test } from "vitest";
import type { LocationRow } from "../api/types";
import { idsBetween, LocationTree, treePage } from "./location-tree";

const row = (id: number, children = 0): LocationRow => ({ id, name: `n${id}`, kind: "x", parent: null, last: id, level: 0, rank: null, holds: true, children, rows: 1 });

/** Three nodes at the top (0, 10, 20), of which 0 has 3 and 10 has 2 children. */
function small(): LocationTree {
  const t = new LocationTree();
  t.learn(null, 0, 3, [row(0, 3), row(10, 2), row(20)]);
  return t;
}
const ids = (t: LocationTree) => Array.from({ length: t.length }, (_, i) => t.at(i)!).map((r) => `${"  ".repeat(r.level)}${r.row?.id ?? "?"}`);

describe("the rows of the tree", () => {
  test("are those at the top until a node is opened", () => {
    const t = small();
    expect(ids(t)).toEqual(["0", "10", "20"]);
    t.open(row(0, 3), null, 0);
    t.open(row(10, 2), null, 1);
    expect(ids(t)).toEqual(["0", "  ?", "  ?", "  ?", "10", "  ?", "  ?", "20"]);
    t.learn(0, 0, 3, [row(1), row(2, 1), row(4)]);
    t.open(row(2, 1), 0, 1);
    expect(ids(t)).toEqual(["0", "  1", "  2", "    ?", "  4", "10", "  ?", "  ?", "20"]);
    t.close(0);
    expect(ids(t)).toEqual(["0", "10", "  ?", "  ?", "20"]);
    expect(t.isOpen(2)).toBe(false);
    t.closeAll();
    expect(t.length).toBe(3);
  });
  test("a leaf cannot be opened, and nothing twice", () => {
    const t = small();
    t.open(row(20), null, 2);
    t.open(row(10, 2), null, 1);
    t.open(row(10, 2), null, 1);
    expect(t.length).toBe(5);
  });
  test("know their place", () => {
    const t = small();
    t.open(row(0, 3), null, 0);
    t.open(row(10, 2), null, 1);
    for (let i = 0; i < t.length; i++) {
      const r = t.at(i)!;
      expect(t.indexOf(r.parent, r.offset)).toBe(i);
    }
    expect(t.indexOf(99, 0)).toBe(-1);
    expect(t.at(t.length)).toBeNull();
    expect(t.at(-1)).toBeNull();
  });
});

test("a million children are rows at once, and only pages on screen are wanted", () => {
  const t = new LocationTree();
  t.learn(null, 0, 1, [row(0, 1_000_000)]);
  t.open(row(0, 1_000_000), null, 0);
  expect(t.length).toBe(1_000_001);
  const last = t.at(1_000_000)!;
  expect(t.wanting(last)).toEqual({ parent: 0, page: Math.floor(999_999 / treePage) });
  const page = Math.floor(500_000 / treePage);
  t.learn(0, page * treePage, 1_000_000, Array.from({ length: treePage }, (_, i) => row(page * treePage + i + 1)));
  expect(t.at(500_001)!.row!.id).toBe(500_001);
  expect(t.wanting(t.at(500_001)!)).toBeNull();
});

test("a range of rows has all of them, those that were never on screen too, and looks at no more than may be named", () => {
  const t = new LocationTree();
  t.learn(null, 0, 1, [row(0, 100_000)]);
  t.open(row(0, 100_000), null, 0);
  const learn = (page: number) => t.learn(0, page * treePage, 100_000, Array.from({ length: treePage }, (_, i) => row(page * treePage + i + 1)));
  learn(0);
  learn(70);
  expect(idsBetween(t, 5, 3, 10)).toEqual(["#3", "#4", "#5"]);
  const at = 70 * treePage + 4;
  const all = idsBetween(t, 3, at, 20_000);
  expect(all.length).toBe(at - 2);
  expect([all[0], all.at(-1)]).toEqual(["#3", `#${at}`]);
  let looked = 0;
  const counted = new Proxy(t, { get: (o, name) => { looked += name === "at" ? 1 : 0; return Reflect.get(o, name).bind?.(o) ?? Reflect.get(o, name); } });
  expect(idsBetween(counted, 1, at, 1000).length).toBe(1000);
  expect(looked).toBeLessThanOrEqual(1002);
});
