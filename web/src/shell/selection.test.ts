import { describe, expect, test, vi } from "vitest";
import { everything, firstLook, firstLookOfAll, looksNow, SelectionStore, shortestWindow, windowOf } from "./selection";

const run = () => {
  const s = new SelectionStore();
  s.reset(1000);
  return s;
};

describe("the window", () => {
  test("is the core at first where a few records far away stretch the run, and can be left for all", () => {
    const s = new SelectionStore();
    s.reset(1000, firstLook([900, 1000]));
    expect(s.window).toEqual({ begin: 900, end: 1000 });
    s.zoom(s.wholeRun);
    expect(s.window).toEqual({ begin: 0, end: 1000 });
    expect(firstLook(null)).toEqual(everything);
  });

  test("of a run that is mostly blank is the first of its windows", () => {
    expect(firstLook(null, [[5, 10], [900, 1000]]).trail).toEqual([{ begin: 5, end: 10 }]);
    expect(firstLook([2, 1000], [[5, 10], [900, 1000]]).trail).toEqual([{ begin: 2, end: 1000 }]);
  });

  test("of runs that are mostly blank is the first window of all", () => {
    expect(firstLookOfAll([[[0, 10], [900, 1000]], [[0, 12], [700, 800]]]).trail).toEqual([{ begin: 0, end: 12 }]);
    expect(firstLookOfAll([[[0, 10], [900, 1000]], []])).toEqual(everything);
  });

  test("is the whole run at first, and stays inside it", () => {
    const s = run();
    expect(s.window).toEqual({ begin: 0, end: 1000 });
    s.zoom({ begin: -50, end: 150 });
    expect(s.window).toEqual({ begin: 0, end: 200 });
    s.panBy(100);
    expect(s.window).toEqual({ begin: 800, end: 1000 });
  });
  test("zooms round the point under the cursor", () => {
    const s = run();
    s.zoomBy(0.5, 200);
    expect(s.window).toEqual({ begin: 100, end: 600 });
  });
  test("never gets shorter than can be seen", () => {
    const s = run();
    for (let i = 0; i < 50; i++) s.zoomBy(0.5, 500);
    expect(s.window.end - s.window.begin).toBe(shortestWindow);
  });
  test("zooming out ends at the whole run with an empty trail", () => {
    const s = run();
    s.zoom({ begin: 100, end: 200 });
    for (let i = 0; i < 20; i++) s.zoomBy(2, 150);
    expect(s.look.trail).toEqual([]);
  });
});

describe("the trail", () => {
  test("grows with each zoom inside the last, and going back cuts it", () => {
    const s = run();
    s.zoom({ begin: 100, end: 500 });
    s.zoom({ begin: 200, end: 300 });
    expect(s.look.trail.length).toBe(2);
    s.back(0);
    expect(s.window).toEqual({ begin: 100, end: 500 });
    s.back(-1);
    expect(windowOf(s.look)).toBeNull();
  });
  test("a window that leaves a step drops it", () => {
    const s = run();
    s.zoom({ begin: 100, end: 500 });
    s.zoom({ begin: 200, end: 300 });
    s.zoom({ begin: 450, end: 550 });
    expect(s.look.trail).toEqual([{ begin: 450, end: 550 }]);
  });
  test("one gesture is one step", () => {
    const s = run();
    for (let i = 0; i < 5; i++) s.zoomBy(0.9, 500, { gesture: "wheel-1" });
    expect(s.look.trail.length).toBe(1);
    for (let i = 0; i < 5; i++) s.zoomBy(0.9, 500, { gesture: "wheel-2" });
    expect(s.look.trail.length).toBe(2);
    s.undo();
    s.undo();
    expect(s.look).toEqual(everything);
  });

  test("stays short enough for one line", () => {
    const s = run();
    for (let i = 1; i < 20; i++) s.zoom({ begin: 10 * i, end: 1000 - 10 * i });
    expect(s.look.trail.length).toBe(6);
    expect(s.window).toEqual({ begin: 190, end: 810 });
  });
});

describe("the selection", () => {
  test("is cut to the run; an empty range is none", () => {
    const s = run();
    s.select({ time: { begin: -5, end: 5000 } });
    expect(s.look.time).toEqual({ begin: 0, end: 1000 });
    s.select({ time: { begin: 2000, end: 3000 } });
    expect(s.look.time).toBeNull();
  });
  test("toggling adds and takes away", () => {
    const s = run();
    s.toggle("locations", "#5");
    s.toggle("locations", "#7");
    expect(s.look.locations).toEqual(["#5", "#7"]);
    s.toggle("locations", "#5");
    expect(s.look.locations).toEqual(["#7"]);
  });
  test("clearing keeps the window, undo brings everything back, redo clears again", () => {
    const s = run();
    s.zoom({ begin: 100, end: 500 });
    s.select({ time: { begin: 200, end: 300 }, regions: ["role:io"] });
    s.clear();
    expect(s.isEmpty).toBe(true);
    expect(s.window).toEqual({ begin: 100, end: 500 });
    s.undo();
    expect(s.look.time).toEqual({ begin: 200, end: 300 });
    expect(s.look.regions).toEqual(["role:io"]);
    s.redo();
    expect(s.isEmpty).toBe(true);
    expect(s.canRedo).toBe(false);
  });
  test("a new change forgets what was undone", () => {
    const s = run();
    s.toggle("regions", "#1");
    s.undo();
    s.toggle("regions", "#2");
    expect(s.canRedo).toBe(false);
  });
  test("setting what is set already is no step and tells nobody", () => {
    const s = run();
    s.select({ locations: ["#1"] });
    const told = vi.fn();
    s.subscribe(told);
    s.select({ locations: ["#1"] });
    expect(told).not.toHaveBeenCalled();
    s.undo();
    expect(s.canUndo).toBe(false);
  });
  test("tells whoever listens, until they stop", () => {
    const s = run();
    const told = vi.fn();
    const stop = s.subscribe(told);
    s.clear();
    s.toggle("regions", "#1");
    stop();
    s.toggle("regions", "#2");
    expect(told).toHaveBeenCalledTimes(1);
  });
});

