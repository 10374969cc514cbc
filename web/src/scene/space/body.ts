// Things in space as marks of the plane, from far to near: what the software
// rasteriser draws. As internal/scene/space_flatten.go and space_mesh.go; a draft
// leaves out things, so that turning stays smooth.

import { palette } from "../palette";
import { none, type LineMark, type PointMark, type PolygonMark, type SpaceMark } from "../scene";
import { at, byDepth, places, type Places, type Projection } from "./project";

export const Form = { dots: 0, balls: 1, bars: 2, mesh: 3 } as const;

const shades = palette.sections["shade"]!.start;
const soft = shades;
const deep = shades + 1;
const shine = shades + 2;

const smallBall = 2.5;
const manyDots = 20000;

/** How many things a draft draws. */
const draftDots = 50_000;
const draftFaces = 6000;

/** Every how many-th dot a draft draws: a prime number, or it would be the same columns of each row of a grid. */
export function draftStep(dots: number): number {
  let step = Math.max(1, Math.ceil(dots / draftDots));
  const divided = () => { for (let k = 2; k * k <= step; k++) if (step % k === 0) return true; return false; };
  while (divided()) step++;
  return step;
}

export function dotRadius(m: SpaceMark, p: Projection): number {
  return Math.min(Math.max(m.radius * p.scale, m.least || 0, 0.9), 60);
}

/** A step of light on a ball: how far its middle lies up and left, its radius, and shades over the ball's colour; "light" is a shade alone. */
export interface Disc {
  off: number;
  radius: number;
  shades: number[];
  light: boolean;
}

const disc = (off: number, radius: number, ...over: number[]): Disc => ({ off, radius, shades: over, light: over[0] === shine });

/** The steps of light for each detail, as internal/scene/space_flatten.go has them. */
const discs: Record<number, Disc[]> = {
  2: [disc(0, 1)],
  3: [disc(0, 1, deep), disc(0.13, 0.8), disc(0.36, 0.24, shine)],
  4: [disc(0, 1, deep), disc(0.07, 0.9, soft), disc(0.17, 0.72), disc(0.36, 0.24, shine)],
  5: [disc(0, 1, deep), disc(0.07, 0.9, soft), disc(0.17, 0.72), disc(0.32, 0.34, shine), disc(0.38, 0.16, shine)],
  6: [disc(0, 1, deep, soft), disc(0.04, 0.95, deep), disc(0.1, 0.84, soft), disc(0.19, 0.68), disc(0.32, 0.34, shine), disc(0.38, 0.16, shine)],
};

/** How much of a colour is left under a shade. */
export function dimmed(shade: number): number {
  return shade === deep ? 0.6863 : 0.851;
}

export function discsOf(m: SpaceMark, r: number): Disc[] {
  return m.form === Form.balls && r >= smallBall ? (discs[m.detail] ?? discs[3]!) : discs[2]!;
}

/** Lines between things that are shown, from far to near; null: there are none. */
export function flattenLinks(m: SpaceMark, look: Uint16Array, p: Projection): LineMark | null {
  const { linkFrom, linkTo, linkFill, linkPart } = m;
  if (!linkFrom || !linkTo || !linkFill) return null;
  const ends: number[][] = [];
  const depth: number[] = [];
  const fill: number[] = [];
  for (let k = 0; k < linkFrom.length; k++) {
    const [i, j] = [linkFrom[k]!, linkTo[k]!];
    if (i >= look.length || j >= look.length || look[i] === none || look[j] === none) continue;
    const a = at(p, m.px[i]!, m.py[i]!, m.pz[i]!);
    const b = at(p, m.px[j]!, m.py[j]!, m.pz[j]!);
    if (!Number.isFinite(a[0] + a[1] + b[0] + b[1])) continue;
    const part = linkPart ? linkPart[k]! : 1;
    ends.push([a[0], a[1], a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]);
    depth.push(a[2] + b[2]);
    fill.push(linkFill[k]!);
  }
  const order = byDepth(depth, ends.length);
  const column = (k: number) => Float32Array.from(order, (i) => ends[i]![k]!);
  return { kind: "line", x0: column(0), y0: column(1), x1: column(2), y1: column(3), stroke: Uint16Array.from(order, (i) => fill[i]!), width: Math.max(m.linkWidth, 1), flags: null };
}

