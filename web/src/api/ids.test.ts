import { describe, expect, test } from "vitest";
import { idsOf, packIDs, unpackIDs } from "./ids";

describe("ids in few words", () => {
  test.each([
    [[], []],
    [["#7"], ["#7"]],
    [["#7", "#9"], ["#7,9"]],
    [["#3", "#7", "#8", "#9", "#20"], ["#3,7-9,20"]],
    [["#9", "#8", "#3"], ["#9,8,3"]],
    [["rank:0-3", "#5", "node*", "#6"], ["#5-6", "rank:0-3", "node*"]],
    [["rank:0-3", "#5"], ["rank:0-3", "#5"]],
  ])("%j is %j", (patterns, packed) => {
    expect(packIDs(patterns)).toEqual(packed);
    expect(idsOf(unpackIDs(packed))).toEqual(idsOf(patterns));
  });
  test("what is no list of ids stays as it is", () => {
    for (const p of ["#", "#x", "#5-3", "#1,", "#1,,2", "a,b", "#0-99999999", "re:^#1,2$"]) expect(unpackIDs([p])).toEqual([p]);
  });
  test("ten thousand scattered ids take about five letters each", () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => `#${i * 7}`);
    expect(packIDs(ids)[0]!.length).toBeLessThan(60_000);
    expect(unpackIDs(packIDs(ids))).toEqual(ids);
  });
});
