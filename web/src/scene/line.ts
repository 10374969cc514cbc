// Straight lines, smoothed; exactly upright and level ones snap to whole pixels.
// Arrows have heads, dashed ones 4 pixels on and 3 off.

import type { Raster } from "./raster";
import { Flag, type LineMark } from "./scene";
import type { Device, Drawable, Program, Target } from "./device";

const farAway = 1 << 20;
const longestDashed = 1 << 17;

export function drawable(...v: number[]): boolean {
  return v.every((x) => x > -farAway && x < farAway);
}

/** A width in pixels; what makes no sense counts as a hairline. */
export function lineWidth(v: number): number {
  return v > 0 && v <= 1000 ? v : 1;
}

export function rasterLine(r: Raster, m: LineMark): void {
  const width = lineWidth(m.width) * r.scale;
  const { ax, bx, ay, by } = r.map;
  for (let i = 0; i < m.x0.length; i++) {
    const flag = m.flags ? m.flags[i]! : 0;
    const colour = r.look(m.stroke[i]!, (flag & Flag.dimmed) !== 0);
    if (colour >>> 24 === 0 || !drawable(m.x0[i]!, m.y0[i]!, m.x1[i]!, m.y1[i]!)) continue;
    const x0 = m.x0[i]! * ax + bx;
    const y0 = m.y0[i]! * ay + by;
    let x1 = m.x1[i]! * ax + bx;
    let y1 = m.y1[i]! * ay + by;
    if (flag & Flag.arrow) {
      const head = arrowHead(x0, y0, x1, y1, width, r.scale);
      if (head) {
        r.fillOutlines([head.outline], colour);
        [x1, y1] = [head.stopX, head.stopY];
      }
    }
    stroke(r, x0, y0, x1, y1, width, colour, (flag & Flag.dashed) !== 0);
  }
}

/** One line in device pixels. */
export function stroke(r: Raster, x0: number, y0: number, x1: number, y1: number, width: number, colour: number, dashed: boolean): void {
  if (x0 === x1) x0 = x1 = snapLine(x0, width);
  if (y0 === y1) y0 = y1 = snapLine(y0, width);
  if (!dashed) return r.segment(x0, y0, x1, y1, width / 2, colour);
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (!(length > 0) || length > longestDashed) return;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  for (let at = 0; at < length; at += 7 * r.scale) {
    const to = Math.min(at + 4 * r.scale, length);
    r.segment(x0 + ux * at, y0 + uy * at, x0 + ux * to, y0 + uy * to, width / 2, colour);
  }
}

/** The middle of a line whose edges lie on pixel borders. */
function snapLine(v: number, width: number): number {
  return Math.floor(width + 0.5) % 2 === 1 || width < 1 ? Math.floor(v) + 0.5 : Math.round(v);
}

/** Corners of a head, tip first, and where the line stops; null where it is too short for one. */
export function arrowHead(x0: number, y0: number, x1: number, y1: number, width: number, scale: number) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (!(length >= 2 * scale)) return null;
  const long = Math.min(5 * scale + 2 * width, length);
  const half = long * 0.42;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const [stopX, stopY] = [x1 - ux * long, y1 - uy * long];
  return { outline: [x1, y1, stopX - uy * half, stopY + ux * half, stopX + uy * half, stopY - ux * half], stopX, stopY };
}

export function uploadLine(d: Device, m: LineMark): Drawable {
  const n = m.x0.length;
  const width = lineWidth(m.width);
  const columns = [m.x0, m.y0, m.x1, m.y1, m.stroke].map((c) => d.column(c));
  const flags = d.optional(m.flags);
  const arrows = m.flags?.some((f) => (f & Flag.arrow) !== 0) ?? false;
  const pass = (p: Program, t: Target) => {
    d.use(p, t);
    ["uX0", "uY0", "uX1", "uY1", "uStroke"].forEach((name, i) => d.bind(p, name, i + 1, columns[i]!));
    d.bind(p, "uFlags", 6, flags);
    d.gl.uniform1i(p.at("uHasFlags"), flags ? 1 : 0);
    d.gl.uniform1f(p.at("uWidth"), width * t.scale);
    d.drawQuads(p, n);
  };
  return {
    draw(t) {
      if (arrows) pass(d.program("head", headVertex, headFragment), t);
      pass(d.program("line", lineVertex, lineFragment), t);
    },
    free: () => d.free(...columns, flags),
  };
}

