import { describe, expect, it } from "vitest";
import { noID, type Row, type Scene } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import { hideRow, keepRow, zoomValues } from ".";

const row = (region: number) => ({ region, location: noID }) as Row;
const panel = (options: Record<string, string[]>) => ({ options }) as unknown as PanelState;

describe("a click on the name of a region", () => {
  it("keeps it on top, and a second one lets it go", () => {
    expect(keepRow(row(3), panel({ keep: ["#1"] }))).toEqual([{ option: "keep", values: ["#1", "#3"] }]);
    expect(keepRow(row(3), panel({ keep: ["#1", "#3"] }))).toEqual([{ option: "keep", values: ["#1"] }]);
  });
  it("does nothing for what is no region", () => {
    expect(keepRow(row(noID), panel({}))).toBeNull();
    expect(hideRow(row(noID), panel({}))).toBeNull();
  });
  it("hides it with Ctrl", () => {
    expect(hideRow(row(3), panel({ hide: ["#1"] }))).toEqual([{ option: "hide", values: ["#1", "#3"] }]);
  });
});

describe("the wheel", () => {
  const scene = (kind: string, begin: number, end: number) => ({ width: 1000, height: 500, frames: [{ name: "main", x: 200, y: 0, w: 800, h: 400, xScale: { kind, begin, end } }] }) as unknown as Scene;
  const at = { x: (600 - 500) / 500, y: 0 }; // the middle of the frame
  it("brings values nearer about the pointer, on either axis", () => {
    expect(zoomValues(2, at, scene("linear", 0, 1000))).toEqual([{ option: "min", values: ["250"] }, { option: "max", values: ["750"] }]);
    expect(zoomValues(2, at, scene("log", 1e2, 1e6))).toEqual([{ option: "min", values: ["1000"] }, { option: "max", values: ["100000"] }]);
  });
  it("shows all again when far enough out, and stops at single nanoseconds", () => {
    expect(zoomValues(0.5, at, scene("linear", 0, 1000))).toEqual([{ option: "min", values: [] }, { option: "max", values: [] }]);
    expect(zoomValues(2, at, scene("linear", 10, 12))).toEqual([]);
    expect(zoomValues(2, at, null)).toEqual([]);
  });
});
