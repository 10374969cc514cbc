// Rectangles: edges snap to whole device pixels so that neighbours leave no seams,
// nothing that has an area is narrower than a pixel.

import { ui } from "./palette";
import { hatch, type Raster } from "./raster";
import { Flag, type RectMark } from "./scene";
import type { Device, Drawable } from "./device";

const farAway = 1 << 20;
/** Aggregated things smaller than this show no lines. */
export const aggregatedLeast = 6;

export function rasterRect(r: Raster, m: RectMark): void {
  const { ax, bx, ay, by } = r.map;
  const { x: X, y: Y, w: W, h: H, fill, flags } = m;
  const least = r.scale;
  for (let i = 0; i < X.length; i++) {
    const w = W[i]!;
    const h = H[i]!;
    if (!(w > 0 && h > 0)) continue;
    const left = X[i]! * ax + bx;
    const top = Y[i]! * ay + by;
    const x0 = snap(left);
    const y0 = snap(top);
    if (!(x0 < r.x1 && y0 < r.y1)) continue;
    let x1 = snap(w * ax < least ? left + least : Math.fround(X[i]! + w) * ax + bx);
    let y1 = snap(h * ay < least ? top + least : Math.fround(Y[i]! + h) * ay + by);
    if (!(x1 >= r.x0 && y1 >= r.y0)) continue;
    if (x1 <= x0) x1 = x0 + 1;
    if (y1 <= y0) y1 = y0 + 1;
    const flag = flags ? flags[i]! : 0;
    const colour = r.look(fill[i]!, (flag & Flag.dimmed) !== 0);
    r.fillRect(x0, y0, x1, y1, colour);
    if (flag !== 0) decorate(r, x0, y0, x1, y1, flag);
  }
}

function decorate(r: Raster, x0: number, y0: number, x1: number, y1: number, flag: number): void {
  const ink = r.look(ui.hatch, false);
  const least = aggregatedLeast * r.scale;
  if (flag & Flag.aggregated && x1 - x0 >= least && y1 - y0 >= least) r.paintRect(x0, y0, x1, y1, ink, hatch(6 * r.scale, 1.5 * r.scale, true));
  if (flag & Flag.hatched) r.paintRect(x0, y0, x1, y1, ink, hatch(4 * r.scale, r.scale, false));
  if (!(flag & Flag.outlined)) return;
  const edge = r.look(ui.outline, (flag & Flag.dimmed) !== 0);
  const t = Math.max(1, Math.round(r.scale));
  if (x1 - x0 <= 2 * t || y1 - y0 <= 2 * t) return r.fillRect(x0, y0, x1, y1, edge);
  r.fillRect(x0, y0, x1, y0 + t, edge);
  r.fillRect(x0, y1 - t, x1, y1, edge);
  r.fillRect(x0, y0 + t, x0 + t, y1 - t, edge);
  r.fillRect(x1 - t, y0 + t, x1, y1 - t, edge);
}

/** The nearest pixel border, kept within what can be drawn. */
function snap(v: number): number {
  const s = Math.floor(v + 0.5);
  return s > farAway ? farAway : s < -farAway ? -farAway : s;
}

export function uploadRect(d: Device, m: RectMark): Drawable {
  const n = m.x.length;
  const columns = [m.x, m.y, m.w, m.h, m.fill].map((c) => d.column(c));
  const flags = d.optional(m.flags);
  return {
    draw(t) {
      const p = d.program("rect", vertex, fragment);
      d.use(p, t);
      ["uX", "uY", "uW", "uH", "uFill"].forEach((name, i) => d.bind(p, name, i + 1, columns[i]!));
      d.bind(p, "uFlags", 6, flags);
      d.gl.uniform1i(p.at("uHasFlags"), flags ? 1 : 0);
      d.drawQuads(p, n);
    },
    free: () => d.free(...columns, flags),
  };
}

const vertex = `
uniform sampler2D uX, uY, uW, uH;
uniform usampler2D uFill, uFlags;
uniform int uBase, uHasFlags;
flat out vec4 vFill, vBox;
flat out uint vFlags;

vec2 span(float from, float size, float a, float b) {
  float low = from * a + b;
  float high = size * a < uScale ? low + uScale : (from + size) * a + b;
  low = clamp(floor(low + 0.5), -1048576.0, 1048576.0);
  high = clamp(floor(high + 0.5), -1048576.0, 1048576.0);
  return vec2(low, max(high, low + 1.0));
}

void main() {
  int i = uBase + gl_VertexID / 4;
  float w = number(uW, i), h = number(uH, i), x0 = number(uX, i), y0 = number(uY, i);
  if (!(w > 0.0 && h > 0.0) || isnan(x0) || isnan(y0) || isinf(x0) || isinf(y0)) { gl_Position = nowhere(); return; }
  vec2 x = span(x0, w, uMap.x, uMap.y), y = span(y0, h, uMap.z, uMap.w);
  uint flags = uHasFlags == 1 ? whole(uFlags, i) : 0u;
  if (min(x.y - x.x, y.y - y.x) < 6.0 * uScale) flags &= ~1u;
  vBox = vec4(x.x, y.x, x.y, y.y);
  vFlags = flags;
  vFill = look(whole(uFill, i), (flags & 4u) != 0u);
  gl_Position = place(vec2((gl_VertexID & 1) == 0 ? x.x : x.y, (gl_VertexID & 2) == 0 ? y.x : y.y));
}`;

const fragment = `
flat in vec4 vFill, vBox;
flat in uint vFlags;
out vec4 colour;

void main() {
  colour = vFill;
  if (vFlags == 0u) return;
  vec2 at = vec2(floor(gl_FragCoord.x), uSize.y - 1.0 - floor(gl_FragCoord.y));
  colour = hatched(colour, vFlags, at);
  if ((vFlags & 8u) != 0u) {
    float t = max(1.0, floor(uScale + 0.5));
    vec2 inside = min(at - vBox.xy, vBox.zw - 1.0 - at);
    // 16 is UIOutline.
    if (min(inside.x, inside.y) < t) colour = over(colour, look(16u, (vFlags & 4u) != 0u), 1.0);
  }
}`;