const ends = `
uniform sampler2D uX0, uY0, uX1, uY1;
uniform usampler2D uStroke, uFlags;
uniform int uBase, uHasFlags;
uniform float uWidth;
flat out vec4 vStroke;

// Both ends in device pixels, and the flags; false where nothing is drawn.
bool ends(out vec2 a, out vec2 b, out uint flags) {
  int i = uBase + gl_VertexID / 4;
  float x0 = number(uX0, i), y0 = number(uY0, i), x1 = number(uX1, i), y1 = number(uY1, i);
  flags = uHasFlags == 1 ? whole(uFlags, i) : 0u;
  vStroke = look(whole(uStroke, i), (flags & 4u) != 0u);
  a = vec2(x0, y0) * uMap.xz + uMap.yw;
  b = vec2(x1, y1) * uMap.xz + uMap.yw;
  return drawable(x0) && drawable(y0) && drawable(x1) && drawable(y1);
}
float headLength(vec2 a, vec2 b, uint flags) {
  float l = distance(a, b);
  return (flags & 16u) != 0u && l >= 2.0 * uScale ? min(5.0 * uScale + 2.0 * uWidth, l) : 0.0;
}
`;

const lineVertex = ends + `
flat out vec2 vFrom, vAlong;
flat out float vLength, vDashed;

float snapLine(float v) {
  return mod(floor(uWidth + 0.5), 2.0) == 1.0 || uWidth < 1.0 ? floor(v) + 0.5 : floor(v + 0.5);
}

void main() {
  vec2 a, b;
  uint flags;
  if (!ends(a, b, flags)) { gl_Position = nowhere(); return; }
  float head = headLength(a, b, flags);
  if (head > 0.0) b -= normalize(b - a) * head;
  if (a.x == b.x) a.x = b.x = snapLine(a.x);
  if (a.y == b.y) a.y = b.y = snapLine(a.y);
  vLength = distance(a, b);
  if (vLength <= 0.0) { gl_Position = nowhere(); return; }
  vec2 u = (b - a) / vLength;
  float reach = uWidth * 0.5 + 1.0;
  vFrom = a;
  vAlong = u;
  vDashed = (flags & 32u) != 0u ? 1.0 : 0.0;
  vec2 at = (gl_VertexID & 1) == 0 ? a - u : b + u;
  gl_Position = place(at + vec2(-u.y, u.x) * ((gl_VertexID & 2) == 0 ? -reach : reach));
}`;

const lineFragment = `
uniform float uWidth;
flat in vec4 vStroke;
flat in vec2 vFrom, vAlong;
flat in float vLength, vDashed;
out vec4 colour;

void main() {
  vec2 p = vec2(gl_FragCoord.x, uSize.y - gl_FragCoord.y) - vFrom;
  float across = abs(p.x * vAlong.y - p.y * vAlong.x), along = dot(p, vAlong);
  float side = uWidth < 1.0 ? clamp(1.0 - across, 0.0, 1.0) * uWidth : band(uWidth * 0.5 - across);
  float cover = side * band(along) * band(vLength - along);
  if (vDashed > 0.5) {
    float period = 7.0 * uScale, at = along - floor(along / period) * period;
    cover *= max(band(at) * band(4.0 * uScale - at), band(at - period));
  }
  colour = vStroke * cover;
}`;

const headVertex = ends + `
flat out vec2 vTip, vLeft, vRight;

void main() {
  vec2 a, b;
  uint flags;
  if (!ends(a, b, flags)) { gl_Position = nowhere(); return; }
  float head = headLength(a, b, flags);
  if (head <= 0.0) { gl_Position = nowhere(); return; }
  vec2 u = normalize(b - a), n = vec2(-u.y, u.x);
  vTip = b;
  vLeft = b - u * head + n * head * 0.42;
  vRight = b - u * head - n * head * 0.42;
  vec2 at = (gl_VertexID & 1) == 0 ? b - u * (head + 1.0) : b + u * 2.0;
  gl_Position = place(at + n * ((gl_VertexID & 2) == 0 ? -1.0 : 1.0) * (head * 0.42 + 1.0));
}`;

const headFragment = `
flat in vec4 vStroke;
flat in vec2 vTip, vLeft, vRight;
out vec4 colour;

float side(vec2 p, vec2 a, vec2 b) { vec2 u = normalize(b - a); return u.x * (p.y - a.y) - u.y * (p.x - a.x); }

void main() {
  vec2 p = vec2(gl_FragCoord.x, uSize.y - gl_FragCoord.y);
  float inside = min(side(p, vTip, vLeft), min(side(p, vLeft, vRight), side(p, vRight, vTip)));
  colour = vStroke * band(inside);
}`;
