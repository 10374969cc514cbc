import { expect, test } from "vitest";
import type { Fact } from "../../api/types";
import { followOf, specFor } from "../../shell/scope";
import { everything } from "../../shell/selection";
import { histogram } from "./index";

test("the chosen regions decide what is measured, over all locations", () => {
  const look = { ...everything, locations: ["#3"], regions: ["#7"] };
  const spec = specFor(look, followOf(null, histogram.follow));
  expect(spec.regions).toEqual(["#7"]);
  expect(spec.locations).toBeUndefined();
});

test("a bar chooses its locations and leaves the regions alone", () => {
  const fact: Fact = { title: "1 ms to 2 ms", lines: [], regions: [7], locations: [3, 4] };
  expect(histogram.choose!(fact)).toEqual({ locations: ["#3", "#4"] });
  expect(histogram.choose!({ title: "", lines: [], regions: [7] })).toEqual({});
});
