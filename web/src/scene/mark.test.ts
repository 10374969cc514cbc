import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { raster } from "./mark";
import { css, palette, readPalette, ui } from "./palette";
import { identity, clipOf, mapOf, parts, placesOf } from "./part";
import { triangulate } from "./polygon";
import { blend, Raster } from "./raster";
import { Flag, type Frame, type Layer, type LineMark, type Scene, type TextMark } from "./scene";

const go = (name: string) => readFileSync(new URL(`../../../internal/scene/${name}`, import.meta.url), "utf8");

beforeAll(() => {
  vi.stubGlobal("ImageData", class {
    data: Uint8ClampedArray;
    constructor(readonly width: number, readonly height: number) {
      this.data = new Uint8ClampedArray(width * height * 4);
    }
  });
});

function newRaster(width = 20, height = 20): Raster {
  const white = 0xffffffff;
  const table = Uint32Array.of(white, 0xff0000ff, 0x800000ff);
  return new Raster(width, height, 1, table, Uint32Array.of(white, 0xffccccff, 0x80ccccff));
}

/** Area in pixels that is not background: by how much red hides the green. */
function ink(r: Raster): number {
  return r.pixels.reduce((sum, p) => sum + (255 - ((p >>> 8) & 255)) / 255, 0);
}

describe("the two sides of a mark", () => {
  test("flags have the bits of Go", () => {
    const names = /Aggregated Flag = 1 << iota([\s\S]*?)\n\)/.exec(go("mark.go"))![1]!.match(/^\t([A-Z]\w+)$/gm)!.map((s) => s.trim().toLowerCase());
    expect(Object.keys(Flag)).toEqual(["aggregated", ...names]);
    expect(Object.values(Flag)).toEqual(Object.values(Flag).map((_, i) => 1 << i));
  });
});

describe("palette", () => {
  test("indices of the page's own colours are those of Go", () => {
    const block = /UIBackground Colour = iota([\s\S]*?)\/\/ The papers/.exec(go("ui.go"))![1]!;
    const names = ["UIBackground", ...block.match(/^\tUI\w+/gm)!.map((s) => s.trim())];
    const dashed = names.map((n) => n.slice(2).replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase());
    expect(dashed.map((n) => ui[n as keyof typeof ui])).toEqual(dashed.map((_, i) => i));
  });

  test("reads both forms of a colour, and one theme for both", () => {
    const p = readPalette({ dim: 0.5, sections: [{ name: "ui", start: 0, light: ["ffffff", "11223380"], dark: ["000000", "112233"] }, { name: "x", start: 2, light: ["00ff00"] }] });
    expect([...p.light].map((c) => c.toString(16))).toEqual(["ffffffff", "80332211", "ff00ff00"]);
    expect(p.dark[2]).toBe(p.light[2]);
    expect(css(p.light, 1)).toBe("rgba(17,34,51,0.5020)");
    expect(css(p.light, 99)).toBe("rgba(0,0,0,0.0000)");
    expect(p.dimmed.light[2]!.toString(16)).toBe("ff80ff80");
    expect(p.sections.x).toEqual({ start: 2, length: 1 });
  });

  test("the real table fits one row of the GPU's copy", () => {
    expect(palette.light.length).toBe(palette.dark.length);
    expect(palette.light.length).toBeLessThanOrEqual(2048);
  });
});

