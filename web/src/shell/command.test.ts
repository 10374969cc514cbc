import { beforeEach, describe, expect, test } from "vitest";
import type { Api } from "../api/client";
import type { ViewInfo } from "../api/types";
import type { Painter } from "../scene/painter";
import { palette } from "../scene/palette";
import { commands, pickView, viewCommands } from "./command";
import { newPanel, panels } from "./layout";
import { matching } from "./overlays";
import { Workbench } from "./workbench";

let bench: Workbench;
const run = (id: string) => commands.find((c) => c.id === id)!.run(bench);
const view = (name: string): ViewInfo => ({ name, title: name, paper: "", summary: "", howToRead: "", needs: {} as ViewInfo["needs"], runs: 1, options: [], examples: [], completions: [] });

beforeEach(() => {
  bench = new Workbench({ places: () => new Promise(() => {}) } as unknown as Api, [], palette, () => ({}) as Painter);
  bench.views.value = ["timeline", "moments", "treemap"].map(view);
  bench.runID.value = "r";
  bench.runs.value = [{ id: "r", name: "r", source: "", format: "", state: "ready", progress: 1, error: null, generation: "1", live: false, origin: 0, size: 0, keys: {}, runs: [], missing: { treemap: "no tree" } }];
  bench.store.reset(1000);
  bench.layout.value = { rows: [{ weight: 1, panels: [newPanel("timeline"), newPanel("moments")] }], maximised: "" };
  bench.focused.value = panels(bench.layout.value)[0].id;
});

test("every command has its own name and keys", () => {
  expect(new Set(commands.map((c) => c.id)).size).toBe(commands.length);
  const keys = commands.flatMap((c) => c.keys);
  expect(new Set(keys).size).toBe(keys.length);
});

describe("moving", () => {
  test("zooms at the cursor, or in the middle", () => {
    run("zoom-in");
    expect(bench.store.window).toEqual({ begin: 125, end: 875 });
    bench.hover.value = { panel: "", time: 125, location: null, region: null };
    bench.store.endGesture();
    run("zoom-in");
    expect(bench.store.window.begin).toBe(125);
  });
  test("fits the brushed range, else what is chosen, else the whole run", () => {
    bench.store.select({ time: { begin: 200, end: 300 } });
    run("fit");
    expect(bench.store.window).toEqual({ begin: 198, end: 302 });
    bench.store.clear();
    bench.pin({ fact: { title: "", lines: [], begin: 500, end: 600 }, panel: "", view: "" });
    run("fit");
    expect(bench.store.window).toEqual({ begin: 498, end: 602 });
    bench.pin(null);
    run("fit");
    expect(bench.store.window).toEqual({ begin: 0, end: 1000 });
  });
  test("steps the brushed range by its own length, and stops at the end", () => {
    bench.store.select({ time: { begin: 800, end: 900 } });
    run("next");
    expect(bench.look.value.time).toEqual({ begin: 900, end: 1000 });
    run("next");
    expect(bench.look.value.time).toEqual({ begin: 900, end: 1000 });
    expect(bench.toast.value).toMatch(/end of the run/);
    run("previous");
    expect(bench.look.value.time).toEqual({ begin: 800, end: 900 });
  });
  test("marks a time, goes to it, and removes it", () => {
    bench.store.zoom({ begin: 100, end: 200 });
    run("mark");
    expect(bench.marks.value).toEqual([150]);
    bench.store.zoom({ begin: 600, end: 700 });
    run("previous-mark");
    expect(bench.store.window).toEqual({ begin: 100, end: 200 });
    run("mark");
    expect(bench.marks.value).toEqual([]);
  });
});

describe("selecting", () => {
  test("Escape lets go one thing after the other", () => {
    bench.layout.value = { ...bench.layout.value, maximised: bench.focused.value };
    bench.store.select({ regions: ["#1"] });
    run("clear");
    expect(bench.store.isEmpty).toBe(true);
    expect(bench.layout.value.maximised).not.toBe("");
    run("clear");
    expect(bench.layout.value.maximised).toBe("");
  });
  test("narrows to the selected locations and widens again", () => {
    run("narrow");
    expect(bench.toast.value).toMatch(/Select locations first/);
    bench.choose({ locations: ["#3"] });
    run("narrow");
    expect(bench.look.value).toMatchObject({ only: ["#3"], locations: [] });
    run("narrow");
    expect(bench.look.value.only).toEqual([]);
  });
  test("Ctrl adds what is not there and takes away what is", () => {
    bench.choose({ locations: ["#1"] });
    bench.choose({ locations: ["#2", "#3"] }, true);
    expect(bench.look.value.locations).toEqual(["#1", "#2", "#3"]);
    bench.choose({ locations: ["#2"] }, true);
    expect(bench.look.value.locations).toEqual(["#1", "#3"]);
  });
  test("names no more than a request may hold, and says so", () => {
    bench.choose({ locations: Array.from({ length: 10_000 }, (_, i) => `#${i}`) });
    expect(bench.look.value.locations.length).toBe(10_000);
    expect(bench.toast.value).toBe("");
    bench.choose({ locations: Array.from({ length: 10_001 }, (_, i) => `#${i}`), regions: Array.from({ length: 251 }, (_, i) => `#${i}`) });
    expect(bench.look.value.locations.length).toBe(10_000);
    expect(bench.look.value.regions.length).toBe(250);
    expect(bench.toast.value).toMatch(/first 250 regions/);
  });
});

describe("panels", () => {
  test("views that the run lacks data for are not offered", () => {
    expect(viewCommands(bench).map((c) => c.id)).toEqual(["view-timeline", "view-moments"]);
    pickView(bench, 1);
    expect(bench.focusedPanel!.view).toBe("moments");
    pickView(bench, 7);
    expect(bench.toast.value).toBe("There is no view 8.");
  });
  test("a view is shown where it is, or added", () => {
    bench.reveal("moments");
    expect(panels(bench.layout.value).length).toBe(2);
    expect(bench.focusedPanel!.view).toBe("moments");
    bench.reveal("treemap");
    expect(panels(bench.layout.value).length).toBe(3);
  });
});

test("the palette finds commands by their letters, the tightest first", () => {
  expect(matching(commands, "dark")[0].id).toBe("dark");
  expect(matching(commands, "zmin")[0].id).toBe("zoom-in");
  expect(matching(commands, "qqq")).toEqual([]);
  expect(matching(commands, "").length).toBe(commands.length);
});
