import { expect, test } from "vitest";
import { placeOf, windowAround } from "./query-place";

const columns = (...names: string[]) => names.map((name) => ({ name, unit: "" }));

test("a row with location, begin and duration is a place", () => {
  expect(placeOf(columns("path", "location", "begin", "duration", "region_id"), ["a/b", 7, 100, 50, 3])).toEqual({ locations: ["#7"], regions: ["#3"], time: { begin: 100, end: 150 } });
});

test("begin and end, a single time, and the ends of a link are times", () => {
  expect(placeOf(columns("begin", "end"), [100, 150]).time).toEqual({ begin: 100, end: 150 });
  expect(placeOf(columns("time"), [100]).time).toEqual({ begin: 100, end: 100 });
  expect(placeOf(columns("from_location", "from_time", "to_time"), [4, 150, 100])).toEqual({ locations: ["#4"], regions: null, time: { begin: 100, end: 150 } });
});

test("a row of sums is no place", () => {
  expect(placeOf(columns("region", "time_ns", "calls"), ["main", 5, 6])).toEqual({ locations: null, regions: null, time: null });
  expect(placeOf(columns("location", "begin"), [null, "9007199254740993"])).toEqual({ locations: null, regions: null, time: null });
});

test("the window shows what is around, within the run", () => {
  const whole = { begin: 0, end: 1e6 };
  expect(windowAround({ begin: 500_000, end: 501_000 }, whole, whole)).toEqual({ begin: 496_500, end: 504_500 });
  expect(windowAround({ begin: 0, end: 1000 }, whole, whole)).toEqual({ begin: 0, end: 4500 });
  expect(windowAround({ begin: 100, end: 900_000 }, whole, whole)).toEqual(whole);
  expect(windowAround({ begin: 500_000, end: 500_000 }, whole, { begin: 0, end: 40_000 })).toEqual({ begin: 495_000, end: 505_000 });
});
