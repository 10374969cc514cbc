import { expect, test } from "vitest";
import { isCut, learnLabelRoom, movedBy, movedValue, parseShift, sharedLabelRoom, specBeside, windowBeside } from "./beside";
import type { Layout, PanelRow, PanelState } from "./layout";
import { everything } from "./selection";

const panel = (moved?: string) => ({ options: moved ? { moved: [moved] } : {} }) as unknown as PanelState;
const zoomed: typeof everything = { ...everything, trail: [{ begin: 100, end: 300 }] };

test("another run is on the page's scale, then shows the same time, then the same time moved", () => {
  expect(windowBeside(everything, panel(), 1000, 800)).toEqual({ begin: 0, end: 1000 }); // 200 after its end
  expect(windowBeside(zoomed, panel(), 1000, 800)).toEqual({ begin: 100, end: 300 });
  expect(windowBeside(zoomed, panel("60"), 1000, 800)).toEqual({ begin: 40, end: 240 });
  expect(windowBeside(zoomed, panel("-600"), 1000, 800)).toEqual({ begin: 700, end: 900 });
  expect(windowBeside(everything, panel("-100"), 1000, 800)).toEqual({ begin: 100, end: 1100 });
});

test("a window outside the other run is never empty or backwards", () => {
  for (const moved of ["5000", "-5000"]) {
    const w = windowBeside(zoomed, panel(moved), 1000, 800);
    expect(w.begin).toBeGreaterThanOrEqual(0);
    expect(w.end).toBeGreaterThan(w.begin);
    const spec = specBeside(w, 800);
    expect(spec.from).toBeLessThan(Number(spec.to));
    expect(spec.to).toBeLessThanOrEqual(800);
  }
});

test("another scale is told", () => {
  const cut = (p: PanelState, look = zoomed) => isCut(look, 1000, windowBeside(look, p, 1000, 800));
  expect(cut(panel())).toBe(false);
  expect(cut(panel("60"))).toBe(false);
  expect(cut(panel("-600"))).toBe(false); // it ends earlier, on the same scale
  expect(cut(panel(), everything)).toBe(false); // both whole, 1000 and 800 long
  expect(cut(panel("200"))).toBe(true); // there is nothing before its beginning
});

test("the whole is asked for without a time", () => {
  expect(specBeside({ begin: 0, end: 800 }, 800)).toEqual({});
  expect(specBeside({ begin: 0, end: 1000 }, 800)).toEqual({});
  expect(specBeside({ begin: 1, end: 1000 }, 800)).toEqual({ from: 1, to: 800 });
});

test("a shift is written and read", () => {
  expect(movedBy(panel("20"))).toBe(20);
  expect(movedBy(panel("x"))).toBe(0);
  expect(movedValue(0.3)).toEqual([]);
  expect(movedValue(12.6)).toEqual(["13"]);
  expect(parseShift("-1.5 ms")).toBe(-1.5e6);
  expect(parseShift("20")).toBe(20e6);
  expect(parseShift("0")).toBe(0);
  expect(parseShift("2s")).toBe(2e9);
  expect(parseShift("later")).toBeNull();
});

test("timelines of two runs below each other have room for the longest labels of both", () => {
  const row = (id: string, run: string[]): PanelRow => ({ weight: 1, panels: [{ id, view: "timeline", options: (run.length > 0 ? { run } : {}) as PanelState["options"], table: false, weight: 1 }] });
  const layout: Layout = { rows: [row("a", []), row("b", ["other"])], maximised: "" };
  learnLabelRoom("a", 80);
  learnLabelRoom("b", 104);
  expect(layout.rows.map((r) => sharedLabelRoom(layout, r.panels[0]!))).toEqual([104, 0]);
  expect(sharedLabelRoom({ ...layout, maximised: "a" }, layout.rows[0]!.panels[0]!)).toBe(0);
  expect(sharedLabelRoom({ rows: [row("a", [])], maximised: "" }, layout.rows[0]!.panels[0]!)).toBe(0);
});
