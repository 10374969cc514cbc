import { describe, expect, it } from "vitest";
import type { PanelState } from "../../shell/layout";
import { forAnotherRun } from "../../shell/plug";
import type { Scene } from "../../scene/scene";
import { foundAt, kaleidoscope, savePainting, untilOf, wholeTree, zoomOf } from "./index";

const panel = (options: Record<string, string[]> = {}) => ({ id: "p", view: "kaleidoscope", options }) as unknown as PanelState;

describe("the picture of calls", () => {
  it("comes closer to what is under the wheel", () => {
    const [change] = kaleidoscope.magnify!(panel(), 2, { x: 0.25, y: 0 });
    const z = zoomOf(panel({ zoom: change.values }));
    // What lay at a quarter of the side, half of a half, still does: x + 2·0.25/2.
    expect(z).toEqual({ factor: 2, x: 0.25, y: 0 });
    expect(z.x + (2 * 0.25) / z.factor).toBeCloseTo(0.5);
  });
  it("moves with the hand, less where it is larger", () => {
    const [change] = kaleidoscope.shift!(panel({ zoom: ["4,0,0"] }), 0.5, 0);
    expect(zoomOf(panel({ zoom: change.values })).x).toBeCloseTo(-0.25);
  });
  it("forgets a zoom that is none", () => {
    expect(kaleidoscope.magnify!(panel({ zoom: ["2,0,0"] }), 0.5, { x: 0, y: 0 })).toEqual([{ option: "zoom", values: [] }]);
  });
  it("paints the whole tree as it was when a subtree is left", () => {
    savePainting(panel({ paint: ["time"] }));
    savePainting(panel({ paint: ["location"], root: ["7"] }));
    expect(wholeTree(panel({ paint: ["location"], root: ["7"] }))).toEqual([{ option: "root", values: [] }, { option: "zoom", values: [] }, { option: "paint", values: ["time"] }]);
  });
  it("flies to a call that a search found, and keeps the zoom that drew it", () => {
    const hit = { location: 3, path: "", lane: 0, row: 17, region: 1, begin: 0, duration: 5 };
    const [root, zoom] = kaleidoscope.fly!(hit, panel(), true);
    expect([root.values, zoom.values]).toEqual([[], ["3/0/17"]]);
    const scene = { terms: [{ name: "zoom", text: "512,0.25,-0.5", label: "zoom", by: "" }] } as unknown as Scene;
    expect([foundAt(panel({ zoom: zoom.values }), scene), foundAt(panel({ zoom: ["4,0,0"] }), scene)]).toEqual(["512,0.25,-0.5", undefined]);
  });
  it("flies to a region that a search found where call paths are drawn", () => {
    expect(kaleidoscope.flyRegion!("#7", panel(), true)).toEqual([]);
    const hit = { location: 3, path: "", lane: 0, row: 17, region: 7, begin: 0, duration: 5 };
    const fly = [{ option: "root", values: [] }, { option: "zoom", values: ["region:#7"] }];
    expect([kaleidoscope.flyRegion!("#7", panel(), false), kaleidoscope.flyRegion!("#7", panel({ tree: ["paths"] }), true)]).toEqual([fly, fly]);
    expect(kaleidoscope.fly!(hit, panel(), false), "samples beside a profile are no calls in it").toEqual(fly);
    expect(foundAt(panel({ zoom: ["region:#7"] }), { terms: [{ name: "zoom", text: "8,0,1", label: "zoom", by: "" }] } as unknown as Scene)).toBe("8,0,1");
  });
  it("keeps neither subtree nor zoom for another run", () => {
    expect(forAnotherRun(kaleidoscope, { zoom: ["4,1,1"], root: ["7"], paint: ["time"] })).toEqual({ paint: ["time"] });
  });
  it("reads how far the tree has grown", () => {
    expect([untilOf(panel()), untilOf(panel({ until: ["40%"] })), untilOf(panel({ until: ["3s"] })), untilOf(panel({ until: ["x%"] }))]).toEqual([100, 40, 100, 100]);
  });
});
