import { describe, expect, it } from "vitest";
import { noID, type Row } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import { keepRow } from ".";

const row = (region: number) => ({ region, location: noID }) as Row;
const panel = (options: Record<string, string[]>) => ({ options }) as unknown as PanelState;

describe("a click on the name of a region", () => {
  it("keeps it on top, and a second one lets it go", () => {
    expect(keepRow(row(3), panel({ keep: ["#1"] }))).toEqual([{ option: "keep", values: ["#1", "#3"] }]);
    expect(keepRow(row(3), panel({ keep: ["#1", "#3"] }))).toEqual([{ option: "keep", values: ["#1"] }]);
  });
  it("does nothing for what is no region", () => {
    expect(keepRow(row(noID), panel({}))).toBeNull();
  });
});
