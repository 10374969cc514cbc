// The box round everything: the three walls behind with a grid at the ticks, and
// labels along the outline. As internal/scene/space_axes.go.

import { ui } from "../palette";
import { Anchor, none, type LineMark, type SpaceMark, type TextMark } from "../scene";
import { dotRadius, Form } from "./body";
import { at, type Projection } from "./project";

const textSize = 12;

interface Lines {
  from: number[];
  colour: number;
}

interface Texts {
  x: number[];
  y: number[];
  text: string[];
  width: number[];
  fill: number[];
  anchor: number[];
}

export function flattenAxes(m: SpaceMark, p: Projection, zoom = m.camera.zoom, look?: Uint16Array): { lines: LineMark[]; text: TextMark } {
  const grid: Lines = { from: [], colour: ui.hairline };
  const edges: Lines = { from: [], colour: ui.axis };
  const far = [p.sinA >= 0, p.cosA >= 0, p.sinE < 0];
  const end = (a: number, side: boolean) => (side ? m.axes[a]!.end : m.axes[a]!.begin);
  const line = (to: Lines, a: number[], b: number[]) => {
    const [x0, y0] = at(p, a[0]!, a[1]!, a[2]!);
    const [x1, y1] = at(p, b[0]!, b[1]!, b[2]!);
    if (Math.hypot(x1 - x0, y1 - y0) > 0.5) to.from.push(x0, y0, x1, y1);
  };
  for (let b = 0; b < 3 && !m.bare; b++) {
    const axis = m.axes[b]!;
    const [c, d] = [(b + 1) % 3, (b + 2) % 3];
    for (const [s, t] of [[false, false], [false, true], [true, false], [true, true]] as const) {
      if ((s !== far[c] && t !== far[d]) || axis.end === axis.begin) continue;
      const from = [0, 0, 0];
      [from[b], from[c], from[d]] = [axis.begin, end(c, s), end(d, t)];
      const until = [...from];
      until[b] = axis.end;
      line(edges, from, until);
    }
    for (const tick of axis.ticks) {
      for (const [along, wall] of [[c, d], [d, c]] as const) {
        const from = [0, 0, 0];
        [from[b], from[wall], from[along]] = [tick.at, end(wall, far[wall]!), m.axes[along]!.begin];
        const until = [...from];
        until[along] = m.axes[along]!.end;
        line(grid, from, until);
      }
    }
  }
  const text: Texts = { x: [], y: [], text: [], width: [], fill: [], anchor: [] };
  const taken: number[][] = [];
  if (!m.bare) labelAxes(m, p, zoom, far, edges, text, taken);
  if (look) labelThings(m, look, p, text, taken);
  return { lines: [lineMark(grid), lineMark(edges)], text: textMark(text) };
}

function lineMark(l: Lines): LineMark {
  const column = (k: number) => Float32Array.from({ length: l.from.length / 4 }, (_, i) => l.from[4 * i + k]!);
  return { kind: "line", x0: column(0), y0: column(1), x1: column(2), y1: column(3), stroke: new Uint16Array(l.from.length / 4).fill(l.colour), width: 1, flags: null };
}

function textMark(t: Texts): TextMark {
  return {
    kind: "text", x: Float32Array.from(t.x), y: Float32Array.from(t.y), text: t.text, width: Float32Array.from(t.width),
    fill: Uint16Array.from(t.fill), anchor: Uint8Array.from(t.anchor), size: textSize, bold: false, turned: false,
  };
}

interface Edge {
  from: number[];
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  rank: number;
}

/** Ticks and names along one edge of each axis that lies on the outline of the box. */
function labelAxes(m: SpaceMark, p: Projection, zoom: number, far: boolean[], edges: Lines, text: Texts, taken: number[][]): void {
  for (let b = 0; b < 3; b++) {
    const axis = m.axes[b]!;
    const [c, d] = [(b + 1) % 3, (b + 2) % 3];
    let best: Edge | null = null;
    for (const near of [c, d]) {
      const from = [0, 0, 0];
      for (const a of [c, d]) from[a] = (a === near) !== far[a] ? m.axes[a]!.end : m.axes[a]!.begin;
      from[b] = axis.begin;
      const [x0, y0] = at(p, from[0]!, from[1]!, from[2]!);
      const until = [...from];
      until[b] = axis.end;
      const [x1, y1] = at(p, until[0]!, until[1]!, until[2]!);
      const rank = b === 2 ? -x0 - x1 : y0 + y1 - 1e-3 * (x0 + x1);
      if (best === null || rank > best.rank + 1e-6) best = { from, x0, y0, x1, y1, rank };
    }
    labelEdge(m, p, zoom, b, best!, edges, text, taken);
  }
}

