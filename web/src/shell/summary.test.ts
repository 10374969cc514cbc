import { expect, test } from "vitest";
import type { RegionSummary } from "../api/types";
import { occurring } from "./summary";

const row = (part: Partial<RegionSummary>): RegionSummary => ({ id: 0, name: "f", role: "compute", colour: 0, count: 0, exclusive: 0, share: 0, inclusive: 0, mean: null, p50: null, p90: null, p98: null, ...part });

test("a region whose time is all in what it calls has a part in the selection", () => {
  expect(occurring([row({ id: 1, inclusive: 5 }), row({ id: 2 }), row({ id: 3, count: 1 })]).map((r) => r.id)).toEqual([1, 3]);
});
