import { describe, expect, test } from "vitest";
import { countedSpec, filterAll, followOf, specFor, type Follow } from "./scope";
import { everything, type Look } from "./selection";
import { noID, type Scene } from "../scene/scene";

const look: Look = { trail: [{ begin: 100, end: 900 }], only: [], time: { begin: 200, end: 300 }, locations: ["#5"], regions: ["#7"] };
const context: Follow = { time: "window", locations: "context", regions: "context" };

describe("a view", () => {
  test("that filters takes the brushed range and everything chosen", () => {
    expect(specFor(look, filterAll)).toEqual({ from: 200, to: 300, locations: ["#5"], regions: ["#7"] });
  });
  test("that filters takes the window where nothing is brushed", () => {
    expect(countedSpec({ ...look, time: null })).toEqual({ from: 100, to: 900, locations: ["#5"], regions: ["#7"] });
  });
  test("that shows context takes the window alone", () => {
    expect(specFor(look, context)).toEqual({ from: 100, to: 900 });
  });
  test("that shows context is still narrowed on purpose", () => {
    expect(specFor({ ...look, only: ["#2"] }, context)).toEqual({ from: 100, to: 900, locations: ["#2"] });
  });
  test("leaves patterns that it cannot mark to the server", () => {
    expect(specFor({ ...look, locations: ["node*"], regions: ["MPI_*"] }, context)).toEqual({ from: 100, to: 900, locations: ["node*"], regions: ["MPI_*"] });
  });
  test("of a whole run asks for nothing", () => {
    expect(specFor(everything, filterAll)).toEqual({});
    expect(specFor(look, { ...filterAll, time: "none" })).toEqual({ locations: ["#5"], regions: ["#7"] });
  });
});

test("rows of a scene decide what is context", () => {
  const scale = { kind: "rows" as const, begin: 0, end: 0, label: "", rows: [{ from: 0, to: 1, location: 3, region: noID, label: "", count: 1, level: 0, open: false, folded: false }] };
  const plain = { ...scale, kind: "linear" as const, rows: [] };
  const scene = { frames: [{ name: "", x: 0, y: 0, w: 1, h: 1, xScale: plain, yScale: scale }] } as unknown as Scene;
  expect(followOf(scene)).toEqual({ time: "selection", locations: "context", regions: "filter" });
  expect(followOf(scene, { time: "window" }).time).toBe("window");
  expect(followOf(null)).toEqual(filterAll);
});
