import { expect, test } from "vitest";
import { addPanel, adopt, appendPanel, changeKey, closePanel, findPanel, newPanel, onlyScrolls, panels, panelsAs, resizeColumn, resizeRow, setOption, shownAlone, sideBySide, toggleMaximised, type Layout } from "./layout";

const names = (l: Layout) => l.rows.map((r) => r.panels.map((p) => p.view));
const two = (): Layout => ({ rows: [{ weight: 1, panels: [newPanel("timeline"), newPanel("moments")] }], maximised: "" });

test("a panel is split to the right or below", () => {
  const l = two();
  const first = panels(l)[0];
  expect(names(addPanel(l, newPanel("treemap"), first.id, "right"))).toEqual([["timeline", "treemap", "moments"]]);
  expect(names(addPanel(l, newPanel("treemap"), first.id, "below"))).toEqual([["timeline", "moments"], ["treemap"]]);
  expect(names(addPanel(l, newPanel("treemap"), "gone"))).toEqual([["timeline", "moments"], ["treemap"]]);
});

test("appended panels fill the last row first", () => {
  let l = two();
  for (const v of ["a", "b", "c"]) l = appendPanel(l, newPanel(v));
  expect(names(l)).toEqual([["timeline", "moments"], ["a", "b"], ["c"]]);
});

test("closing the last panel of a row closes the row, and ends being maximised", () => {
  let l = addPanel(two(), newPanel("treemap"));
  const id = panels(l)[2].id;
  l = toggleMaximised(l, id);
  expect(l.maximised).toBe(id);
  l = closePanel(l, id);
  expect(names(l)).toEqual([["timeline", "moments"]]);
  expect(l.maximised).toBe("");
});

test("as tabs one panel is shown; what is added is opened, and what follows the closed one", () => {
  let l = panelsAs(two(), "tabs", "gone");
  expect(shownAlone(l)?.view).toBe("timeline");
  const added = newPanel("treemap");
  l = addPanel(l, added, panels(l)[0].id, "right");
  expect([l.as, shownAlone(l)?.view]).toEqual(["tabs", "treemap"]);
  l = closePanel(l, added.id);
  expect([l.as, shownAlone(l)?.view]).toEqual(["tabs", "moments"]);
  expect(toggleMaximised(l, panels(l)[0].id)).toBe(l);
  expect(shownAlone(panelsAs(l, "scroll", ""))).toBeUndefined();
  expect(changeKey(l, panelsAs(l, undefined, ""))).toBe("");
});

test("an option without values goes back to its default", () => {
  let l = two();
  const id = panels(l)[0].id;
  l = setOption(l, id, "show", ["max"]);
  expect(findPanel(l, id)!.options).toEqual({ show: ["max"] });
  l = setOption(l, id, "show", []);
  expect(findPanel(l, id)!.options).toEqual({});
  expect(setOption(l, "gone", "show", ["max"])).toBe(l);
});

test("dividers move weight between neighbours, and nobody vanishes", () => {
  let l = two();
  l = resizeColumn(l, 0, 0, 0.2);
  expect(l.rows[0].panels.map((p) => p.weight)).toEqual([1.4, 0.6]);
  l = resizeColumn(l, 0, 0, 5);
  expect(l.rows[0].panels.map((p) => p.weight)).toEqual([1.8, 0.2]);
  expect(resizeColumn(l, 0, 1, 0.1)).toBe(l);
  l = resizeRow(addPanel(l, newPanel("treemap")), 0, -0.25);
  expect(l.rows.map((r) => r.weight)).toEqual([0.5, 1.5]);
  expect(resizeRow(l, 1, 0.1)).toBe(l);
});

test("a change says what it is about", () => {
  const before = addPanel({ rows: [{ panels: [newPanel("timeline")], weight: 1 }], maximised: "" }, newPanel("moments"));
  const id = panels(before)[0].id;
  expect(changeKey(before, resizeRow(before, 0, 0.1))).toBe("weights");
  expect(changeKey(before, setOption(before, id, "show", ["max"]))).toBe(`${id} show`);
  expect(changeKey(before, closePanel(before, id))).toBe("");
  expect(changeKey(before, toggleMaximised(before, id))).toBe("");
  expect(onlyScrolls(changeKey(before, setOption(before, id, "scroll", ["7"])))).toBe(true);
  expect(onlyScrolls("")).toBe(false);
});

test("keeps the panels of the same view in their places", () => {
  const before = { rows: [{ weight: 1, panels: [newPanel("timeline"), newPanel("moments")] }], maximised: "" };
  const panels = [newPanel("timeline", { show: ["max"] }), newPanel("treemap")];
  const now = adopt({ rows: [{ weight: 1, panels }], maximised: panels[0]!.id }, before);
  expect(now.rows[0]!.panels.map((p) => p.id)).toEqual([before.rows[0]!.panels[0]!.id, panels[1]!.id]);
  expect(now.rows[0]!.panels[0]!.options).toEqual({ show: ["max"] });
  expect(now.maximised).toBe(before.rows[0]!.panels[0]!.id);
});

const alike = (...ids: string[]) => ids.map((id) => ({ id, name: id, size: 16 }));

test("runs side by side are a column each, the first the page's own", () => {
  const l = sideBySide(alike("a", "b"), ["moments", "profile", "timeline"]);
  expect(l.rows.map((r) => r.panels.map((p) => [p.view, p.options.run?.[0] ?? ""]))).toEqual([[["timeline", ""], ["timeline", "b"]], [["profile", ""], ["profile", "b"]]]);
  expect(new Set(l.rows.flatMap((r) => r.panels.map((p) => p.id))).size).toBe(4);
  expect(sideBySide(alike("a", "b", "c", "d", "e"), ["timeline"]).rows[0].panels).toHaveLength(4);
  expect(sideBySide(alike("a", "b"), ["topology"]).rows).toEqual([]);
});

const shown = (l: Layout) => l.rows.map((r) => r.panels.map((p) => [p.view, p.options.with?.join() ?? p.options.run?.[0] ?? ""]));

test("runs that can be compared have the verdict first, and their timelines one above the other", () => {
  expect(shown(sideBySide(alike("a", "b"), ["compare", "history", "scaling", "profile", "timeline"]))).toEqual([[["compare", "b"], ["compare", "b"]], [["timeline", ""]], [["timeline", "b"]]]);
  expect(shown(sideBySide(alike("a", "b", "c"), ["compare", "history", "calltree"]))).toEqual([[["compare", "b,c"], ["history", "b,c"]], [["calltree", ""], ["calltree", "b"]]]);
});

test("runs of several sizes have how they scale first, then the largest against the smallest", () => {
  const sized = (...sizes: number[]) => sizes.map((size) => ({ id: `r${size}`, name: `run ${size}`, size }));
  const views = ["compare", "history", "scaling", "timeline"];
  const three = sideBySide(sized(16, 8, 64), views);
  expect(shown(three)).toEqual([[["scaling", "r8,r64"], ["compare", "r8,r64"]], [["timeline", ""]], [["timeline", "r64"]]]);
  expect([three.rows[0].panels[1].options.a, three.rows[0].panels[1].options.b]).toEqual([["run 8"], ["run 64"]]);
  const five = sideBySide(sized(8, 16, 32, 64, 256), views);
  expect(five.rows.map((r) => r.panels.map((p) => p.view + (p.options.picture ?? "")))).toEqual([["scaling", "scalingmodels"], ["compare", "timeline"]]);
  // Where the size of one is not known, they are runs like others.
  expect(sideBySide(sized(0, 8), views).rows[0].panels[0].view).toBe("compare");
});
