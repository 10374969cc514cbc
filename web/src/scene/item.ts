// Which item lies at a pixel: of the marks that carry items, the one on top. As
// internal/scene/item.go.

import type { Transform } from "./painter";
import type { Frame, Layer, Mark, Scene, SpaceMark } from "./scene";

/** Stands for none in a column of items. */
export const noItem = 0xffffffff;
/** How far in pixels from a line and from a point the pointer may be. */
const lineReach = 3;
const pointReach = 10;

/** Whether anything in the scene can be found by its marks; else the server is asked by place. */
export function hasItems(scene: Scene): boolean {
  return scene.layers.some((l) => l.marks.some((m) => ("items" in m && m.items != null) || ("firstItem" in m && m.firstItem !== undefined)));
}

/**
 * The number of the item at a pixel of the screen, -1 for none. Frames may be moved; things
 * in space are found by whoever turns them. One pass over the marks.
 */
export function itemAt(
  scene: Scene, x: number, y: number, moved: (frame: number) => Transform, pickSpace: (m: SpaceMark) => number,
): number {
  for (let l = scene.layers.length - 1; l >= 0; l--) {
    const layer = scene.layers[l]!;
    const at = place(scene, layer, x, y, moved);
    if (!at) continue;
    for (let k = layer.marks.length - 1; k >= 0; k--) {
      const n = numberIn(layer.marks[k]!, at.x, at.y, pickSpace);
      if (n >= 0) return n;
    }
  }
  return -1;
}

/** The pixel where the layer was drawn, or null where its frame cuts it off. */
function place(scene: Scene, layer: Layer, x: number, y: number, moved: (frame: number) => Transform): { x: number; y: number } | null {
  const f = scene.frames[layer.frame];
  if (!f) return { x, y };
  if (!holdsPoint(f, x, y)) return null;
  const t = moved(layer.frame);
  return { x: (x - t.offsetX) / t.scaleX, y: (y - t.offsetY) / t.scaleY };
}

function holdsPoint(f: Frame, x: number, y: number): boolean {
  return within(x, f.x, f.w) && within(y, f.y, f.h);
}

function within(v: number, from: number, length: number): boolean {
  return v >= from && v < from + length;
}

function numberIn(m: Mark, x: number, y: number, pickSpace: (m: SpaceMark) => number): number {
  switch (m.kind) {
    case "rect":
      if (!m.items) return -1;
      for (let i = m.items.length - 1; i >= 0; i--) {
        // What is smaller than a pixel is drawn as one.
        const [w, h] = [m.w[i]!, m.h[i]!];
        if (m.items[i] !== noItem && w > 0 && h > 0 && within(x, m.x[i]!, Math.max(w, 1)) && within(y, m.y[i]!, Math.max(h, 1))) return m.items[i]!;
      }
      return -1;
    case "polygon":
      if (!m.items) return -1;
      for (let i = m.items.length - 1; i >= 0; i--) {
        if (m.items[i] !== noItem && holds(m.x, m.y, m.offsets[i]!, m.offsets[i + 1]!, x, y)) return m.items[i]!;
      }
      return -1;
    case "line":
      return nearest(m.items, (i) => lineDistance(x, y, m.x0[i]!, m.y0[i]!, m.x1[i]!, m.y1[i]!), () => lineReach);
    case "point":
      return nearest(m.items, (i) => Math.hypot(m.x[i]! - x, m.y[i]! - y), (i) => m.r[i]! + pointReach);
    case "image":
      if (m.firstItem === undefined || !within(x, m.x, m.w) || !within(y, m.y, m.h)) return -1;
      return m.firstItem + m.columns * Math.min(Math.floor(((y - m.y) / m.h) * m.rows), m.rows - 1) +
        Math.min(Math.floor(((x - m.x) / m.w) * m.columns), m.columns - 1);
    case "space": {
      const i = m.firstItem === undefined ? -1 : pickSpace(m);
      return i < 0 ? -1 : m.firstItem! + i;
    }
    default:
      return -1;
  }
}

/** The item of the thing with the least distance, of equals the last. */
function nearest(items: Uint32Array | null | undefined, distance: (i: number) => number, far: (i: number) => number): number {
  let [at, least] = [-1, Infinity];
  for (let i = 0; i < (items?.length ?? 0); i++) {
    if (items![i] === noItem) continue;
    const d = distance(i);
    if (d <= far(i) && d <= least) [at, least] = [items![i]!, d];
  }
  return at;
}

/** Whether a pixel lies in a polygon, by counting edges to its left. */
function holds(xs: Float32Array, ys: Float32Array, from: number, to: number, x: number, y: number): boolean {
  let inside = false;
  for (let i = from, j = to - 1; i < to; j = i++) {
    if (ys[i]! > y !== ys[j]! > y && x < ((xs[j]! - xs[i]!) * (y - ys[i]!)) / (ys[j]! - ys[i]!) + xs[i]!) inside = !inside;
  }
  return inside;
}

function lineDistance(x: number, y: number, x0: number, y0: number, x1: number, y1: number): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const n = dx * dx + dy * dy;
  const t = n > 0 ? Math.min(Math.max(((x - x0) * dx + (y - y0) * dy) / n, 0), 1) : 0;
  return Math.hypot(x - x0 - t * dx, y - y0 - t * dy);
}
