import { describe, expect, test } from "vitest";
import { Chosen } from "./chosen";
import { frameAt, keptBoxes, locationPatterns, overscan, placeAt, placesFor, placesOf, rowAt, rowsBetween, timeAt, toScene, transformTo, visibleWidth, xAt, type Shown } from "./geometry";
import { noID, type Frame, type Row, type Scene } from "../scene/scene";

const row = (from: number, to: number, location: number): Row =>
  ({ from, to, location, region: noID, label: "", count: 1, level: 0, open: false, folded: false });
const frame = (w = 1000, begin = 0, end = 1000): Frame => ({
  name: "plot", x: 100, y: 10, w, h: 60,
  xScale: { kind: "time", begin, end, label: "", rows: [] },
  yScale: { kind: "rows", begin: 0, end: 0, label: "", rows: [row(10, 30, 1), row(30, 50, 2), row(50, 70, 3)] },
});
const shown = (f: Frame, width = 1120, sceneWidth = width): Shown => ({ scene: { frames: [f], width: sceneWidth } as unknown as Scene, width, height: 90 });

describe("a transform", () => {
  test("to the drawn window is the identity", () => {
    expect(transformTo(shown(frame()), frame(), { begin: 0, end: 1000 })).toEqual({ scaleX: 1, offsetX: 0, scaleY: 1, offsetY: 0 });
  });
  test("puts every time where the window wants it", () => {
    const f = frame();
    const t = transformTo(shown(f), f, { begin: 400, end: 600 });
    expect(xAt(f, 400) * t.scaleX + t.offsetX).toBeCloseTo(100);
    expect(xAt(f, 600) * t.scaleX + t.offsetX).toBeCloseTo(1100);
    expect(timeAt(f, toScene(t, 600, 0).x)).toBeCloseTo(500);
  });
  test("of an overscanned scene shifts it and keeps its scale", () => {
    // The window 400–600 at 1000 px, with 250 px more at each side.
    const f = frame(1500, 350, 650);
    const s = shown(f, 1120, 1620);
    expect(visibleWidth(s, f)).toBe(1000);
    expect(transformTo(s, f, { begin: 400, end: 600 })).toEqual({ scaleX: 1, offsetX: -250, scaleY: 1, offsetY: 0 });
  });
});

test("overscan ends where the run does, and at whole nanoseconds", () => {
  const run = { begin: 0, end: 1000 };
  expect(overscan({ begin: 400, end: 600 }, run, 1000)).toEqual({ left: 250, right: 250, begin: 350, end: 650 });
  expect(overscan({ begin: 0, end: 1000 }, run, 1000)).toEqual({ left: 0, right: 0, begin: 0, end: 1000 });
  expect(overscan({ begin: 10, end: 210 }, run, 1000)).toEqual({ left: 50, right: 250, begin: 0, end: 260 });
  expect(overscan({ begin: 500, end: 510 }, run, 1000)).toEqual({ left: 200, right: 200, begin: 498, end: 512 });
});

test("frames and rows are found under the cursor", () => {
  const s = shown(frame());
  expect(frameAt(s, 500, 40)).toBe(0);
  expect(frameAt(s, 50, 40)).toBe(-1);
  expect(frameAt(s, 500, 75)).toBe(-1);
  expect(frameAt(s, 500, 75, 10)).toBe(0);
  const rows = frame().yScale.rows;
  expect(rowAt(rows, 30)?.location).toBe(2);
  expect(rowAt(rows, 70)).toBeNull();
  expect(locationPatterns(rowsBetween(rows, 45, 25))).toEqual(["#1", "#2"]);
});

describe("the selection keeps", () => {
  const f = frame();
  test("everything where nothing is selected", () => {
    expect(keptBoxes(f, null, () => false, false)).toBeUndefined();
  });
  test("the brushed range over all rows", () => {
    expect(keptBoxes(f, { begin: 100, end: 200 }, () => false, false)).toEqual([{ x: 200, y: 10, w: 100, h: 60 }]);
  });
  test("chosen rows, neighbours as one box", () => {
    expect(keptBoxes(f, null, (r) => r.location !== 2, true)).toEqual([{ x: 100, y: 10, w: 1000, h: 20 }, { x: 100, y: 50, w: 1000, h: 20 }]);
    expect(keptBoxes(f, { begin: 500, end: 1000 }, (r) => r.location < 3, true)).toEqual([{ x: 600, y: 10, w: 500, h: 40 }]);
  });
  test("nothing of a range that is not on screen", () => {
    expect(keptBoxes(f, { begin: 5000, end: 6000 }, () => true, false)).toEqual([]);
  });
});

describe("places of locations that are no rows", () => {
  const places = [0, 0, 100, 100, 1, 10, 10, 40, 40, 2, 50, 10, 40, 40, 5];
  const f: Frame = { ...frame(100), x: 0, y: 0, h: 100, places };
  test("the innermost is under the pointer", () => {
    expect(placeAt(f, 20, 20)?.location).toBe(2);
    expect(placeAt(f, 5, 95)?.location).toBe(1);
    expect(placeAt({ ...f, places: undefined }, 20, 20)).toBeNull();
  });
  test("a location is at its own place, else at those below, else in the nearest above", () => {
    // Each chosen subtree and what it lies in, as pairs of first and last.
    const at = (chosen: [number, number][], above: [number, number][]) => {
      const places = { id: chosen.map(([id]) => id), last: chosen.map(([, last]) => last), above: above.map(([id]) => id), aboveLast: above.map(([, last]) => last), rows: 1, path: [] };
      return placesFor(placesOf(f), new Chosen(places.id, places)).map((p) => p.location);
    };
    expect(at([[2, 4]], [[1, 9]])).toEqual([2]);
    expect(at([[3, 4]], [[1, 9], [2, 4]])).toEqual([2]);
    expect(at([[0, 9]], [])).toEqual([1, 2, 5]);
    expect(at([[77, 77]], [[70, 80]])).toEqual([]);
    expect(at([[3, 3], [4, 4], [5, 5], [8, 8]], [[1, 9], [2, 4], [7, 9]])).toEqual([2, 5, 1]);
  });
});
