import { expect, test } from "vitest";
import { sidesOf, withSide } from "./sides";

const runs = [{ id: "1", name: "old" }, { id: "2", name: "new" }, { id: "3", name: "newer" }];

test("the page's own run is A, those that take part are B", () => {
  expect(sidesOf({ with: ["2"] }, runs)).toEqual({ "1": "A", "2": "B", "3": "" });
});

test("a run changes sides, and both sides are said in full", () => {
  expect(withSide({ with: ["2", "3"] }, runs, "2", "A")).toEqual([
    { option: "with", values: ["2", "3"] }, { option: "a", values: ["old", "new"] }, { option: "b", values: ["newer"] },
  ]);
});

test("a run that is left out takes no part", () => {
  const changes = withSide({ with: ["2", "3"], a: ["old"], b: ["new", "newer"] }, runs, "3", "");
  const options = Object.fromEntries(changes.map((c) => [c.option, c.values]));
  expect(options).toEqual({ with: ["2"], a: ["old"], b: ["new"] });
  expect(sidesOf(options, runs)).toEqual({ "1": "A", "2": "B", "3": "" });
});

test("two runs change places: no side is left with nobody", () => {
  expect(withSide({ with: ["2"] }, runs, "1", "B")).toEqual([
    { option: "with", values: ["2"] }, { option: "a", values: ["new"] }, { option: "b", values: ["old"] },
  ]);
});
