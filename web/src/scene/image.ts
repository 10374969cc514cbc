// Grids of cells, stretched over whole pixels without smoothing. What is shrunk
// shows the cell at the middle of each pixel.

import type { Raster } from "./raster";
import type { ImageMark } from "./scene";
import type { Device, Drawable } from "./device";
import { drawable } from "./line";

const isDrawn = (m: ImageMark) => drawable(m.x, m.y, m.w, m.h) && m.w > 0 && m.h > 0 && m.cells.length > 0;

export function rasterImage(r: Raster, m: ImageMark): void {
  if (!isDrawn(m)) return;
  const { ax, bx, ay, by } = r.map;
  const [left, right] = span(m.x * ax + bx, (m.x + m.w) * ax + bx);
  const [top, bottom] = span(m.y * ay + by, (m.y + m.h) * ay + by);
  const x0 = Math.max(left, r.x0);
  const x1 = Math.min(right, r.x1);
  const columns = new Int32Array(Math.max(x1 - x0, 0));
  for (let i = 0; i < columns.length; i++) columns[i] = cellAt(x0 + i - left, right - left, m.columns);
  for (let y = Math.max(top, r.y0); y < Math.min(bottom, r.y1); y++) {
    const row = cellAt(y - top, bottom - top, m.rows) * m.columns;
    for (let i = 0; i < columns.length; i++) {
      const colour = r.look(m.cells[row + columns[i]!]!, false);
      if (colour >>> 24 === 255) r.pixels[y * r.width + x0 + i] = colour;
      else r.dot(x0 + i, y, colour, 1);
    }
  }
}

function span(a: number, b: number): [number, number] {
  const from = Math.floor(a + 0.5);
  return [from, Math.max(Math.floor(b + 0.5), from + 1)];
}

/** The cell at the middle of pixel i of n. */
function cellAt(i: number, n: number, cells: number): number {
  return Math.min(Math.floor(((2 * i + 1) * cells) / (2 * n)), cells - 1);
}

export function uploadImage(d: Device, m: ImageMark): Drawable {
  if (!isDrawn(m)) return { draw() {}, free() {} };
  const cells = d.column(m.cells);
  return {
    draw(t) {
      const p = d.program("image", vertex, fragment);
      d.use(p, t);
      d.bind(p, "uCells", 1, cells);
      d.gl.uniform4f(p.at("uBox"), m.x, m.y, m.w, m.h);
      d.gl.uniform2i(p.at("uGrid"), m.columns, m.rows);
      d.drawQuads(p, 1);
    },
    free: () => d.free(cells),
  };
}

const vertex = `
uniform vec4 uBox;
flat out vec4 vBox;

void main() {
  vec2 from = floor(uBox.xy * uMap.xz + uMap.yw + 0.5);
  vec2 to = max(floor((uBox.xy + uBox.zw) * uMap.xz + uMap.yw + 0.5), from + 1.0);
  vBox = vec4(from, to);
  gl_Position = place(vec2((gl_VertexID & 1) == 0 ? from.x : to.x, (gl_VertexID & 2) == 0 ? from.y : to.y));
}`;

const fragment = `
uniform usampler2D uCells;
uniform ivec2 uGrid;
flat in vec4 vBox;
out vec4 colour;

void main() {
  ivec2 at = ivec2(vec2(floor(gl_FragCoord.x), uSize.y - 1.0 - floor(gl_FragCoord.y)) - vBox.xy);
  ivec2 size = ivec2(vBox.zw - vBox.xy);
  ivec2 cell = min((2 * at + 1) * uGrid / (2 * size), uGrid - 1);
  colour = look(whole(uCells, cell.y * uGrid.x + cell.x), false);
}`;
