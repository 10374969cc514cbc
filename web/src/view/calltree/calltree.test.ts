import { expect, test } from "vitest";
import { comparedWith } from "./index";

test("a panel says what it compares with", () => {
  expect(comparedWith({})).toBe("");
  expect(comparedWith({ against: ["rest"] })).toBe("rest");
  expect(comparedWith({ against: ["rank:5"] })).toBe("rank:5");
  expect(comparedWith({ with: ["b"], against: [] })).toBe("run:b");
});