export function flattenBody(m: SpaceMark, look: Uint16Array, p: Projection, draft: boolean): PointMark | PolygonMark {
  if (m.form === Form.bars) return flattenBars(m, look, p, draft);
  if (m.form === Form.mesh) return flattenMesh(m, look, p, draft);
  return flattenDots(m, look, p, draft);
}

function flattenDots(m: SpaceMark, look: Uint16Array, p: Projection, draft: boolean): PointMark {
  const step = draft ? draftStep(look.length) : 1;
  const all = places(m, look, p, step);
  let order = byDepth(all.depth, all.count);
  const r = dotRadius(m, p);
  if (order.length > manyDots) order = inFront(m, all, order, r);
  const steps = draft && order.length > 30_000 ? discs[2]! : discsOf(m, r);
  const n = order.length * steps.reduce((sum, d) => sum + d.shades.length + (d.light ? 0 : 1), 0);
  const out: PointMark = { kind: "point", x: new Float32Array(n), y: new Float32Array(n), r: new Float32Array(n), fill: new Uint16Array(n), shape: null, count: null };
  let k = 0;
  const put = (x: number, y: number, radius: number, fill: number) => {
    out.x[k] = x;
    out.y[k] = y;
    out.r[k] = radius;
    out.fill[k++] = fill;
  };
  for (let j = 0; j < order.length; j++) {
    const i = order[j]!;
    const [x, y, fill] = [all.x[i]!, all.y[i]!, look[all.index[i]!]!];
    for (const d of steps) {
      if (!d.light) put(x - d.off * r, y - d.off * r, d.radius * r, fill);
      for (const c of d.shades) put(x - d.off * r, y - d.off * r, d.radius * r, c);
    }
  }
  return out;
}

/** Leaves out dots that another hides whose middle is nearly the same. */
function inFront(m: SpaceMark, all: Places, order: Int32Array, r: number): Int32Array {
  const cell = Math.max(0.75, r / 2);
  const columns = Math.floor(m.w / cell) + 1;
  const rows = Math.floor(m.h / cell) + 1;
  const front = new Int32Array(columns * rows).fill(-1);
  const key = new Int32Array(order.length);
  for (let j = 0; j < order.length; j++) {
    const c = Math.floor((all.x[order[j]!]! - m.x) / cell);
    const w = Math.floor((all.y[order[j]!]! - m.y) / cell);
    key[j] = c < 0 || w < 0 || c >= columns || w >= rows ? -1 : w * columns + c;
    if (key[j]! >= 0) front[key[j]!] = j; // the last is the nearest
  }
  const out = new Int32Array(order.length);
  let n = 0;
  for (let j = 0; j < order.length; j++) if (key[j]! >= 0 && front[key[j]!] === j) out[n++] = order[j]!;
  return out.subarray(0, n);
}

/** Faces in the order in which they are drawn. */
class Faces {
  private x: number[] = [];
  private y: number[] = [];
  private offsets: number[] = [0];
  private fill: number[] = [];

  /** A face of four corners as x, y …, a little larger than it is, so that neighbours leave no seams. */
  add(f: number[], fill: number, shade: number): void {
    const cx = (f[0]! + f[2]! + f[4]! + f[6]!) / 4;
    const cy = (f[1]! + f[3]! + f[5]! + f[7]!) / 4;
    for (const c of shade === none ? [fill] : [fill, shade]) {
      for (let k = 0; k < 8; k += 2) {
        const [dx, dy] = [f[k]! - cx, f[k + 1]! - cy];
        const grow = 1 + 0.4 / Math.max(Math.hypot(dx, dy), 0.4);
        this.x.push(cx + dx * grow);
        this.y.push(cy + dy * grow);
      }
      this.end(c);
    }
  }

  line(x0: number, y0: number, x1: number, y1: number, fill: number): void {
    this.x.push(x0, x1);
    this.y.push(y0, y1);
    this.end(fill);
  }

  private end(fill: number): void {
    this.offsets.push(this.x.length);
    this.fill.push(fill);
  }

  mark(): PolygonMark {
    return { kind: "polygon", offsets: Uint32Array.from(this.offsets), x: Float32Array.from(this.x), y: Float32Array.from(this.y), fill: Uint16Array.from(this.fill), flags: null };
  }
}

