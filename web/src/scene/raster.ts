// The software rasteriser: pixels in memory, drawn by the same rules as
// internal/render/png. It serves where there is no GPU; drawing through a software
// GL would take ten times as long.

import type { Frame } from "./scene";

/** Maps scene pixels to device pixels: x * ax + bx, y * ay + by. */
export interface Map2 {
  ax: number;
  bx: number;
  ay: number;
  by: number;
}

/** A closed polygon in device pixels, as x, y, x, y … */
export type Outline = number[];

/** Opacity of a pattern at a pixel, 0 … 1. */
export type Paint = (x: number, y: number) => number;

export class Raster {
  readonly pixels: Uint32Array;
  readonly image: ImageData;
  /** Clip in device pixels, half open. */
  x0 = 0;
  y0 = 0;
  x1: number;
  y1: number;
  map: Map2;
  private readonly area = new Area();

  constructor(
    readonly width: number, readonly height: number,
    /** Device pixels for each of the scene's. */
    readonly scale: number,
    readonly table: Uint32Array, readonly dimmed: Uint32Array,
    /** Memory of the picture before; it is taken over where the size is the same. */
    old: ImageData | null = null,
  ) {
    this.image = old && old.width === width && old.height === height ? old : new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.x1 = width;
    this.y1 = height;
    this.map = { ax: scale, bx: 0, ay: scale, by: 0 };
    this.pixels.fill(table[0]!);
  }

  /** Clips what follows to a box of device pixels within the picture, and places it by a map. */
  enter(clip: { x0: number; y0: number; x1: number; y1: number }, map: Map2): void {
    this.map = map;
    ({ x0: this.x0, y0: this.y0, x1: this.x1, y1: this.y1 } = clip);
  }

  /** A colour as a thing has it; 0, which is transparent, past the table. */
  look(index: number, isDimmed: boolean): number {
    return (isDimmed ? this.dimmed[index] : this.table[index]) ?? 0;
  }

  fillRect(x0: number, y0: number, x1: number, y1: number, colour: number): void {
    if (x0 < this.x0) x0 = this.x0;
    if (y0 < this.y0) y0 = this.y0;
    if (x1 > this.x1) x1 = this.x1;
    if (y1 > this.y1) y1 = this.y1;
    const alpha = colour >>> 24;
    if (x0 >= x1 || y0 >= y1 || alpha === 0) return;
    const { pixels, width } = this;
    for (let y = y0, row = y0 * width; y < y1; y++, row += width) {
      if (alpha === 255) {
        if (x1 - x0 > 16) pixels.fill(colour, row + x0, row + x1);
        else for (let i = row + x0; i < row + x1; i++) pixels[i] = colour;
      } else {
        for (let i = row + x0; i < row + x1; i++) pixels[i] = blend(pixels[i]!, colour, alpha);
      }
    }
  }

  /** Lays a pattern over a rectangle. */
  paintRect(x0: number, y0: number, x1: number, y1: number, colour: number, paint: Paint): void {
    for (let y = Math.max(y0, this.y0); y < Math.min(y1, this.y1); y++) {
      for (let x = Math.max(x0, this.x0); x < Math.min(x1, this.x1); x++) this.dot(x, y, colour, paint(x, y));
    }
  }

  /** Lays a colour over one pixel that it covers in part. */
  dot(x: number, y: number, colour: number, cover: number): void {
    if (cover <= 0 || x < this.x0 || x >= this.x1 || y < this.y0 || y >= this.y1) return;
    const i = y * this.width + x;
    this.pixels[i] = blend(this.pixels[i]!, colour, (Math.min(cover, 1) * (colour >>> 24) + 0.5) | 0);
  }

