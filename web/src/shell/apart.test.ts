import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Apart } from "./apart";

const lists = JSON.parse(readFileSync(new URL("../../../internal/scene/testdata/apart.json", import.meta.url), "utf8")) as
  { list: string; names: string[]; short: Record<string, string[]> }[];

test.each(lists)("$list: names are shortened as in pictures", ({ names, short }) => {
  const apart = new Apart(names);
  for (const [most, want] of Object.entries(short)) expect(names.map((n) => apart.shorten(n, Number(most)))).toEqual(want);
});

test("a form that could be another name is none", () => {
  expect(new Apart(["pmix_Allreduce", "pmix_Reduce"]).shorten("pmix_Allreduce", 10)).toBe("…Allreduce");
  expect(new Apart(["MPI_Allreduce", "MPI_Reduce"]).shorten("MPI_Allreduce", 10)).toBe("Allreduce");
});
