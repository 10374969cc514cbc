import { describe, expect, it } from "vitest";
import { noID, type Row } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import { focusCaller } from ".";

const row = (region: number) => ({ region, location: noID }) as Row;
const panel = (options: Record<string, string[]>) => ({ options }) as unknown as PanelState;

describe("a click on the name of a region", () => {
  it("focuses on what it calls, and a second one shows all again", () => {
    expect(focusCaller(row(3), panel({}))).toEqual([{ option: "caller", values: ["#3"] }]);
    expect(focusCaller(row(3), panel({ caller: ["#3"] }))).toEqual([{ option: "caller", values: [] }]);
    expect(focusCaller(row(4), panel({ caller: ["#3"] }))).toEqual([{ option: "caller", values: ["#4"] }]);
  });
  it("does nothing for what is no region", () => {
    expect(focusCaller(row(noID), panel({}))).toBeNull();
  });
});