  /** Fills the union of outlines that turn the same way. */
  fillOutlines(all: Outline[], colour: number, paint?: Paint): void {
    const alpha = colour >>> 24;
    if (alpha === 0) return;
    let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const o of all) {
      for (let i = 0; i < o.length; i += 2) {
        minX = Math.min(minX, o[i]!);
        maxX = Math.max(maxX, o[i]!);
        minY = Math.min(minY, o[i + 1]!);
        maxY = Math.max(maxY, o[i + 1]!);
      }
    }
    const x0 = Math.max(Math.floor(minX), this.x0);
    const y0 = Math.max(Math.floor(minY), this.y0);
    const w = Math.min(Math.ceil(maxX) + 1, this.x1) - x0;
    const h = Math.min(Math.ceil(maxY) + 1, this.y1) - y0;
    if (!(w > 0 && h > 0)) return;
    this.area.begin(w, h);
    for (const o of all) this.area.add(o, x0, y0);
    this.area.each((x, y, cover) => {
      const part = paint ? cover * paint(x0 + x, y0 + y) : cover;
      const i = (y0 + y) * this.width + x0 + x;
      if (part > 0) this.pixels[i] = blend(this.pixels[i]!, colour, (part * alpha + 0.5) | 0);
    });
  }

  /**
   * A straight line with flat ends in device pixels: for each step along its
   * longer direction it visits the few pixels across.
   */
  segment(ax: number, ay: number, bx: number, by: number, half: number, colour: number): void {
    const length = Math.hypot(bx - ax, by - ay);
    if (!(length > 0) || colour >>> 24 === 0) return;
    const ux = (bx - ax) / length;
    const uy = (by - ay) / length;
    const steep = Math.abs(uy) > Math.abs(ux);
    const [am, an, um, un] = steep ? [ay, ax, uy, ux] : [ax, ay, ux, uy];
    const [low, high, nLow, nHigh] = steep ? [this.y0, this.y1, this.x0, this.x1] : [this.x0, this.x1, this.y0, this.y1];
    const bm = am + um * length;
    const reach = (half + 1) / Math.abs(um);
    const from = Math.max(Math.floor(Math.min(am, bm) - half - 1), low);
    const to = Math.min(Math.ceil(Math.max(am, bm) + half + 1), high);
    const thin = 2 * half < 1; // fades instead of vanishing
    for (let m = from; m < to; m++) {
      const pm = m + 0.5 - am;
      const centre = an + (pm / um) * un;
      const end = Math.min(Math.ceil(centre + reach), nHigh);
      for (let n = Math.max(Math.floor(centre - reach), nLow); n < end; n++) {
        const pn = n + 0.5 - an;
        const across = Math.abs(pm * un - pn * um);
        const along = pm * um + pn * un;
        const side = thin ? clamp(1 - across, 0, 1) * 2 * half : band(half - across);
        const cover = side * band(along) * band(length - along);
        if (cover > 0) this.dot(steep ? n : m, steep ? m : n, colour, cover);
      }
    }
  }
}

/** A frame as device pixels. */
export function frameBox(f: Frame, scale: number) {
  const at = (v: number) => Math.floor(v * scale + 0.5);
  return { x0: at(f.x), y0: at(f.y), x1: Math.max(at(f.x + f.w), at(f.x) + 1), y1: Math.max(at(f.y + f.h), at(f.y) + 1) };
}

/** The share of a pixel that lies inside an edge at this distance. */
export function band(inside: number): number {
  return inside >= 0.5 ? 1 : inside <= -0.5 ? 0 : inside + 0.5;
}

export function clamp(v: number, low: number, high: number): number {
  return v < low ? low : v > high ? high : v;
}

/** Lays a colour over an opaque pixel with an opacity from 0 to 255. */
export function blend(p: number, over: number, alpha: number): number {
  const rest = 255 - alpha;
  const r = by255((over & 255) * alpha + (p & 255) * rest + 127);
  const g = by255(((over >>> 8) & 255) * alpha + ((p >>> 8) & 255) * rest + 127);
  const b = by255(((over >>> 16) & 255) * alpha + ((p >>> 16) & 255) * rest + 127);
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}

/** x / 255, rounded down, for x below 65,535. */
function by255(x: number): number {
  return (x + 1 + (x >>> 8)) >>> 8;
}

