// Filled simple polygons; two corners make a line of the fill's colour.

import { ui } from "./palette";
import { hatch, type Outline, type Raster } from "./raster";
import { Flag, type PolygonMark } from "./scene";
import type { Device, Drawable } from "./device";
import { drawable } from "./line";
import { Mesh } from "./mesh";
import { aggregatedLeast } from "./rect";

/** Corners of polygon i as x, y, x, y …; null where it is not drawn. */
function corners(m: PolygonMark, i: number): Outline | null {
  const out: Outline = [];
  for (let j = m.offsets[i]!; j < m.offsets[i + 1]!; j++) {
    if (!drawable(m.x[j]!, m.y[j]!)) return null;
    out.push(m.x[j]!, m.y[j]!);
  }
  return out.length < 4 ? null : out;
}

/** Lines of an aggregated thing are left out where it is too small to show them. */
function shownFlags(flag: number, o: Outline): number {
  if (!(flag & Flag.aggregated)) return flag;
  const extent = (axis: number) => {
    const v = o.filter((_, k) => k % 2 === axis);
    return Math.ceil(Math.max(...v)) + 1 - Math.floor(Math.min(...v));
  };
  return extent(0) > aggregatedLeast && extent(1) > aggregatedLeast ? flag : flag & ~Flag.aggregated;
}

export function rasterPolygon(r: Raster, m: PolygonMark): void {
  const { ax, bx, ay, by } = r.map;
  const ink = r.look(ui.hatch, false);
  for (let i = 0; i < m.fill.length; i++) {
    const plain = corners(m, i);
    if (!plain) continue;
    const flag = shownFlags(m.flags ? m.flags[i]! : 0, plain);
    const colour = r.look(m.fill[i]!, (flag & Flag.dimmed) !== 0);
    const o = plain.map((v, k) => (k % 2 === 0 ? v * ax + bx : v * ay + by));
    if (o.length === 4) {
      r.segment(o[0]!, o[1]!, o[2]!, o[3]!, r.scale / 2, colour);
      continue;
    }
    r.fillOutlines([o], colour);
    if (flag & Flag.aggregated) r.fillOutlines([o], ink, hatch(6 * r.scale, 1.5 * r.scale, true));
    if (flag & Flag.hatched) r.fillOutlines([o], ink, hatch(4 * r.scale, r.scale, false));
    if (!(flag & Flag.outlined)) continue;
    const edge = r.look(ui.outline, (flag & Flag.dimmed) !== 0);
    for (let k = 0; k < o.length; k += 2) {
      const next = (k + 2) % o.length;
      r.segment(o[k]!, o[k + 1]!, o[next]!, o[next + 1]!, r.scale / 2, edge);
    }
  }
}

export function uploadPolygon(d: Device, m: PolygonMark): Drawable {
  const mesh = new Mesh();
  for (let i = 0; i < m.fill.length; i++) {
    const o = corners(m, i);
    if (!o) continue;
    const flag = shownFlags(m.flags ? m.flags[i]! : 0, o);
    const dim = flag & Flag.dimmed;
    if (o.length === 4) {
      mesh.segment(o[0]!, o[1]!, o[2]!, o[3]!, 0.5, m.fill[i]!, dim);
      continue;
    }
    const look = flag & (Flag.dimmed | Flag.aggregated | Flag.hatched);
    const first = mesh.corner(o[0]!, o[1]!, 0, 0, m.fill[i]!, look);
    for (let k = 2; k < o.length; k += 2) mesh.corner(o[k]!, o[k + 1]!, 0, 0, m.fill[i]!, look);
    triangulate(o, (a, b, c) => mesh.triangle(first + a, first + b, first + c));
    if (!(flag & Flag.outlined)) continue;
    for (let k = 0; k < o.length; k += 2) {
      const next = (k + 2) % o.length;
      mesh.segment(o[k]!, o[k + 1]!, o[next]!, o[next + 1]!, 0.5, ui.outline, dim);
    }
  }
  return mesh.upload(d);
}

/**
 * Cuts a simple polygon into triangles: a fan where it is convex, else ear by ear,
 * O(corners²), which is fine for the few corners that marks have.
 */
export function triangulate(o: Outline, f: (a: number, b: number, c: number) => void): void {
  const n = o.length / 2;
  const turn = (a: number, b: number, c: number) =>
    (o[2 * b]! - o[2 * a]!) * (o[2 * c + 1]! - o[2 * a + 1]!) - (o[2 * b + 1]! - o[2 * a + 1]!) * (o[2 * c]! - o[2 * a]!);
  let area = 0;
  let convex = true;
  for (let i = 0; i < n; i++) area += turn(0, i, (i + 1) % n);
  const sign = area < 0 ? -1 : 1;
  for (let i = 0; i < n && convex; i++) convex = turn(i, (i + 1) % n, (i + 2) % n) * sign >= 0;
  if (convex) {
    for (let i = 1; i + 1 < n; i++) f(0, i, i + 1);
    return;
  }
  const left = Array.from({ length: n }, (_, i) => i);
  const isEar = (k: number) => {
    const [a, b, c] = [left[(k + left.length - 1) % left.length]!, left[k]!, left[(k + 1) % left.length]!];
    if (turn(a, b, c) * sign <= 0) return false;
    return left.every((p) => p === a || p === b || p === c ||
      !(turn(a, b, p) * sign >= 0 && turn(b, c, p) * sign >= 0 && turn(c, a, p) * sign >= 0));
  };
  while (left.length > 3) {
    let k = left.findIndex((_, i) => isEar(i));
    if (k < 0) k = 0; // not simple after all: cut somewhere, and go on
    f(left[(k + left.length - 1) % left.length]!, left[k]!, left[(k + 1) % left.length]!);
    left.splice(k, 1);
  }
  f(left[0]!, left[1]!, left[2]!);
}
