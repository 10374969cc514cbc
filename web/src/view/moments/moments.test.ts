import { expect, test } from "vitest";
import { addPanel, newPanel, noPanels, panels } from "../../shell/layout";
import { followOf, specFor } from "../../shell/scope";
import { everything } from "../../shell/selection";
import { moments, withChart } from "./index";

test("one click opens the two-state chart beside the moments, and only once", () => {
  const panel = newPanel("moments");
  const once = withChart(addPanel(noPanels, panel), panel);
  expect(once.rows.map((r) => r.panels.map((p) => p.view))).toEqual([["moments", "timeline"]]);
  expect(panels(once)[1].options).toEqual({ colour: ["busy"] });
  expect(withChart(once, panel)).toBe(once);
});

test("choosing a row chooses its locations and no time", () => {
  expect(moments.choose?.({ title: "rank 5", lines: [], locations: [7], begin: 1, end: 2 })).toEqual({ locations: ["#7"] });
  expect(moments.choose?.({ title: "many", lines: [] })).toEqual({});
});

test("a brushed time is what moments are of, not a part of their bars that is lit", () => {
  const follow = followOf(null, moments.follow);
  const look = { ...everything, trail: [{ begin: 0, end: 100 }], time: { begin: 20, end: 40 } };
  expect(specFor(look, follow)).toMatchObject({ from: 20, to: 40 });
});
