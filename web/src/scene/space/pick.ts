// Which thing lies at a pixel: the nearest to the eye that covers it, or else, of
// dots, the one whose middle is closest. As internal/scene/space_pick.go.

import { none, type SpaceMark } from "../scene";
import { barFaces, barHeight, dotRadius, Form, quads } from "./body";
import { at, type Projection } from "./project";

const reach = 6;

/** The index of the thing, or -1. One pass over all things. */
export function pickThing(m: SpaceMark, look: Uint16Array, p: Projection, x: number, y: number): number {
  if (m.form === Form.bars) return pickBar(m, look, p, x, y);
  if (m.form === Form.mesh) return pickMesh(m, look, p, x, y);
  const r = dotRadius(m, p);
  const far = Math.max(r * r, reach * reach);
  let [best, depth, near, close] = [-1, Infinity, -1, reach * reach];
  for (let i = 0; i < look.length; i++) {
    if (look[i] === none) continue;
    const [px, py, d] = at(p, m.px[i]!, m.py[i]!, m.pz[i]!);
    const away = (px - x) * (px - x) + (py - y) * (py - y);
    if (!(away <= far)) continue;
    if (away <= r * r && d <= depth) [best, depth] = [i, d];
    if (away <= close) [near, close] = [i, away];
  }
  return best >= 0 ? best : near;
}

function pickBar(m: SpaceMark, look: Uint16Array, p: Projection, x: number, y: number): number {
  let [best, depth] = [-1, Infinity];
  const wide = (m.half[0] * p.stretch[0]! + m.half[1] * p.stretch[1]!) * p.scale;
  for (let i = 0; i < look.length; i++) {
    if (look[i] === none) continue;
    const [px, py, d] = at(p, m.px[i]!, m.py[i]!, m.pz[i]!);
    // Most bars are nowhere near.
    if (!(d <= depth) || Math.abs(px - x) > wide || Math.abs(py - y) > wide + barHeight(m, i) * p.stretch[2]! * p.scale) continue;
    if (barFaces(m, p, i).some((f) => holds(f, x, y))) [best, depth] = [i, d];
  }
  return best;
}

/** The corner nearest to the pixel of the piece in front. */
function pickMesh(m: SpaceMark, look: Uint16Array, p: Projection, x: number, y: number): number {
  let [best, depth] = [-1, Infinity];
  quads(m, look, p, false, (q) => {
    if (!(q.depth <= depth) || !holds(q.face, x, y)) return;
    depth = q.depth;
    if (q.near >= 0) {
      best = q.near;
      return;
    }
    let close = Infinity;
    q.corner.forEach((i, k) => {
      const d = Math.hypot(q.face[2 * k]! - x, q.face[2 * k + 1]! - y);
      if (d < close) [best, close] = [i, d];
    });
  });
  return best;
}

/** Whether a pixel lies in a face, by counting edges to its left. */
function holds(f: number[], x: number, y: number): boolean {
  let inside = false;
  for (let i = 0, j = 6; i < 8; j = i, i += 2) {
    if (f[i + 1]! > y !== f[j + 1]! > y && x < ((f[j]! - f[i]!) * (y - f[i + 1]!)) / (f[j + 1]! - f[i + 1]!) + f[i]!) inside = !inside;
  }
  return inside;
}
