import { expect, test } from "vitest";
import type { Fact } from "../../api/types";
import { chooseAll } from "../../shell/plug";
import { followOf, specFor } from "../../shell/scope";
import { everything } from "../../shell/selection";
import { commmatrix } from "./index";

test("chosen locations are marked, all senders and receivers stay", () => {
  const look = { ...everything, locations: ["#3", "#4"] };
  expect(specFor(look, followOf(null, commmatrix.follow)).locations).toBeUndefined();
});

test("a brushed time narrows what is counted", () => {
  const look = { ...everything, time: { begin: 10, end: 20 } };
  expect(specFor(look, followOf(null, commmatrix.follow))).toMatchObject({ from: 10, to: 20 });
});

test("a cell chooses its two locations", () => {
  const fact: Fact = { title: "3 to 4", lines: [], locations: [3, 4] };
  expect((commmatrix.choose ?? chooseAll)(fact)).toEqual({ locations: ["#3", "#4"] });
});
