import { expect, test } from "vitest";
import type { RegionRow, RegionSummary, Role } from "../api/types";
import { regionLines } from "./region-list";

const region = (id: number, name: string, role: Role): RegionRow => ({ id, name, category: "", role, file: "", line: 0, colour: 0 });
const regions = [region(0, "MPI_Wait", "communication"), region(1, "solve", "compute"), region(2, "init", "compute")];
const totals = new Map([[0, { exclusive: 5, count: 1 }], [1, { exclusive: 7, count: 1 }], [2, { exclusive: 9, count: 2 }]] as [number, RegionSummary][]);
const names = (filter: string, closed: Role[] = []) => regionLines(regions, totals, filter, new Set(closed)).map((l) => ("role" in l ? `${l.role} ${l.count}` : l.region.name));

test("regions come by role, the longest first", () => {
  expect(names("")).toEqual(["compute 2", "init", "solve", "communication 1", "MPI_Wait"]);
});

test("a closed role hides its regions until one searches", () => {
  expect(names("", ["compute"])).toEqual(["compute 2", "communication 1", "MPI_Wait"]);
  expect(names("SOL", ["compute"])).toEqual(["compute 1", "solve"]);
  expect(names("nothing")).toEqual([]);
});

test("shares are those of the server, and a role has those of its regions together", () => {
  const some = new Map([[0, { exclusive: 5, count: 1, share: 0.25 }], [1, { exclusive: 2, count: 1, share: 0.1 }]] as [number, RegionSummary][]);
  expect(regionLines(regions, some, "", new Set()).map((l) => l.share)).toEqual([0.1, 0.1, null, 0.25, 0.25]);
});

test("calls that the source does not count are unknown, not 0", () => {
  const some = new Map([[1, { exclusive: 7, count: null, share: 1 }]] as [number, RegionSummary][]);
  expect(regionLines(regions, some, "solve", new Set()).slice(1)).toMatchObject([{ calls: null }]);
});
