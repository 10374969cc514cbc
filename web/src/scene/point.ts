// Symbols of a radius in pixels, which does not grow when a frame is zoomed.

import { clamp, type Outline, type Raster } from "./raster";
import type { PointMark } from "./scene";
import type { Device, Drawable } from "./device";
import { drawable } from "./line";

/** Corners of the shapes at radius 1; the disc has none. As scene.ShapeOutline. */
const outlines: (Outline | null)[] = [
  null,
  [-0.89, -0.89, 0.89, -0.89, 0.89, 0.89, -0.89, 0.89],
  [0, -1.25, 1.25, 0, 0, 1.25, -1.25, 0],
  [0, -1.4, 1.21, 0.7, -1.21, 0.7],
  Array.from({ length: 16 }, (_, i) => {
    const r = i % 2 === 1 ? 0.55 : 1.5;
    return [r * Math.sin((i * Math.PI) / 8), -r * Math.cos((i * Math.PI) / 8)];
  }).flat(),
];

export function rasterPoint(r: Raster, m: PointMark): void {
  const { ax, bx, ay, by } = r.map;
  for (let i = 0; i < m.x.length; i++) {
    const colour = r.look(m.fill[i]!, false);
    const [x, y, radius] = [m.x[i]! * ax + bx, m.y[i]! * ay + by, m.r[i]! * r.scale];
    if (colour >>> 24 === 0 || !drawable(x, y, radius) || !(radius > 0)) continue;
    const shape = outlines[m.shape ? m.shape[i]! : 0];
    if (shape) r.fillOutlines([shape.map((v, k) => (k % 2 === 0 ? x : y) + v * radius)], colour);
    else disc(r, x, y, radius, colour);
  }
}

function disc(r: Raster, x: number, y: number, radius: number, colour: number): void {
  const x1 = Math.min(Math.floor(x + radius) + 2, r.x1);
  const y1 = Math.min(Math.floor(y + radius) + 2, r.y1);
  for (let py = Math.max(Math.floor(y - radius) - 1, r.y0); py < y1; py++) {
    for (let px = Math.max(Math.floor(x - radius) - 1, r.x0); px < x1; px++) {
      const [dx, dy] = [px + 0.5 - x, py + 0.5 - y];
      r.dot(px, py, colour, clamp(radius + 0.5 - Math.sqrt(dx * dx + dy * dy), 0, 1));
    }
  }
}

export function uploadPoint(d: Device, m: PointMark): Drawable {
  const n = m.x.length;
  const columns = [m.x, m.y, m.r, m.fill].map((c) => d.column(c));
  const shapes = d.optional(m.shape);
  return {
    draw(t) {
      const p = d.program("point", vertex, fragment);
      d.use(p, t);
      ["uX", "uY", "uR", "uFill"].forEach((name, i) => d.bind(p, name, i + 1, columns[i]!));
      d.bind(p, "uShape", 5, shapes);
      d.gl.uniform1i(p.at("uHasShape"), shapes ? 1 : 0);
      d.drawQuads(p, n);
    },
    free: () => d.free(...columns, shapes),
  };
}

const vertex = `
uniform sampler2D uX, uY, uR;
uniform usampler2D uFill, uShape;
uniform int uBase, uHasShape;
flat out vec4 vFill;
flat out vec3 vCircle;
flat out int vShape;

void main() {
  int i = uBase + gl_VertexID / 4;
  vec2 at = vec2(number(uX, i), number(uY, i)) * uMap.xz + uMap.yw;
  float r = number(uR, i) * uScale;
  if (!(drawable(at.x) && drawable(at.y) && drawable(r) && r > 0.0)) { gl_Position = nowhere(); return; }
  vFill = look(whole(uFill, i), false);
  vCircle = vec3(at, r);
  vShape = uHasShape == 1 ? int(whole(uShape, i)) : 0;
  float reach = r * 1.5 + 1.0;
  gl_Position = place(at + vec2((gl_VertexID & 1) == 0 ? -reach : reach, (gl_VertexID & 2) == 0 ? -reach : reach));
}`;

const points = outlines.flatMap((o) => o ?? []);
const starts = [0, 0, 4, 8, 11, 27];

// Shapes by their distance to the outline: exact along straight edges.
const fragment = `
flat in vec4 vFill;
flat in vec3 vCircle;
flat in int vShape;
out vec4 colour;
const vec2 outline[${points.length / 2}] = vec2[](${Array.from({ length: points.length / 2 }, (_, i) =>
  `vec2(${points[2 * i]!.toFixed(6)}, ${points[2 * i + 1]!.toFixed(6)})`).join(",")});
const int starts[${starts.length}] = int[](${starts.join(",")});

void main() {
  vec2 p = vec2(gl_FragCoord.x, uSize.y - gl_FragCoord.y) - vCircle.xy;
  float r = vCircle.z;
  if (vShape < 1 || vShape > 4) { colour = vFill * clamp(r + 0.5 - length(p), 0.0, 1.0); return; }
  int from = starts[vShape], to = starts[vShape + 1];
  float nearest = 1e9, inside = -1.0;
  for (int i = from, j = to - 1; i < to; j = i++) {
    vec2 a = outline[j] * r, b = outline[i] * r, e = b - a, w = p - a;
    vec2 off = w - e * clamp(dot(w, e) / dot(e, e), 0.0, 1.0);
    nearest = min(nearest, dot(off, off));
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) inside = -inside;
  }
  colour = vFill * band(inside * sqrt(nearest));
}`;