describe("raster", () => {
  test("blends as render/png does, at every opacity", () => {
    for (let alpha = 0; alpha <= 255; alpha++) {
      for (const [over, under] of [[255, 0], [0, 255], [17, 200], [128, 127]] as const) {
        const want = Math.floor((over * alpha + under * (255 - alpha) + 127) / 255);
        expect(blend(under | (under << 8), over | (over << 8), alpha) & 0xffff).toBe(want | (want << 8));
      }
    }
  });

  test("a polygon covers its area, wherever it lies and however it is clipped", () => {
    const square = (x: number, y: number, size: number) => [x, y, x + size, y, x + size, y + size, x, y + size];
    for (const [x, y, size, area] of [
      [2, 2, 10, 100], [2.5, 3.25, 7.5, 56.25], [-5, -5, 10, 25], [15, 15, 10, 25], [-50, -50, 200, 400], [30, 2, 5, 0], [2, -9, 5, 0],
    ] as const) {
      const r = newRaster();
      r.fillOutlines([square(x, y, size)], 0xff0000ff);
      expect(ink(r), `square of ${size} at ${x}, ${y}`).toBeCloseTo(area, 0);
    }
    const r = newRaster();
    r.fillOutlines([[-10, 10, 30, 3, 30, 17]], 0xff0000ff); // a triangle that leaves on both sides
    expect(ink(r)).toBeCloseTo(140, 0); // from 3.5 high at x = 0 to 10.5 at x = 20
  });

  test("parts that overlap within one shape are not painted twice", () => {
    const r = newRaster();
    r.fillOutlines([[2, 2, 12, 2, 12, 8, 2, 8], [6, 2, 18, 2, 18, 8, 6, 8]], 0x800000ff);
    expect(new Set(r.pixels).size).toBe(2);
  });

  test("lines have the ink of their length and width", () => {
    for (const [x1, y1, width] of [[18, 2, 1], [2, 18, 2], [14, 11, 1.5], [5, 17, 3], [18, 18, 0.5]] as const) {
      const r = newRaster(24, 24);
      r.segment(2, 2, x1, y1, width / 2, 0xff0000ff);
      const want = Math.hypot(x1 - 2, y1 - 2) * width;
      expect(Math.abs(ink(r) - want), `line to ${x1}, ${y1}`).toBeLessThan(want * 0.1 + 0.5);
    }
  });

  test("nothing is drawn outside the clip", () => {
    const r = newRaster();
    r.enter({ x0: 5, y0: 5, x1: 10, y1: 10 }, { ax: 1, bx: 0, ay: 1, by: 0 });
    const one = Float32Array.of(0);
    const all = Float32Array.of(20);
    raster(r, { kind: "rect", x: one, y: one, w: all, h: all, fill: Uint16Array.of(1), flags: Uint8Array.of(Flag.outlined), count: null });
    raster(r, { kind: "line", x0: one, y0: one, x1: all, y1: all, stroke: Uint16Array.of(1), width: 5, flags: Uint8Array.of(Flag.arrow) });
    raster(r, { kind: "polygon", offsets: Uint32Array.of(0, 3), x: Float32Array.of(0, 20, 0), y: Float32Array.of(0, 0, 20), fill: Uint16Array.of(1), flags: null });
    raster(r, { kind: "point", x: all, y: all, r: all, fill: Uint16Array.of(1), shape: null, count: null });
    raster(r, { kind: "path", offsets: Uint32Array.of(0, 2), x: Float32Array.of(0, 20), y: Float32Array.of(20, 0), stroke: Uint16Array.of(1), width: 3 });
    raster(r, { kind: "image", x: 0, y: 0, w: 20, h: 20, columns: 1, rows: 1, cells: Uint16Array.of(1) });
    for (let i = 0; i < 400; i++) {
      const inside = i % 20 >= 5 && i % 20 < 10 && i >= 100 && i < 200;
      if (!inside) expect(r.pixels[i]).toBe(0xffffffff);
    }
    expect(ink(r)).toBe(25);
  });
});

describe("triangulate", () => {
  test("triangles have the polygon's area together, whichever way it turns", () => {
    let seed = 7;
    const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let round = 0; round < 200; round++) {
      // A star: corners at random distances round the origin never cross.
      const n = 3 + Math.floor(random() * 20);
      const o: number[] = [];
      for (let i = 0; i < n; i++) {
        const [r, a] = [1 + random() * 9, ((i / n) * 2 * Math.PI) * (round % 2 === 0 ? 1 : -1)];
        o.push(r * Math.cos(a), r * Math.sin(a));
      }
      const cross = (a: number, b: number) => o[2 * a]! * o[2 * b + 1]! - o[2 * b]! * o[2 * a + 1]!;
      let want = 0;
      for (let i = 0; i < n; i++) want += cross(i, (i + 1) % n) / 2;
      let got = 0;
      let count = 0;
      triangulate(o, (a, b, c) => {
        got += (cross(a, b) + cross(b, c) + cross(c, a)) / 2;
        count++;
      });
      expect(count).toBe(n - 2);
      expect(got).toBeCloseTo(want, 6);
    }
  });
});

