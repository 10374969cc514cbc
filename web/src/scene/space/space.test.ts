import { describe, expect, test } from "vitest";
import { none, type SpaceAxis, type SpaceMark } from "../scene";
import { dotRadius, draftStep, Form } from "./body";
import { filterOf, looks, meanOf, parseCamera, parseLimit, parseSlice, usualCamera, writeCamera, writeSlice } from "./look";
import { at, byDepth, places, project } from "./project";
import { locationsInside } from "./lasso";
import { itemsOf } from "./runs";
import { SpaceView } from "./view";

const axis = (label: string, end: number): SpaceAxis => ({ label, width: 10, begin: 0, end, stretch: 1, ticks: [] });

/** A box of side³ things, x fastest, whose values are their index. */
function box(side: number, form: number = Form.dots): SpaceMark {
  const n = side ** 3;
  const column = (f: (i: number) => number) => Float32Array.from({ length: n }, (_, i) => f(i));
  return {
    kind: "space", x: 0, y: 0, w: 600, h: 400, form, px: column((i) => i % side), py: column((i) => Math.floor(i / side) % side), pz: column((i) => Math.floor(i / side / side)),
    value: column((i) => i), low: 0, high: n - 1, unit: "", ramp: [100, 11], fill: null, radius: 0.3, least: 0, detail: 0, bare: false, half: [0.4, 0.4], tall: 1, base: 0, columns: side, gap: 0,
    axes: [axis("x", side - 1), axis("y", side - 1), axis("z", side - 1)], camera: usualCamera, filter: { ranged: false, min: 0, max: 0, slice: [false, false, false], at: [0, 0, 0], width: [0, 0, 0] },
    runFirst: null, runLocation: null, runStep: null, linkFrom: null, linkTo: null, linkFill: null, linkWidth: 1,
  };
}

const all = (m: SpaceMark) => looks(m, m.filter);

describe("projection", () => {
  test("at azimuth and elevation 0 x goes right, z up and y away", () => {
    const m = box(3);
    const p = project(m, { ...usualCamera, azimuth: 0, elevation: 0 });
    const [x0, y0, d0] = at(p, 1, 1, 1);
    expect([x0, y0, d0]).toEqual([300, 200, 0]);
    const right = at(p, 2, 1, 1);
    expect(right[0] - x0).toBeCloseTo(p.scale);
    expect(at(p, 1, 1, 2)[1]).toBeCloseTo(y0 - p.scale);
    expect(at(p, 1, 2, 1)[2]).toBeCloseTo(p.scale);
  });

  test("from above y goes up the picture", () => {
    const p = project(box(3), { ...usualCamera, azimuth: 0, elevation: 90 });
    expect(at(p, 1, 2, 1)[1]).toBeCloseTo(200 - p.scale);
    expect(at(p, 1, 1, 2)[2]).toBeLessThan(0);
  });

  test("everything fits, whatever the side", () => {
    const m = box(4);
    for (let azimuth = 0; azimuth < 360; azimuth += 30) {
      for (const elevation of [-90, -20, 0, 45, 90]) {
        const got = places(m, all(m), project(m, { ...usualCamera, azimuth, elevation }), 1);
        expect(got.count).toBe(64);
        for (let i = 0; i < 64; i++) expect(got.x[i]! >= 0 && got.x[i]! <= 600 && got.y[i]! >= 0 && got.y[i]! <= 400).toBe(true);
      }
    }
  });

  test("the order is from far to near, of one depth as they come", () => {
    expect([...byDepth([1, 5, 3, 5, -2], 5)]).toEqual([1, 3, 2, 0, 4]);
    expect([...byDepth([7, 7], 2)]).toEqual([0, 1]);
    expect([...byDepth([], 0)]).toEqual([]);
  });
});

describe("filter", () => {
  const m = box(2); // values 0 … 7
  const shown = (min?: string, max?: string, slice?: string) => [...looks(m, filterOf(m, { min, max, slice }))].map((c) => (c === none ? 0 : 1)).join("");

  test("shows what lies between, and where min is above max what lies outside", () => {
    expect(shown()).toBe("11111111");
    expect(shown("2", "5")).toBe("00111100");
    expect(shown("5", "2")).toBe("11000011");
    expect(shown("50%")).toBe("00001111");
    expect(shown(undefined, "50%")).toBe("11110000");
  });

  test("a slice keeps a plane, a line, a point", () => {
    expect(shown(undefined, undefined, "x=1")).toBe("01010101");
    expect(shown(undefined, undefined, "x=1,y=0")).toBe("01000100");
    expect(shown(undefined, undefined, "x=1,y=0,z=1")).toBe("00000100");
    expect(shown("6", "7", "x=1")).toBe("00000001");
  });

  test("the mean is that of the slice, whatever the range", () => {
    expect(meanOf(m, filterOf(m, { slice: "x=1" }))).toEqual({ mean: 4, held: 4, shown: 4 });
    expect(meanOf(m, filterOf(m, { slice: "x=1", min: "6" }))).toEqual({ mean: 4, held: 4, shown: 1 });
    expect(meanOf(m, filterOf(m, { slice: "x=9" })).held).toBe(0);
  });

  test("colours run from low to high; what has no value is not there", () => {
    const odd = { ...box(2), value: Float32Array.of(0, 7, 3.5, NaN, -5, 99, Infinity, 1) };
    expect([...all(odd)]).toEqual([100, 110, 105, none, 100, 110, 110, 101]);
    expect([...looks(odd, filterOf(odd, { max: "50%" }))].slice(5, 7)).toEqual([none, none]);
  });

  test("texts are read as the server reads them", () => {
    expect(parseLimit("20%", 10, 20)).toBe(12);
    expect(parseLimit("few", 0, 1)).toBe(null);
    expect(parseSlice("x=3:0.5, Z=-1")).toEqual({ slice: [true, false, true], at: [3, 0, -1], width: [0.5, 0, 1] });
    expect(writeSlice(parseSlice("x=3:0.5,z=-1"))).toBe("x=3:0.5,z=-1");
    expect(parseCamera("10,95,0")).toEqual({ azimuth: 10, elevation: 90, zoom: 0.05, panX: 0, panY: 0 });
    expect(writeCamera(parseCamera("-10,5,2,0.1,0"))).toBe("350,5,2,0.1,0");
  });
});

