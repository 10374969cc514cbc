import { expect, test } from "vitest";
import { groupedBy, keysOf, sidesOf, withSide } from "./sides";

const runs = [{ id: "1", name: "old" }, { id: "2", name: "new" }, { id: "3", name: "newer" }];

test("the page's own run is A, those that take part are B", () => {
  expect(sidesOf({ with: ["2"] }, runs)).toEqual({ "1": "A", "2": "B", "3": "" });
});

test("a run changes sides, and both sides are said in full", () => {
  expect(withSide({ with: ["2", "3"] }, runs, "2", "A")).toEqual([
    { option: "by", values: [] }, { option: "with", values: ["2", "3"] }, { option: "a", values: ["old", "new"] }, { option: "b", values: ["newer"] },
  ]);
});

test("a run that is left out takes no part", () => {
  const changes = withSide({ with: ["2", "3"], a: ["old"], b: ["new", "newer"] }, runs, "3", "");
  const options = Object.fromEntries(changes.map((c) => [c.option, c.values]));
  expect(options).toEqual({ by: [], with: ["2"], a: ["old"], b: ["new"] });
  expect(sidesOf(options, runs)).toEqual({ "1": "A", "2": "B", "3": "" });
});

test("two runs change places: no side is left with nobody", () => {
  expect(withSide({ with: ["2"] }, runs, "1", "B")).toEqual([
    { option: "by", values: [] }, { option: "with", values: ["2"] }, { option: "a", values: ["new"] }, { option: "b", values: ["old"] },
  ]);
});

test("runs are grouped by a key that tells them apart, until it is clicked again", () => {
  const keyed = [{ id: "1", name: "x", size: 8, keys: { commit: "aa", day: "1" } }, { id: "2", name: "y", size: 8, keys: { commit: "bb", day: "1" } }, { id: "3", name: "z", size: 16, keys: { commit: "aa", day: "1" } }];
  expect(keysOf(keyed)).toEqual(["ranks", "commit"]);
  const options = Object.fromEntries(groupedBy({ a: ["x"] }, "commit").map((c) => [c.option, c.values]));
  expect(options).toEqual({ a: [], b: [], by: ["commit"] });
  expect(sidesOf({ ...options, with: ["2", "3"] }, keyed)).toEqual({ "1": "A", "2": "B", "3": "A" });
  expect(sidesOf({ by: ["ranks"], with: ["2", "3"] }, keyed)).toEqual({ "1": "A", "2": "A", "3": "B" });
  expect(groupedBy(options, "commit")[2]).toEqual({ option: "by", values: [] });
});
