import { expect, test } from "vitest";
import { choiceIn, sameRegions } from "./same-region";

const here = [{ id: 0, name: "main" }, { id: 1, name: "solve" }, { id: 2, name: "gone" }];
const there = [{ id: 0, name: "solve" }, { id: 1, name: "new" }, { id: 2, name: "solve" }, { id: 3, name: "main" }];

test("regions are the same by name, all of that name", () => {
  expect(sameRegions([1], here, there)).toEqual([0, 2]);
  expect(sameRegions([0, 1], here, there)).toEqual([0, 2, 3]);
});

test("a choice goes over to another run, and is none where that has none of it", () => {
  expect(choiceIn(["#1"], here, there)).toEqual(["#0", "#2"]);
  expect(choiceIn(["#2"], here, there)).toBeNull();
  expect(choiceIn(["MPI_*", "#2"], here, there)).toEqual(["MPI_*"]);
});
