import { expect, test } from "vitest";
import { everything } from "../../shell/selection";
import { partsOf } from ".";

test("a selection is written as the parts of a set", () => {
  expect(partsOf(everything)).toEqual([]);
  expect(partsOf({ ...everything, locations: ["#3", "rank:0-2"] })).toEqual(["#3", "rank:0-2"]);
  expect(partsOf({ ...everything, time: { begin: 5, end: 9 } })).toEqual(["time=5..9"]);
  expect(partsOf({ ...everything, only: ["#7"], time: { begin: 5, end: 9 } })).toEqual(["#7", "time=5..9"]);
});