test("what an address says is cut to the run", () => {
  const s = new SelectionStore();
  s.reset(1000, { ...everything, trail: [{ begin: 100, end: 9000 }, { begin: 5000, end: 6000 }, { begin: 200, end: 300 }], time: { begin: 900, end: 5000 } });
  expect(s.look.trail[s.look.trail.length - 1]).toEqual({ begin: 200, end: 300 });
  expect(s.look.time).toEqual({ begin: 900, end: 1000 });
  expect(s.canUndo).toBe(false);
});

describe("steps that are not looks", () => {
  const stepper = () => {
    const done: string[] = [];
    const step = (key: string, name: string) => ({ key, undo: () => done.push(`-${name}`), redo: () => done.push(`+${name}`) });
    return { done, step };
  };
  test("undo goes back over both in their order", () => {
    const s = new SelectionStore(1000);
    const { done, step } = stepper();
    s.select({ locations: ["#1"] });
    s.record(step("", "close"));
    s.select({ locations: ["#2"] });
    s.undo();
    expect(s.look.locations).toEqual(["#1"]);
    s.undo();
    expect(done).toEqual(["-close"]);
    s.undo();
    expect(s.look.locations).toEqual([]);
    s.redo();
    s.redo();
    expect(done).toEqual(["-close", "+close"]);
    expect(s.look.locations).toEqual(["#1"]);
    s.redo();
    expect(s.look.locations).toEqual(["#2"]);
    expect(s.canRedo).toBe(false);
  });
  test("a drag is one step, and a new change forgets what was undone", () => {
    const s = new SelectionStore(1000);
    const { done, step } = stepper();
    s.record(step("weights", "a"), 5000);
    s.record(step("weights", "b"), 5100);
    s.record(step("weights", "c"), 9000);
    s.undo();
    s.undo();
    expect(done).toEqual(["-c", "-a"]);
    s.redo();
    expect(done.at(-1)).toBe("+b");
    s.record(step("", "d"));
    expect(s.canRedo).toBe(false);
  });
});

describe("a run that grows", () => {
  test("keeps the window and the selection, and undo goes back as before", () => {
    const s = run();
    s.zoom({ begin: 100, end: 200 });
    s.select({ locations: ["#3", "rank:0-3", "#4"], regions: ["#1"], time: { begin: 110, end: 120 } });
    s.renew(5000, looksNow(0, { locations: [3, 4], regions: [1] }, { locations: [7, -1], regions: [2] }));
    expect(s.wholeRun).toEqual({ begin: 0, end: 5000 });
    expect(s.window).toEqual({ begin: 100, end: 200 });
    expect(s.look.locations).toEqual(["#7", "rank:0-3"]);
    expect(s.look.regions).toEqual(["#2"]);
    expect(s.look.time).toEqual({ begin: 110, end: 120 });
    s.undo();
    expect(s.look.locations).toEqual([]);
    expect(s.window).toEqual({ begin: 100, end: 200 });
    s.undo();
    expect(s.window).toEqual({ begin: 0, end: 5000 });
  });
  test("shows all of it where all was shown, and moves windows where the first record is another", () => {
    const s = run();
    s.renew(1200, looksNow(-300, { locations: [], regions: [] }, null));
    expect(s.window).toEqual({ begin: 0, end: 1200 });
    s.zoom({ begin: 600, end: 700 });
    s.renew(1200, looksNow(-300, { locations: [], regions: [] }, null));
    expect(s.window).toEqual({ begin: 300, end: 400 });
    s.renew(1200, looksNow(-900, { locations: [], regions: [] }, null));
    expect(s.window).toEqual({ begin: 0, end: 100 });
  });
});

test("several changes of one click are one step of undo", () => {
  const store = new SelectionStore(1000);
  let panels = "a";
  store.asOneStep(() => {
    store.select({ regions: ["#1"] });
    store.record({ key: "", undo: () => (panels = "a"), redo: () => (panels = "b") });
    panels = "b";
  });
  store.undo();
  expect([panels, store.look.regions, store.canUndo]).toEqual(["a", [], false]);
  store.redo();
  expect([panels, store.look.regions, store.canRedo]).toEqual(["b", ["#1"], false]);
  store.undo();
  expect([panels, store.look.regions]).toEqual(["a", []]);
});