describe("picking", () => {
  for (const form of [Form.dots, Form.balls]) {
    test(`finds every thing that nothing hides, form ${form}`, () => {
      const m = box(5, form);
      const v = new SpaceView(m);
      for (const camera of ["30,20,1", "200,-40,1.5", "77,65,0.8,0.1,-0.05"]) {
        v.set({ camera });
        const p = v.projection;
        const r = dotRadius(m, p);
        for (let i = 0; i < m.px.length; i++) {
          const [x, y, d] = at(p, m.px[i]!, m.py[i]!, m.pz[i]!);
          const hidden = Array.from(m.px, (_, j) => at(p, m.px[j]!, m.py[j]!, m.pz[j]!)).some((o, j) => j !== i && o[2] < d + 1e-9 && Math.hypot(o[0] - x, o[1] - y) <= r);
          if (!hidden) expect(v.pick(x, y)).toBe(i);
        }
      }
      v.set({ camera: "30,20,1" });
      expect(v.pick(2, 2)).toBe(-1);
    });
  }

  test("finds nothing that is filtered out", () => {
    const m = box(2);
    const v = new SpaceView(m);
    const [x, y] = at(v.projection, 0, 0, 0);
    expect(v.pick(x, y)).toBe(0);
    v.set({ min: "1" });
    expect(v.pick(x, y)).not.toBe(0);
  });

  test("finds a bar by its side, and the nearest corner of a mesh", () => {
    const bars = { ...box(3, Form.bars), pz: new Float32Array(27), tall: 2 };
    bars.px = bars.px.map((x, i) => (i < 9 ? x : NaN));
    const v = new SpaceView(bars);
    const [x, y] = at(v.projection, 0, 0, bars.value[0]! / 26);
    expect(v.pick(x, y - 0.5)).toBe(0);
    const mesh = new SpaceView({ ...bars, form: Form.mesh });
    const [mx, my] = at(mesh.projection, 1.1, 1.1, 0);
    expect(mesh.pick(mx, my)).toBe(4);
  });
});

test("locations are found among the things by their runs", () => {
  // Things 0 … 3 are locations 10, 12, 14, 16; things 4 … 7 are 20 … 23.
  const m = { ...box(2), runFirst: Uint32Array.of(0, 4), runLocation: Uint32Array.of(10, 20), runStep: Uint32Array.of(2, 1) };
  expect(itemsOf(m, [{ from: 12, last: 12 }], 99)).toEqual([1]);
  expect(itemsOf(m, [{ from: 11, last: 21 }], 99)).toEqual([1, 2, 3, 4, 5]);
  expect(itemsOf(m, [{ from: 0, last: 9 }, { from: 13, last: 13 }, { from: 24, last: 99 }], 99)).toEqual([]);
  expect(itemsOf(m, [{ from: 0, last: 99 }], 3)).toEqual([0, 1, 2]);
  expect(itemsOf(box(2), [{ from: 0, last: 99 }], 9)).toEqual([]);
  const v = new SpaceView(m);
  const [x, y] = at(v.projection, 1, 0, 0);
  expect(v.rings([{ from: 12, last: 12 }], 9)[0]!.slice(0, 2)).toEqual([x, y]);
});

test("a lasso goes round the locations whose things are shown inside it", () => {
  const m = { ...box(3), runFirst: Uint32Array.of(0), runLocation: Uint32Array.of(10), runStep: Uint32Array.of(2) };
  const p = project(m, { ...usualCamera, azimuth: 0, elevation: 0 });
  const [x, y] = at(p, 0, 0, 0);
  const round = (r: number): [number, number][] => [[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]];
  // Seen from the front the three things at x = 0, z = 0 lie behind each other: 0, 3 and 6.
  expect(locationsInside(m, all(m), p, round(3))).toEqual([10, 16, 22]);
  expect(locationsInside(m, all(m), p, round(1e4)).length).toBe(27);
  expect(locationsInside(m, all(m), p, [[x, y]])).toEqual([]);
  const hidden = all(m).fill(none, 0, 1);
  expect(locationsInside(m, hidden, p, round(3))).toEqual([16, 22]);
  expect(locationsInside({ ...m, runFirst: null }, all(m), p, round(3))).toEqual([]);
});

test("a draft of a large grid has dots of all its columns", () => {
  expect(draftStep(1000)).toBe(1);
  const step = draftStep(1e6);
  expect(1e6 / step).toBeLessThanOrEqual(50_000);
  const columns = new Set(Array.from({ length: Math.ceil(1e6 / step) }, (_, k) => (k * step) % 1000));
  expect(columns.size).toBe(1000);
});
