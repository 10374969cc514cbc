import { expect, test } from "vitest";
import { firstScreen, otherScreens, screenOf } from "./first-screen";
import { noPanels, type Layout } from "./layout";

const names = (l: Layout) => l.rows.map((r) => r.panels.map((p) => p.view));
const all = ["timeline", "moments", "activity", "profile", "calltree", "boxprofile", "treemap", "steps", "operators", "groups", "findings"];

test("the first screen shows what answers for such a run", () => {
  expect(names(firstScreen("ranks", all))).toEqual([["timeline", "moments"], ["treemap", "boxprofile"]]);
  expect(names(firstScreen("gpu", all))).toEqual([["steps", "operators"], ["timeline"]]);
  expect(names(firstScreen("go", all))).toEqual([["timeline"], ["timeline", "calltree"]]);
  expect(firstScreen("go", all).rows.map((r) => r.panels[0].options.only)).toEqual([["kind:processor"], ["kind:goroutine"]]);
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
  expect(names(firstScreen("profile", all, { path_depth: 1 }))[0]).toEqual(["profile"]);
  expect(names(firstScreen("profile", all, { path_depth: 7 }))[0]).toEqual(["calltree"]);
});

test("a large screen has more panels, not larger ones", () => {
  expect(names(firstScreen("ranks", all, {}, true))).toEqual([["timeline", "moments", "profile"], ["treemap", "boxprofile", "calltree"]]);
  expect(names(firstScreen("ranks", all, { depth: 1 }, true))).toEqual([["timeline", "moments", "profile"], ["treemap", "boxprofile"]]);
  expect(names(firstScreen("profile", [...all, "callmatrix"], { path_depth: 1 }, true))).toEqual([["profile"], ["boxprofile", "treemap", "groups"]]);
  expect(screenOf(firstScreen("ranks", all, {}, true), ["gpu", "ranks"], all)).toBe("ranks");
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
