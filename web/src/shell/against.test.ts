import { expect, test } from "vitest";
import { samePhases, stacked } from "./against";
import { newPanel, panels, type Layout } from "./layout";

test("phases are the same by name, else by number", () => {
  const own = [{ name: "step 5", begin: 10 }, { name: "step 6", begin: 20 }];
  expect(samePhases(own, [{ name: "step 6", begin: 3 }, { name: "step 7", begin: 9 }])).toEqual([{ name: "step 6", own: 20, other: 3 }]);
  expect(samePhases(own, [{ name: "solve", begin: 4 }])).toEqual([{ name: "step 5", own: 10, other: 4 }]);
  expect(samePhases(own, [])).toEqual([]);
});

test("a timeline is compared by one below it, of the other run", () => {
  const own = newPanel("timeline", { depth: ["2"] });
  const layout: Layout = { rows: [{ weight: 1, panels: [own] }], maximised: "" };
  const all = panels(stacked(layout, own, "b"));
  expect(all.map((p) => [p.view, p.options])).toEqual([["timeline", { depth: ["2"] }], ["timeline", { depth: ["2"], run: ["b"] }]]);
});