/** Diagonal lines: their opacity at a pixel, rising to the right or falling. */
export function hatch(step: number, line: number, rising: boolean): Paint {
  return (x, y) => {
    let across = (rising ? x + y + 1 : x - y) * Math.SQRT1_2;
    across -= Math.floor(across / step) * step;
    const d = Math.min(Math.abs(across - line / 2), Math.abs(across - step - line / 2));
    return clamp(line / 2 + 0.5 - d, 0, 1);
  };
}

/**
 * Exact coverage of polygons. Every edge adds its signed area to the pixels it
 * crosses and, by a running sum along the row, to all right of them.
 */
class Area {
  private width = 0;
  private height = 0;
  private sums = new Float32Array(0);

  begin(width: number, height: number): void {
    this.width = width;
    this.height = height;
    const n = (width + 2) * height;
    if (this.sums.length < n) this.sums = new Float32Array(n);
    else this.sums.fill(0, 0, n);
  }

  /** Adds an outline, moved so that (dx, dy) is the origin. */
  add(o: Outline, dx: number, dy: number): void {
    let x = o[o.length - 2]! - dx;
    let y = o[o.length - 1]! - dy;
    for (let i = 0; i < o.length; i += 2) {
      const nextX = o[i]! - dx;
      const nextY = o[i + 1]! - dy;
      if (y < nextY) this.edge(x, y, nextX, nextY, 1);
      else if (y > nextY) this.edge(nextX, nextY, x, y, -1);
      x = nextX;
      y = nextY;
    }
  }

  /** An edge going down. Parts left of the box count from its border on, right ones nowhere. */
  private edge(x0: number, y0: number, x1: number, y1: number, sign: number): void {
    const slope = (x1 - x0) / (y1 - y0);
    const top = Math.max(y0, 0);
    const bottom = Math.min(y1, this.height);
    for (let row = Math.floor(top); row < bottom; row++) {
      const from = Math.max(top, row);
      const to = Math.min(bottom, row + 1);
      this.strip(row, x0 + (from - y0) * slope, x0 + (to - y0) * slope, (to - from) * sign);
    }
  }

  /** The part of an edge within one row, from xa to xb, of signed height h. */
  private strip(row: number, xa: number, xb: number, h: number): void {
    let left = Math.min(xa, xb);
    let right = Math.max(xa, xb);
    const at = row * (this.width + 2);
    if (left < 0 || right > this.width) {
      const height = h / Math.max(right - left, 1e-9);
      const outside = right > left ? height * clamp(-left, 0, right - left) : left < 0 ? h : 0;
      this.sums[at]! += outside;
      h -= outside + (right > left ? height * clamp(right - this.width, 0, right - left) : left > this.width ? h : 0);
      left = clamp(left, 0, this.width);
      right = clamp(right, 0, this.width);
    }
    const first = Math.floor(left);
    const last = Math.floor(right);
    if (first === last) {
      const covered = 1 - ((left + right) / 2 - first);
      this.sums[at + first]! += h * covered;
      this.sums[at + first + 1]! += h * (1 - covered);
      return;
    }
    // The edge crosses several pixels; covered is the area right of it in each.
    const perPixel = h / (right - left);
    let above = 0;
    let before = 0;
    for (let i = first; i <= last; i++) {
      const a = Math.max(left, i);
      const b = Math.min(right, i + 1);
      const high = perPixel * (b - a);
      const covered = above + high * (i + 1 - (a + b) / 2);
      this.sums[at + i]! += covered - before;
      before = covered;
      above += high;
    }
    this.sums[at + last + 1]! += h - before;
  }

  each(f: (x: number, y: number, cover: number) => void): void {
    for (let y = 0; y < this.height; y++) {
      let sum = 0;
      const at = y * (this.width + 2);
      for (let x = 0; x < this.width; x++) {
        sum += this.sums[at + x]!;
        const cover = Math.min(Math.abs(sum), 1);
        if (cover > 0.001) f(x, y, cover);
      }
    }
  }
}
