// Short texts on the 2D canvas, above everything else. Names come from traces and
// are drawn as they are: fillText interprets nothing.

import { css } from "./palette";
import { Anchor, type TextMark } from "./scene";
import type { Map2 } from "./raster";
import { drawable } from "./line";

export const fontFamily = `system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif`;

const aligns: CanvasTextAlign[] = [];
aligns[Anchor.start] = "left";
aligns[Anchor.middle] = "center";
aligns[Anchor.end] = "right";

/** Box of device pixels in which texts are drawn; those outside cost nothing. */
export interface TextClip {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/**
 * Draws texts in device pixels. Their places follow the map, their size does not.
 * Where the map squeezes them together (thin), those that would touch the one
 * before are left out. Of labels that must stand between two places the others are left out.
 */
export function drawTexts(
  ctx: CanvasRenderingContext2D, m: TextMark, map: Map2, scale: number, table: Uint32Array, clip: TextClip, thin: boolean, between?: readonly [number, number],
): void {
  const size = (m.size > 0 && m.size <= 500 ? m.size : 12) * scale;
  ctx.font = `${m.bold ? "bold " : ""}${size}px ${fontFamily}`;
  ctx.textBaseline = "alphabetic";
  ctx.direction = "ltr";
  let fill = -1;
  let used: { line: number; to: number } | null = null;
  for (let i = 0; i < m.x.length; i++) {
    const text = m.text[i]!;
    const colour = m.fill[i]!;
    if (text === "" || !drawable(m.x[i]!, m.y[i]!) || colour >= table.length) continue;
    let x = m.x[i]! * map.ax + map.bx;
    let y = m.y[i]! * map.ay + map.by;
    if (m.turned) x = Math.round(x);
    else y = Math.round(y);
    const far = size * (text.length + 1);
    if (between && (x < between[0] || x > between[1])) continue;
    if (x < clip.x0 - far || x > clip.x1 + far || y < clip.y0 - far || y > clip.y1 + far) continue;
    ctx.textAlign = aligns[m.anchor ? m.anchor[i]! : Anchor.start] ?? "left";
    if (thin && !m.turned) {
      const width = ctx.measureText(text).width;
      const from = ctx.textAlign === "left" ? x : ctx.textAlign === "center" ? x - width / 2 : x - width;
      if (used && Math.abs(used.line - y) < size && from < used.to + size / 2 && from + width > used.to - 8 * size) continue;
      used = { line: y, to: from + width };
    }
    if (colour !== fill) ctx.fillStyle = css(table, (fill = colour));
    const most = m.width && m.width[i]! > 0 ? m.width[i]! * scale : undefined;
    if (m.turned) turned(ctx, text, x, y, most);
    else ctx.fillText(text, x, y, most);
  }
}

/** A text that runs upwards from its place. */
function turned(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, most: number | undefined): void {
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(text, 0, 0, most);
  ctx.restore();
}
