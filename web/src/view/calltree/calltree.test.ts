import { expect, test } from "vitest";
import { comparedWith, rootPath } from "./index";

test("a panel says what it compares with", () => {
  expect(comparedWith({})).toBe("");
  expect(comparedWith({ against: ["rest"] })).toBe("rest");
  expect(comparedWith({ against: ["rank:5"] })).toBe("rank:5");
  expect(comparedWith({ with: ["b"], against: [] })).toBe("run:b");
});

test("a panel knows the path that it is zoomed to", () => {
  expect(rootPath({})).toEqual([]);
  expect(rootPath({ root: [""] })).toEqual([]);
  expect(rootPath({ root: ["main → a > b → #7"] })).toEqual(["main", "a > b", "#7"]);
});
