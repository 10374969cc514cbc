// Places in space become pixels, as internal/scene/space_project.go has it: no
// perspective, so that lengths along an axis can be compared.

import type { SpaceCamera, SpaceMark } from "../scene";

export interface Projection {
  sinA: number;
  cosA: number;
  sinE: number;
  cosE: number;
  middle: number[];
  stretch: number[];
  cx: number;
  cy: number;
  /** Pixels for a unit of the box. */
  scale: number;
}

/** Room for labels beside the box, in pixels, across and down: as much as they need, and in small pictures a share. */
function margin(m: SpaceMark): [number, number] {
  // Names stand above the things.
  return m.bare ? (m.labels?.length ? [28, 44] : [16, 16]) : [Math.min(128, 0.24 * m.w), Math.min(92, 0.26 * m.h)];
}

export function project(m: SpaceMark, c: SpaceCamera): Projection {
  const rad = Math.PI / 180;
  const [sinE, cosE] = [Math.sin(c.elevation * rad), Math.cos(c.elevation * rad)];
  const length = m.axes.map((a) => (a.end - a.begin) * a.stretch);
  const side = Math.min(m.w, m.h);
  // The box fits whatever the azimuth, so that turning it does not change its size.
  const across = Math.hypot(length[0]!, length[1]!);
  const down = across * Math.abs(sinE) + length[2]! * cosE;
  const [beside, below] = margin(m);
  let scale = side / 4;
  if (across > 0 || down > 0) scale = Math.min((m.w - beside) / Math.max(across, 1e-30), (m.h - below) / Math.max(down, 1e-30));
  return {
    sinA: Math.sin(c.azimuth * rad), cosA: Math.cos(c.azimuth * rad), sinE, cosE,
    middle: m.axes.map((a) => (a.begin + a.end) / 2), stretch: m.axes.map((a) => a.stretch),
    cx: m.x + m.w / 2 + c.panX * side, cy: m.y + m.h / 2 + c.panY * side, scale: scale * c.zoom,
  };
}

/** Pixel and depth of a place; depth grows away from the eye, in pixels. */
export function at(p: Projection, x: number, y: number, z: number): [number, number, number] {
  x = (x - p.middle[0]!) * p.stretch[0]!;
  y = (y - p.middle[1]!) * p.stretch[1]!;
  z = (z - p.middle[2]!) * p.stretch[2]!;
  const u = x * p.cosA - y * p.sinA;
  const w = x * p.sinA + y * p.cosA;
  return [p.cx + u * p.scale, p.cy - (z * p.cosE + w * p.sinE) * p.scale, (w * p.cosE - z * p.sinE) * p.scale];
}

/** Things that are shown, in pixels. */
export interface Places {
  x: Float64Array;
  y: Float64Array;
  depth: Float64Array;
  /** Which thing each is. */
  index: Int32Array;
  count: number;
}

/** Projects every step-th thing whose look is a colour. */
export function places(m: SpaceMark, look: Uint16Array, p: Projection, step: number): Places {
  const n = Math.ceil(look.length / step);
  const out: Places = { x: new Float64Array(n), y: new Float64Array(n), depth: new Float64Array(n), index: new Int32Array(n), count: 0 };
  const { px, py, pz } = m;
  const [mx, my, mz] = p.middle as [number, number, number];
  const [sx, sy, sz] = p.stretch as [number, number, number];
  const { sinA, cosA, sinE, cosE, scale, cx, cy } = p;
  let k = 0;
  for (let i = 0; i < look.length; i += step) {
    if (look[i] === 0xffff) continue;
    const x = (px[i]! - mx) * sx;
    const y = (py[i]! - my) * sy;
    const z = (pz[i]! - mz) * sz;
    const w = x * sinA + y * cosA;
    const u = cx + (x * cosA - y * sinA) * scale;
    const v = cy - (z * cosE + w * sinE) * scale;
    if (!(Math.abs(u) < 1e9 && Math.abs(v) < 1e9)) continue;
    out.x[k] = u;
    out.y[k] = v;
    out.depth[k] = (w * cosE - z * sinE) * scale;
    out.index[k++] = i;
  }
  out.count = k;
  return out;
}

/** The order from far to near of n things, those of about one depth as they come. */
export function byDepth(depth: Float64Array | number[], n: number): Int32Array {
  let lo = Infinity;
  let hi = -Infinity;
  for (let i = 0; i < n; i++) {
    const d = depth[i]!;
    if (d < lo) lo = d;
    if (d > hi) hi = d;
  }
  const steps = 1 << 16;
  const factor = hi > lo ? (steps - 1) / (hi - lo) : 0;
  const key = new Uint16Array(n);
  const start = new Int32Array(steps + 1);
  for (let i = 0; i < n; i++) {
    key[i] = (hi - depth[i]!) * factor;
    start[key[i]! + 1]!++;
  }
  for (let i = 0; i < steps; i++) start[i + 1]! += start[i]!;
  const out = new Int32Array(n);
  for (let i = 0; i < n; i++) out[start[key[i]!]!++] = i;
  return out;
}