/** Names beside the things they belong to: above, or to a side, where no other name and no thing is in the way. */
function labelThings(m: SpaceMark, look: Uint16Array, p: Projection, text: Texts, taken: number[][]): void {
  if (!m.labels?.length) return;
  const r = dotRadius(m, p);
  for (let i = 0; i < Math.min(look.length, mostNamed); i++) {
    const [x, y] = at(p, m.px[i]!, m.py[i]!, m.pz[i]!);
    if (look[i] !== none && Number.isFinite(x + y)) taken.push([x - 0.8 * r, y - 0.8 * r, x + 0.8 * r, y + 0.8 * r]);
  }
  for (const { thing: i, text: name, width: w } of m.labels) {
    if (i >= look.length || look[i] === none) continue;
    const [x, y] = at(p, m.px[i]!, m.py[i]!, m.pz[i]!);
    if (!Number.isFinite(x + y)) continue;
    // Above, it may move to a side so that it is within the picture. The name of a block begins where its first thing does.
    const above = m.bare ? x + w / 2 - r : x;
    const [left, right] = [m.x + w / 2 + 3, m.x + m.w - w / 2 - 3];
    for (const [u, v] of [[Math.min(Math.max(above, left), Math.max(left, right)), y - r - 5], [x + r + 5 + w / 2, y + 4], [x - r - 5 - w / 2, y + 4], [x, y + r + 13]] as const) {
      const box = [u - w / 2 - 3, v - 11, u + w / 2 + 3, v + 4];
      if (box[0]! < m.x || box[1]! < m.y || box[2]! > m.x + m.w || box[3]! > m.y + m.h || overlaps(taken, box)) continue;
      taken.push(box);
      text.x.push(u);
      text.y.push(v);
      text.text.push(name);
      text.width.push(w);
      text.fill.push(ui.text);
      text.anchor.push(Anchor.middle);
      break;
    }
  }
}

/** Of how many things names keep clear. */
const mostNamed = 400;

function overlaps(taken: number[][], box: number[]): boolean {
  return taken.some((t) => box[0]! < t[2]! && t[0]! < box[2]! && box[1]! < t[3]! && t[1]! < box[3]!);
}

/** How far the middles of the outermost dots lie inside an edge along axis b, in pixels against the direction given. */
function inwards(m: SpaceMark, p: Projection, b: number, from: number[], ox: number, oy: number): number {
  const [x0, y0] = at(p, from[0]!, from[1]!, from[2]!);
  let far = 0;
  for (let a = 0; a < 3; a++) {
    const axis = m.axes[a]!;
    if (a === b || axis.end === axis.begin) continue;
    const to = [...from];
    to[a]! += m.radius / (axis.stretch || 1);
    const [x1, y1] = at(p, to[0]!, to[1]!, to[2]!);
    far += Math.abs((x1 - x0) * ox + (y1 - y0) * oy);
  }
  return far;
}

function labelEdge(m: SpaceMark, p: Projection, zoom: number, b: number, e: Edge, edges: Lines, text: Texts, taken: number[][]): void {
  const axis = m.axes[b]!;
  const length = Math.hypot(e.x1 - e.x0, e.y1 - e.y0);
  if (!(length >= 24) || !Number.isFinite(length)) return;
  let [ox, oy] = [(e.y0 - e.y1) / length, (e.x1 - e.x0) / length];
  if (ox * ((e.x0 + e.x1) / 2 - p.cx) + oy * ((e.y0 + e.y1) / 2 - p.cy) < 0) [ox, oy] = [-ox, -oy];
  let [anchor, shift] = ox > 0.35 ? [Anchor.start as number, 0] : ox < -0.35 ? [Anchor.end as number, 1] : [Anchor.middle as number, 0.5];
  const put = (x: number, y: number, label: string, w: number, fill: number): number => {
    const base = y + 4 + 4 * oy;
    const box = [x - shift * w - 3, base - 11, x - shift * w + w + 3, base + 4];
    // Half a label says the wrong thing; a user who zoomed in expects more outside.
    if (zoom <= 1 && (box[0]! < m.x - 3 || box[1]! < m.y - 2 || box[2]! > m.x + m.w + 3 || box[3]! > m.y + m.h + 2)) return 0;
    if (overlaps(taken, box)) return 0;
    taken.push(box);
    text.x.push(x);
    text.y.push(base);
    text.text.push(label);
    text.width.push(w);
    text.fill.push(fill);
    text.anchor.push(anchor);
    return w;
  };
  let wide = 0;
  // As far as things reach over the edge.
  const clear = m.form === Form.dots || m.form === Form.balls ? Math.max(dotRadius(m, p) - inwards(m, p, b, e.from, ox, oy), 0) : 0;
  for (const t of axis.ticks) {
    const from = [...e.from];
    from[b] = t.at;
    const [x, y] = at(p, from[0]!, from[1]!, from[2]!);
    edges.from.push(x, y, x + (clear + 4) * ox, y + (clear + 4) * oy);
    wide = Math.max(wide, put(x + (clear + 8) * ox, y + (clear + 8) * oy, t.label, t.width, ui["text-muted"]));
  }
  if (b === 2) {
    const [x, y] = e.y0 < e.y1 ? [e.x0, e.y0] : [e.x1, e.y1];
    [anchor, shift] = [Anchor.middle, 0.5];
    put(x, y - 16 - 4 * oy, axis.label, axis.width, ui.text);
    return;
  }
  for (let away = clear + 22 + Math.abs(ox) * wide; away < clear + 80 && axis.label !== ""; away += 14) {
    if (put((e.x0 + e.x1) / 2 + away * ox, (e.y0 + e.y1) / 2 + away * oy, axis.label, axis.width, ui.text) > 0) return;
  }
}
