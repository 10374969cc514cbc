import { expect, test } from "vitest";
import { areaOf, areaQuery } from "./area";
import { Chosen } from "./chosen";
import { everything } from "./selection";

const window = { begin: 10.4, end: 90.2 };

test("an area is the brushed range, or else the window", () => {
  expect(areaOf(everything, window, new Chosen([]), (id) => id).time).toEqual({ begin: 10, end: 91 });
  expect(areaOf({ ...everything, time: { begin: 20, end: 30 } }, window, new Chosen([]), (id) => id).time).toEqual({ begin: 20, end: 30 });
});

test("chosen locations are asked for with all below them, regions by number", () => {
  const chosen = new Chosen([3, 9], { id: [3, 9], last: [5, 9], above: [], aboveLast: [], rows: 2, path: [] });
  const a = areaOf({ ...everything, locations: ["#3", "#9"], regions: ["#7"] }, window, chosen, (id) => id);
  expect(areaQuery("intervals", a)).toContain("(location between 3 and 5 or location = 9) and region_id in (7)");
  expect(areaQuery("links", a)).toContain("from_location between 3 and 5 or from_location = 9 or to_location between 3 and 5");
  expect(areaQuery("links", a)).not.toContain("region_id in");
  expect(areaQuery("regions", a)).toContain("from time_in(10, 91)");
});

test("narrowed to some locations, those are the area", () => {
  const a = areaOf({ ...everything, only: ["#4"] }, window, new Chosen([]), () => 6);
  expect(areaQuery("locations", a)).toContain("location between 4 and 6");
});
