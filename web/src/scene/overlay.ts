// What is shown above a picture without drawing it again: cross-hair, brush, what
// the selection keeps. A canvas of its own, so that moving the mouse is cheap.

import { css, ui, type Palette, type Tint } from "./palette";
import { identity, type Transform } from "./part";
import type { Frame, Scene } from "./scene";

/** A box in pixels of the scene, before any transform. */
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Places are in pixels of the scene and move with the frame's transform. */
export interface Highlight {
  /** Index of a frame; -1: the whole picture. */
  frame: number;
  /** Cross-hair: a vertical line at x, a horizontal line at y. */
  crossX?: number;
  crossY?: number;
  /** The range being dragged. */
  brush?: Box;
  /** Everything in the frame outside these boxes is dimmed; undefined: nothing is. */
  keep?: Box[];
  /** Boxes filled with the colour of marks, such as the rows of an answer. */
  fill?: Box[];
  /** Boxes with a line round them: the same location, region or instant elsewhere. */
  outline?: Box[];
}

/** How much of the background lies over what is outside the selection. */
const veil = 0.62;

export function drawOverlay(
  ctx: CanvasRenderingContext2D, scene: Scene, highlights: Highlight[], transforms: Transform[],
  colours: Palette, theme: Tint, scale: number,
): void {
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  const table = colours[theme];
  const whole: Frame = {
    name: "", x: 0, y: 0, w: scene.width, h: scene.height,
    xScale: { kind: "", begin: 0, end: 0, label: "", rows: [] }, yScale: { kind: "", begin: 0, end: 0, label: "", rows: [] },
  };
  // Veils first: what they keep is cleared again, and nothing else may be.
  for (const draw of [drawVeil, drawLines]) {
    for (const h of highlights) {
      const frame = h.frame < 0 ? whole : scene.frames[h.frame];
      if (!frame) continue;
      ctx.save();
      ctx.beginPath();
      ctx.rect(frame.x, frame.y, frame.w, frame.h);
      ctx.clip();
      draw(ctx, h, frame, transforms[h.frame] ?? identity, table, scale);
      ctx.restore();
    }
  }
}

/** Rings round things: a line on a wider one of the background, to be seen on any colour. */
export function drawRings(ctx: CanvasRenderingContext2D, rings: readonly [number, number, number][], table: Uint32Array): void {
  for (const [colour, width] of [[ui.background, 4], [ui.focus, 2]] as const) {
    ctx.strokeStyle = css(table, colour);
    ctx.lineWidth = width;
    for (const [x, y, r] of rings) {
      ctx.beginPath();
      ctx.arc(x, y, r, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }
}

function moved(b: Box, t: Transform): Box {
  return { x: b.x * t.scaleX + t.offsetX, y: b.y * t.scaleY + t.offsetY, w: b.w * t.scaleX, h: b.h * t.scaleY };
}

function drawVeil(ctx: CanvasRenderingContext2D, h: Highlight, frame: Frame, t: Transform, table: Uint32Array): void {
  if (!h.keep) return;
  ctx.fillStyle = css(table, ui.background);
  ctx.globalAlpha = veil;
  ctx.fillRect(frame.x, frame.y, frame.w, frame.h);
  for (const b of h.keep.map((k) => moved(k, t))) ctx.clearRect(b.x, b.y, b.w, b.h);
}

function drawLines(ctx: CanvasRenderingContext2D, h: Highlight, frame: Frame, t: Transform, table: Uint32Array, scale: number): void {
  ctx.lineWidth = 1;
  for (const b of (h.outline ?? []).map((o) => moved(o, t))) {
    ctx.strokeStyle = css(table, ui.focus);
    strokeBox(ctx, b, scale);
  }
  ctx.fillStyle = css(table, ui.focus);
  for (const b of (h.fill ?? []).map((o) => moved(o, t))) ctx.fillRect(b.x, b.y, Math.max(b.w, 1), b.h);
  if (h.brush) {
    const b = moved(h.brush, t);
    ctx.fillStyle = css(table, ui.selection);
    ctx.fillRect(b.x, b.y, b.w, b.h);
    ctx.strokeStyle = css(table, ui["selection-edge"]);
    strokeBox(ctx, b, scale);
  }
  ctx.strokeStyle = css(table, ui.cursor);
  if (h.crossX !== undefined) cross(ctx, sharp(h.crossX * t.scaleX + t.offsetX, scale), frame.y, 0, frame.h);
  if (h.crossY !== undefined) cross(ctx, frame.x, sharp(h.crossY * t.scaleY + t.offsetY, scale), frame.w, 0);
}

function cross(ctx: CanvasRenderingContext2D, x: number, y: number, w: number, h: number): void {
  ctx.globalAlpha = 0.55;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x + w, y + h);
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function strokeBox(ctx: CanvasRenderingContext2D, b: Box, scale: number): void {
  const [x, y] = [sharp(b.x, scale), sharp(b.y, scale)];
  ctx.strokeRect(x, y, Math.max(sharp(b.x + b.w, scale) - x - 1, 0), Math.max(sharp(b.y + b.h, scale) - y - 1, 0));
}

/** The middle of a device pixel, so that a hairline is sharp. */
function sharp(v: number, scale: number): number {
  return (Math.floor(v * scale) + 0.5) / scale;
}
