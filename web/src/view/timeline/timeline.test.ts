import { expect, test } from "vitest";
import { noID, type Row } from "../../scene/scene";
import { newPanel } from "../../shell/layout";
import { readRows, toggleRow } from "./index";

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