describe("parts", () => {
  const scale = { kind: "" as const, begin: 0, end: 0, label: "", rows: [] };
  const row = { from: 20, to: 120, location: 0, region: 0, label: "", count: 1, level: 0, open: false, folded: false };
  const frame: Frame = { name: "", x: 50, y: 20, w: 200, h: 100, xScale: { ...scale, kind: "time" }, yScale: { ...scale, kind: "rows", rows: [row] } };
  const line = (...v: number[][]): LineMark => ({
    kind: "line", x0: Float32Array.from(v, (l) => l[0]!), y0: Float32Array.from(v, (l) => l[1]!), x1: Float32Array.from(v, (l) => l[2]!),
    y1: Float32Array.from(v, (l) => l[3]!), stroke: Uint16Array.from(v, () => ui.axis), width: 1, flags: null,
  });
  const text = (...v: [number, number, string, number][]): TextMark => ({
    kind: "text", x: Float32Array.from(v, (t) => t[0]), y: Float32Array.from(v, (t) => t[1]), text: v.map((t) => t[2]),
    fill: Uint16Array.from(v, (t) => t[3]), anchor: null, size: 12, bold: false, turned: false,
  });
  const scene = (...layers: Layer[]): Scene => ({
    width: 300, height: 150, title: "", description: "", frames: [frame], layers, legend: [], notes: [], empty: null, coarse: false,
  });
  const t = { scaleX: 2, offsetX: -60, scaleY: 1, offsetY: -30 };

  test("layers of a frame follow it and are clipped to it", () => {
    const [p] = parts(scene({ name: "bars", frame: 0, marks: [line([0, 0, 1, 1])] }));
    expect(mapOf(p!, t, 2)).toEqual({ ax: 4, bx: -120, ay: 2, by: -60 });
    expect(clipOf(p!, [frame], t, 1, 300, 150)).toEqual({ x0: 50, y0: 20, x1: 250, y1: 120 });
  });

  test("labels of a time axis follow along x; its line and name stay", () => {
    const axis = { name: "axis", frame: -1, marks: [line([50, 120, 250, 120], [100, 120, 100, 124]), text([100, 136, "1 s", ui["text-muted"]], [240, 136, "time", ui.text])] };
    const [fixed, moving] = parts(scene(axis));
    expect(fixed).toMatchObject({ follows: "none" });
    expect(fixed!.marks.map((m) => (m.kind === "text" ? m.text : m.kind === "line" && m.x0.length))).toEqual([1, ["time"]]);
    expect(moving).toMatchObject({ follows: "x", frame: 0 });
    expect(moving!.marks.map((m) => (m.kind === "text" ? m.text : m.kind === "line" && m.x0[0]))).toEqual([100, ["1 s"]]);
    expect(mapOf(moving!, t, 1)).toEqual({ ax: 2, bx: -60, ay: 1, by: 0 });
    expect(clipOf(moving!, [frame], t, 1, 300, 150)).toMatchObject({ x0: 49, x1: 251, y0: 0, y1: 150 });
    expect(placesOf(moving!, [frame], t, 1)).toEqual([49, 251]);
    expect(placesOf(moving!, [frame], undefined, 1)).toBeUndefined();
    expect(clipOf(moving!, [frame], undefined, 1, 300, 150)).toEqual({ x0: 0, y0: 0, x1: 300, y1: 150 });
  });

  test("a vertical axis and labels of rows follow along y", () => {
    const [, ticks] = parts(scene({ name: "axis", frame: -1, marks: [line([49, 20, 49, 120], [45, 70, 49, 70]), text([40, 74, "5", ui["text-muted"]])] }));
    expect(ticks).toMatchObject({ follows: "y", frame: 0 });
    const [rows] = parts(scene({ name: "rows", frame: -1, marks: [text([10, 70, "rank 0", ui.text])] }));
    expect(rows).toMatchObject({ follows: "y", frame: 0 });
    expect(mapOf(rows!, t, 1)).toEqual({ ax: 1, bx: 0, ay: 1, by: -30 });
  });

  test("what belongs to no frame stays, and frames that cannot be drawn are left out", () => {
    const [title] = parts(scene({ name: "title", frame: -1, marks: [text([60, 10, "Timeline", ui.text])] }));
    expect(mapOf(title!, t, 1)).toEqual({ ax: 1, bx: 0, ay: 1, by: 0 });
    const broken = { ...scene({ name: "bars", frame: 0, marks: [] }), frames: [{ ...frame, w: -1, h: -1 }] };
    expect(parts(broken)).toEqual([]);
    expect(identity).toEqual({ scaleX: 1, offsetX: 0, scaleY: 1, offsetY: 0 });
  });
});