export function barHeight(m: SpaceMark, i: number): number {
  return m.high > m.base ? Math.max((m.value[i]! - m.base) / (m.high - m.base), 0) * m.tall : 0;
}

/** The faces of a bar that can be seen, the sides first. */
export function barFaces(m: SpaceMark, p: Projection, i: number): number[][] {
  const [x, y, z] = [m.px[i]!, m.py[i]!, m.pz[i]!];
  const [hx, hy, top] = [m.half[0], m.half[1], z + barHeight(m, i)];
  const [sx, sy, lid] = [p.sinA < 0 ? 1 : -1, p.cosA < 0 ? 1 : -1, p.sinE < 0 ? z : top];
  const out: number[][] = [[], [], []];
  const corner = (f: number, a: number, b: number, c: number) => {
    const [u, v] = at(p, a, b, c);
    out[f]!.push(u, v);
  };
  for (const [s, t] of [[-1, 0], [1, 0], [1, 1], [-1, 1]] as const) {
    const h = z + t * (top - z);
    corner(0, x + sx * hx, y + s * hy, h);
    corner(1, x + s * hx, y + sy * hy, h);
  }
  for (const [s, t] of [[-1, -1], [1, -1], [1, 1], [-1, 1]] as const) corner(2, x + s * hx, y + t * hy, lid);
  return out;
}

function flattenBars(m: SpaceMark, look: Uint16Array, p: Projection, draft: boolean): PolygonMark {
  const all = places(m, look, p, draft ? Math.max(1, Math.ceil(look.length / draftFaces)) : 1);
  const out = new Faces();
  const wide = [0, 1].map((a) => 2 * m.half[a]! * p.stretch[a]! * p.scale);
  const thin = wide[0]! < 1.2 && wide[1]! < 1.2;
  let order = byDepth(all.depth, all.count);
  if (order.length > manyDots) { // of bars that end at one pixel the nearest hides the others
    const tops = Float64Array.from(all.index.subarray(0, all.count), (i) => at(p, m.px[i]!, m.py[i]!, m.pz[i]! + barHeight(m, i))[1]);
    order = inFront(m, { ...all, y: tops }, order, Math.max(...wide, 2));
  }
  for (const k of order) {
    const i = all.index[k]!;
    const fill = look[i]!;
    if (thin) {
      const [tx, ty] = at(p, m.px[i]!, m.py[i]!, m.pz[i]! + barHeight(m, i));
      out.line(all.x[k]!, all.y[k]!, tx, Math.min(ty, all.y[k]! - 1), fill);
      continue;
    }
    const faces = barFaces(m, p, i);
    out.add(faces[0]!, fill, deep);
    out.add(faces[1]!, fill, soft);
    out.add(faces[2]!, fill, none);
  }
  return out.mark();
}

export interface Quad {
  corner: number[];
  /** Colours of the corners. */
  fills: number[];
  /** The thing that a part is of; -1: see corner. */
  near: number;
  face: number[];
  depth: number;
  fill: number;
  shade: number;
}

/** What stands for the things from row r and column c on, step of them each way: the one that differs most from their mean. */
function odd(m: SpaceMark, look: Uint16Array, r: number, c: number, rows: number, step: number): number {
  const first = r * m.columns + c;
  if (step <= 1) return first;
  const block: number[] = [];
  for (let y = r; y < Math.min(r + step, rows); y++) {
    for (let x = c; x < Math.min(c + step, m.columns); x++) {
      const i = y * m.columns + x;
      if (i < look.length && look[i] !== none) block.push(i);
    }
  }
  const mean = block.reduce((sum, i) => sum + m.value[i]!, 0) / block.length;
  let [best, far] = [first, -1];
  for (const i of block) if (Math.abs(m.value[i]! - mean) > far) [best, far] = [i, Math.abs(m.value[i]! - mean)];
  return best;
}

