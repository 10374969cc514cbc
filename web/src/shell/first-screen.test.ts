import { expect, test } from "vitest";
import { firstScreen, otherScreens, screenOf, type RunSize } from "./first-screen";
import { noPanels, type Layout } from "./layout";

const names = (l: Layout) => l.rows.map((r) => r.panels.map((p) => p.view));
const all = ["timeline", "moments", "activity", "profile", "calltree", "boxprofile", "treemap", "steps", "operators", "groups", "findings"];

test("the first screen shows what answers for such a run", () => {
  expect(names(firstScreen("ranks", all))).toEqual([["timeline", "moments"], ["treemap", "boxprofile"]]);
  expect(names(firstScreen("gpu", all))).toEqual([["steps", "operators"], ["timeline"]]);
  expect(names(firstScreen("go", all))).toEqual([["timeline"], ["calltree", "groups"]]);
  expect(names(firstScreen("profile", ["calltree", "profile", "treemap", "findings"]))).toEqual([["calltree"], ["profile", "treemap"]]);
});

test("views that the run has no data for leave their place", () => {
  expect(names(firstScreen("ranks", ["timeline", "activity"]))).toEqual([["timeline"], ["activity"]]);
  expect(names(firstScreen("requests", ["criticalpath", "timeline"]))).toEqual([["criticalpath"], ["timeline"]]);
  expect(names(firstScreen("profile", ["profile"]))).toEqual([["profile"]]);
  expect(names(firstScreen("other", ["landscape"]))).toEqual([["landscape"]]);
  expect(names(firstScreen("profile", ["calltree", "profile", "treemap"], { locations: 1 }))).toEqual([["calltree"], ["profile"]]);
  expect(names(firstScreen("profile", ["calltree", "profile", "treemap"], { locations: 2 }))).toEqual([["calltree"], ["profile"]]);
  expect(firstScreen("other", [])).toEqual(noPanels);
});

test("a profile without call paths has columns and bars in the largest panel, not an empty tree", () => {
  expect(names(firstScreen("profile", ["profile", "boxprofile", "treemap", "findings"], { locations: 9 }))).toEqual([["profile"], ["boxprofile", "treemap"]]);
});

test("one process of few rows shows its stack, unless that is too much to read", () => {
  const depth = (size: RunSize) => firstScreen("threads", all, size).rows[0].panels[0].options;
  expect(depth({ rows: 1, depth: 20, intervals: 5000 })).toEqual({ depth: ["20"] });
  expect([depth({ rows: 9, depth: 20, intervals: 5000 }), depth({ rows: 1, depth: 20, intervals: 1e8 }), depth({ rows: 1, depth: 1, intervals: 5 })]).toEqual([{}, {}, {}]);
});

test("other screens are offered where the run has their views", () => {
  expect(otherScreens("gpu", all)).toEqual(["ranks", "go", "threads", "profile", "moments"]);
  expect(otherScreens("profile", ["calltree", "profile"])).toEqual([]);
});

test("a layout is known as the first screen it is, until it is changed", () => {
  const held = ["timeline", "moments", "treemap", "boxprofile", "calltree", "groups"];
  expect(screenOf(firstScreen("ranks", held), ["gpu", "ranks"], held)).toBe("ranks");
  expect(screenOf({ rows: [], maximised: "" }, ["gpu", "ranks"], held)).toBeNull();
});
