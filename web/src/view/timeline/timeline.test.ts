import { expect, test } from "vitest";
import type { Scene } from "../../scene/scene";
import { noID, type Row } from "../../scene/scene";
import { newPanel } from "../../shell/layout";
import { kinds, readRows, timelineSymbols, toggleRow } from "./index";

const row = (location: number, change: Partial<Row>): Row => ({ from: 0, to: 10, location, region: noID, label: "", count: 1, level: 0, open: false, folded: false, ...change });

test("a click on a label opens a folded group and closes an open one", () => {
  const panel = newPanel("timeline", { expand: ["#5", "node*"], collapse: ["#7"] });
  expect(toggleRow(row(7, { folded: true }), panel)).toEqual([{ option: "collapse", values: [] }, { option: "expand", values: ["#5", "node*", "#7"] }]);
  expect(toggleRow(row(5, { open: true }), panel)).toEqual([{ option: "expand", values: ["node*"] }, { option: "collapse", values: ["#7", "#5"] }]);
  expect(toggleRow(row(9, {}), panel)).toBeNull();
  expect(toggleRow(row(noID, { open: true }), panel)).toBeNull();
});

test("the notes tell which rows are shown", () => {
  expect(readRows(["not drawn: 3 links", "rows 1,101 to 1,150 of 200,000 are shown; scroll, or fold groups, to see the others"])).toEqual({ first: 1100, last: 1150, total: 200000 });
  expect(readRows(["rows are nice"])).toBeNull();
});

test("symbols over the rows are in the legend, where there are some", () => {
  const line = { kind: "line", x0: Float32Array.of(1) }, points = { kind: "point", x: new Float32Array(0) };
  const scene = { layers: [{ name: "links", frame: 0, marks: [line, points] }, { name: "instants", frame: 0, marks: [{ kind: "point", x: Float32Array.of(3) }] }], frames: [{ yScale: { rows: [{ label: "↑ rank 3" }] } }] } as unknown as Scene;
  expect(timelineSymbols(scene).map((s) => s.words)).toEqual(["link", "instant", "pinned"]);
});

test("rows of one kind name their panel", () => {
  expect(kinds("kind:goroutine")).toBe("Goroutines");
  expect(kinds("rank:3")).toBe("");
});
