import { describe, expect, it } from "vitest";
import { noID, type Row } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import { focusCallee, focusCaller, hideRegion, openCategories } from ".";

const row = (region: number) => ({ region, location: noID }) as Row;
const panel = (options: Record<string, string[]>) => ({ options }) as unknown as PanelState;

describe("a click on the name of a caller", () => {
  it("focuses on what it calls, and a second one shows all again", () => {
    expect(focusCaller(row(3), panel({}))).toEqual([{ option: "caller", values: ["#3"] }]);
    expect(focusCaller(row(3), panel({ caller: ["#3"] }))).toEqual([{ option: "caller", values: [] }]);
    expect(focusCaller(row(4), panel({ caller: ["#3"] }))).toEqual([{ option: "caller", values: ["#4"] }]);
  });
  it("takes the virtual root too", () => {
    expect(focusCaller(row(noID), panel({}))).toEqual([{ option: "caller", values: ["root"] }]);
  });
});

describe("a click on the name of a callee", () => {
  it("focuses on who calls it, and a second one shows all again", () => {
    expect(focusCallee(row(3), panel({}))).toEqual([{ option: "keep", values: ["#3"] }, { option: "top", values: ["1"] }]);
    expect(focusCallee(row(3), panel({ keep: ["#3"], top: ["1"] }))).toEqual([{ option: "keep", values: [] }, { option: "top", values: [] }]);
    expect(focusCallee(row(noID), panel({}))).toBeNull();
  });
  it("hides it with Ctrl", () => {
    expect(hideRegion(row(3), panel({ hide: ["#1"] }))).toEqual([{ option: "hide", values: ["#1", "#3"] }]);
    expect(hideRegion(row(3), panel({ hide: ["#3"] }))).toEqual([{ option: "hide", values: ["#3"] }]);
    expect(hideRegion(row(noID), panel({}))).toBeNull();
  });
});

describe("categories", () => {
  it("can be collapsed one by one", () => {
    const regions = [{ category: "MPI" }, { category: "HPL" }, { category: "MPI" }, { category: "" }];
    expect(openCategories(regions, [])).toEqual(["HPL", "MPI"]);
    expect(openCategories(regions, ["category:MPI"])).toEqual(["HPL"]);
    expect(openCategories([{ category: "MPI" }], [])).toEqual([]);
  });
});
