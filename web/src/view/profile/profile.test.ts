import { expect, test } from "vitest";
import type { Fact } from "../../api/types";
import { chooseAll } from "../../shell/plug";
import { followOf, specFor } from "../../shell/scope";
import { everything } from "../../shell/selection";
import { profile } from "./index";

test("a chosen region is marked among the others, chosen locations are summed up", () => {
  const follow = followOf(null, profile.follow);
  const look = { ...everything, locations: ["#3"], regions: ["#7"] };
  expect(specFor(look, follow)).toEqual({ locations: ["#3"] });
});

test("a region that is chosen by a pattern narrows the rows", () => {
  const look = { ...everything, regions: ["MPI_*"] };
  expect(specFor(look, followOf(null, profile.follow)).regions).toEqual(["MPI_*"]);
});

test("a cell of a strip chooses region and location", () => {
  const fact: Fact = { title: "work", lines: [], regions: [7], locations: [3, 4] };
  expect((profile.choose ?? chooseAll)(fact)).toEqual({ regions: ["#7"], locations: ["#3", "#4"] });
});
