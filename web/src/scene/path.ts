// Open lines through many points. A point that cannot be drawn breaks the path.

import type { Outline, Raster } from "./raster";
import type { PathMark } from "./scene";
import type { Device, Drawable } from "./device";
import { drawable, lineWidth } from "./line";
import { Mesh } from "./mesh";

/** The unbroken segments of path i, as x, y, x, y … without repeated points. */
function stretches(m: PathMark, i: number): number[][] {
  const out: number[][] = [];
  let now: number[] = [];
  for (let j = m.offsets[i]!; j < m.offsets[i + 1]!; j++) {
    const [x, y] = [m.x[j]!, m.y[j]!];
    if (!drawable(x, y)) {
      if (now.length > 2) out.push(now);
      now = [];
    } else if (now.length === 0 || x !== now[now.length - 2] || y !== now[now.length - 1]) {
      now.push(x, y);
    }
  }
  if (now.length > 2) out.push(now);
  return out;
}

export function rasterPath(r: Raster, m: PathMark): void {
  const half = (lineWidth(m.width) * r.scale) / 2;
  const { ax, bx, ay, by } = r.map;
  for (let i = 0; i < m.stroke.length; i++) {
    const colour = r.look(m.stroke[i]!, false);
    if (colour >>> 24 === 0) continue;
    // One shape, so that joints do not show.
    const all: Outline[] = [];
    for (const p of stretches(m, i)) {
      for (let k = 2; k < p.length; k += 2) {
        addStroke(all, p[k - 2]! * ax + bx, p[k - 1]! * ay + by, p[k]! * ax + bx, p[k + 1]! * ay + by, half);
      }
    }
    r.fillOutlines(all, colour);
  }
}

/** Adds a straight line and a round joint at its end, both turning the same way. */
function addStroke(all: Outline[], x0: number, y0: number, x1: number, y1: number, half: number): void {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (!(length > 0)) return;
  const [nx, ny] = [(-(y1 - y0) / length) * half, ((x1 - x0) / length) * half];
  all.push([x0 + nx, y0 + ny, x0 - nx, y0 - ny, x1 - nx, y1 - ny, x1 + nx, y1 + ny]);
  const joint: Outline = [];
  for (let k = 0; k < 8; k++) joint.push(x1 + half * Math.cos((k * Math.PI) / 4), y1 + half * Math.sin((k * Math.PI) / 4));
  all.push(joint);
}

export function uploadPath(d: Device, m: PathMark): Drawable {
  const mesh = new Mesh();
  const half = lineWidth(m.width) / 2;
  for (let i = 0; i < m.stroke.length; i++) {
    for (const p of stretches(m, i)) addStrip(mesh, p, half, m.stroke[i]!);
  }
  return mesh.upload(d);
}

/** A strip whose sides meet in mitres where it bends little, so that nothing is painted twice. */
function addStrip(mesh: Mesh, p: number[], half: number, colour: number): void {
  const n = p.length / 2;
  let [a, b] = [-1, -1];
  for (let k = 0; k < n; k++) {
    const before = k > 0 ? normal(p, k - 1) : normal(p, k);
    const after = k < n - 1 ? normal(p, k) : before;
    const bend = before[0] * after[0] + before[1] * after[1];
    const [x, y] = [p[2 * k]!, p[2 * k + 1]!];
    const side = (nx: number, ny: number): [number, number] => [
      mesh.corner(x, y, nx * half, ny * half, colour, 0), mesh.corner(x, y, -nx * half, -ny * half, colour, 0),
    ];
    const share = 1 / (1 + Math.max(bend, 0));
    const [c, e] = bend > 0 ? side((before[0] + after[0]) * share, (before[1] + after[1]) * share) : side(...before);
    if (a >= 0) {
      mesh.triangle(a, b, c);
      mesh.triangle(c, b, e);
    }
    [a, b] = bend > 0 ? [c, e] : side(...after);
    if (bend <= 0) {
      mesh.triangle(c, e, a);
      mesh.triangle(c, e, b);
    }
  }
}

/** The direction across the line from point k to the next. */
function normal(p: number[], k: number): [number, number] {
  const [dx, dy] = [p[2 * k + 2]! - p[2 * k]!, p[2 * k + 3]! - p[2 * k + 1]!];
  const length = Math.hypot(dx, dy);
  return [-dy / length, dx / length];
}
