import { expect, test } from "vitest";
import type { Answer, Cell } from "../api/types";
import type { Frame } from "../scene/scene";
import { canPlot, suggested, ticksBetween } from "./query-plot";
import { trackBoxes, trackOf } from "./query-track";

const answer = (names: string[], ...rows: Cell[][]): Answer => ({ columns: names.map((name) => ({ name, unit: "" })), rows, more: false });

test("amounts stand over time where rows have one, else beside their names", () => {
  expect(suggested(answer(["location", "path", "begin", "duration"], [1, "a", 5, 7]))).toEqual({ x: 2, y: 3, bars: false });
  expect(suggested(answer(["region", "calls", "time"], ["main", 1, 7]))).toEqual({ x: 0, y: 2, bars: true });
  expect(suggested(answer(["name", "location", "time", "value"], ["watt", 1, 7, 90]))).toEqual({ x: 2, y: 3, bars: false });
  expect(suggested(answer(["region", "calls", "total"], ["main", 1, 7]))).toEqual({ x: 0, y: 2, bars: true });
  expect(suggested(answer(["rank", "busy"], [0, 7]))).toEqual({ x: 0, y: 1, bars: true });
  expect(suggested(answer(["n"], [3]))).toEqual({ x: 0, y: 0, bars: true });
});

test("texts alone are no plot, and a column with a text in it is none of numbers", () => {
  expect(canPlot(answer(["name"], ["a"]))).toBe(false);
  expect(canPlot(answer(["n"], [1], ["9007199254740993"]))).toBe(false);
  expect(canPlot(answer(["n"], [1], [null]))).toBe(true);
});

test("ticks are round and lie between", () => {
  expect(ticksBetween(0, 10)).toEqual([0, 2, 4, 6, 8, 10]);
  expect(ticksBetween(3, 97)).toEqual([20, 40, 60, 80]);
  expect(ticksBetween(0, 0.4)).toEqual([0, 0.1, 0.2, 0.30000000000000004, 0.4]);
  expect(ticksBetween(7, 7)).toEqual([7]);
});

test("rows with a time are a track: joined in the strip, boxes in the rows of their locations", () => {
  const spans = trackOf(answer(["location", "begin", "duration"], [2, 50, 10], [1, 0, 10], [1, 8, 4], [9, null, 5]));
  expect(spans).toEqual([{ begin: 0, end: 10, location: 1 }, { begin: 8, end: 12, location: 1 }, { begin: 50, end: 60, location: 2 }]);
  const f = { x: 100, y: 20, w: 1000, h: 60, xScale: { kind: "time", begin: 0, end: 100 }, yScale: { rows: [{ from: 20, to: 50, location: 1 }] } } as unknown as Frame;
  const { fill, outline } = trackBoxes(f, spans);
  expect(fill).toEqual([{ x: 100, y: 20, w: 120, h: 5 }, { x: 600, y: 20, w: 100, h: 5 }]);
  expect(outline).toEqual([{ x: 100, y: 20, w: 100, h: 30 }, { x: 180, y: 20, w: 40, h: 30 }]);
  expect(trackBoxes({ ...f, xScale: { ...f.xScale, begin: 70, end: 100 } } as Frame, spans).fill).toEqual([]);
});