/** A piece as one where its corners have one colour, or else the part of each corner, so that a peak has its own. */
function parts(q: Quad, f: (q: Quad) => void): void {
  const { face, fills } = q;
  if (fills.every((c) => c === fills[0])) {
    [q.fill, q.near] = [fills[0]!, -1];
    f(q);
    return;
  }
  const [mx, my] = [(face[0]! + face[2]! + face[4]! + face[6]!) / 4, (face[1]! + face[3]! + face[5]! + face[7]!) / 4];
  for (let k = 0; k < 4; k++) {
    const [next, last] = [(k + 1) % 4, (k + 3) % 4];
    const [x, y] = [face[2 * k]!, face[2 * k + 1]!];
    f({
      ...q, fill: fills[k]!, near: q.corner[k]!,
      face: [x, y, (x + face[2 * next]!) / 2, (y + face[2 * next + 1]!) / 2, mx, my, (x + face[2 * last]!) / 2, (y + face[2 * last + 1]!) / 2],
    });
  }
}

/** Calls f for each piece of the mesh that is shown; it may be the same object each time. */
export function quads(m: SpaceMark, look: Uint16Array, p: Projection, draft: boolean, f: (q: Quad) => void): void {
  if (m.columns < 2) return;
  const n = m.px.length;
  const most = draft ? draftFaces : Math.max(20000, (m.w * m.h) / 16);
  const step = Math.ceil(Math.sqrt(Math.max(n / most, 1)));
  const rows = Math.ceil(n / m.columns);
  const known = new Map<number, number>();
  const thing = (r: number, c: number): number => {
    const key = r * m.columns + c;
    if (step <= 1) return key;
    if (!known.has(key)) known.set(key, odd(m, look, r, c, rows, step));
    return known.get(key)!;
  };
  const q: Quad = { corner: [0, 0, 0, 0], fills: [0, 0, 0, 0], near: -1, face: new Array<number>(8).fill(0), depth: 0, fill: 0, shade: none };
  for (let r = 0; r < rows - 1; r = Math.min(r + step, rows - 1)) {
    const down = Math.min(r + step, rows - 1);
    for (let c = 0; c < m.columns - 1; c = Math.min(c + step, m.columns - 1)) {
      const right = Math.min(c + step, m.columns - 1);
      q.corner = [thing(r, c), thing(r, right), thing(down, right), thing(down, c)];
      if (fillQuad(m, look, p, q, step)) parts(q, f);
    }
  }
}

function fillQuad(m: SpaceMark, look: Uint16Array, p: Projection, q: Quad, step: number): boolean {
  q.depth = 0;
  const view: number[][] = [];
  for (let k = 0; k < 4; k++) {
    const i = q.corner[k]!;
    if (i >= look.length || look[i] === none) return false;
    q.fills[k] = look[i]!;
    const v = at(p, m.px[i]!, m.py[i]!, m.pz[i]!);
    if (!Number.isFinite(v[0] + v[1])) return false;
    q.face[2 * k] = v[0];
    q.face[2 * k + 1] = v[1];
    q.depth += v[2] / 4;
    view.push(v);
  }
  if (m.gap > 0) {
    for (let k = 0; k < 4; k++) {
      const [a, b] = [view[k]!, view[(k + 1) % 4]!];
      if (Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!) > m.gap * step * p.scale) return false;
    }
  }
  q.shade = shadeOf(view);
  return true;
}

/** Light from the upper left, in front. */
function shadeOf(v: number[][]): number {
  const a = [0, 1, 2].map((k) => v[2]![k]! - v[0]![k]!);
  const b = [0, 1, 2].map((k) => v[3]![k]! - v[1]![k]!);
  const n = [a[1]! * b[2]! - a[2]! * b[1]!, a[2]! * b[0]! - a[0]! * b[2]!, a[0]! * b[1]! - a[1]! * b[0]!];
  let length = Math.hypot(n[0]!, n[1]!, n[2]!);
  if (length === 0) return none;
  if (n[2]! > 0) length = -length;
  const light = (-0.38 * n[0]! - 0.58 * n[1]! - 0.72 * n[2]!) / length;
  return light > 0.72 ? none : light > 0.42 ? soft : deep;
}

function flattenMesh(m: SpaceMark, look: Uint16Array, p: Projection, draft: boolean): PolygonMark {
  const all: Quad[] = [];
  quads(m, look, p, draft, (q) => all.push({ ...q, face: [...q.face] }));
  const out = new Faces();
  for (const k of byDepth(all.map((q) => q.depth), all.length)) out.add(all[k]!.face, all[k]!.fill, all[k]!.shade);
  return out.mark();
}
