import { expect, test } from "vitest";
import { palette } from "../scene/palette";
import { noID, none, type LegendEntry } from "../scene/scene";
import { joinSame } from "./legend";

const entry = (label: string, colour: number): LegendEntry => ({ label, colour, rampEnd: none, rampLow: "", rampHigh: "", region: noID, parent: noID, flags: 0 });

test("names of one colour stand behind one sample, where colours are safe and therefore few", () => {
  const { start, length } = palette.sections.compute!;
  const entries = Array.from({ length }, (_, i) => entry(`region ${i}`, start + i));
  const groups = joinSame(entries, palette.lightSafe);
  expect(groups.length).toBe(new Set(palette.lightSafe.slice(start, start + length)).size);
  expect(groups.flat().length).toBe(length);
  expect(joinSame(entries, palette.light).length).toBe(length);
});
