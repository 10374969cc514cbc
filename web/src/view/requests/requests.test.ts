import { expect, test } from "vitest";
import type { Frame } from "../../scene/scene";
import { valueAt } from "../../shell/geometry";
import { requests } from "./index";

const frame = { name: "requests", x: 50, y: 20, w: 400, h: 100, yScale: { kind: "log", begin: 1e6, end: 1e8, rows: [] } } as unknown as Frame;

test("a logarithmic axis is read upwards", () => {
  expect(valueAt(frame, 120)).toBe(1e6);
  expect(valueAt(frame, 70)).toBeCloseTo(1e7);
  expect(valueAt(frame, 20)).toBeCloseTo(1e8);
});

test("a box round points chooses requests by begin and duration", () => {
  expect(requests.enclose!(frame, { begin: 10.7, end: 20.2 }, { begin: 1e6, end: 2e6 })).toEqual([{ option: "request", values: ["begin:10ns..21ns", "took:1000000ns..2000000ns"] }]);
  expect(requests.enclose!({ ...frame, name: "differs" }, { begin: 0, end: 1 }, { begin: 0, end: 1 })).toBeNull();
});
