// From pixels to times and rows and back, on the frames of a scene. A scene may
// be drawn wider than the panel (overscan) and moved while the exact one is
// fetched; "screen" pixels are what the user sees, "scene" pixels what was drawn.

import type { Box, Transform } from "../scene/painter";
import { noID, type Frame, type Row, type Scene } from "../scene/scene";
import { atOrBefore, type Chosen } from "./chosen";
import type { Range } from "./selection";

/** A scene with how much of it is seen. */
export interface Shown {
  scene: Scene;
  /** Width and height of the panel when it was asked for. */
  width: number;
  height: number;
}

export function isTime(f: Frame): boolean {
  return f.xScale.kind === "time" && f.xScale.end > f.xScale.begin && f.w > 0;
}

/** Width of the part of a frame that fits the panel: overscan hangs over the right edge. */
export function visibleWidth(shown: Shown, f: Frame): number {
  return Math.max(1, f.w - Math.max(0, shown.scene.width - shown.width));
}

/** The transform under which a time frame shows the window. */
export function transformTo(shown: Shown, f: Frame, window: Range): Transform {
  const length = Math.max(1e-9, window.end - window.begin);
  const w = visibleWidth(shown, f);
  const scaleX = ((f.xScale.end - f.xScale.begin) / length) * (w / f.w);
  const offsetX = f.x + ((f.xScale.begin - window.begin) / length) * w - f.x * scaleX;
  return { scaleX: snap(scaleX, 1), offsetX: snap(offsetX, Math.round(offsetX)), scaleY: 1, offsetY: 0 };
}

/** Removes the dust of arithmetic, so that an exact scene is drawn unscaled. */
function snap(x: number, to: number): number {
  return Math.abs(x - to) < 1e-3 ? to : x;
}

export function isIdentity(t: Transform): boolean {
  return t.scaleX === 1 && t.offsetX === 0 && t.scaleY === 1 && t.offsetY === 0;
}

export function toScene(t: Transform, x: number, y: number): { x: number; y: number } {
  return { x: (x - t.offsetX) / t.scaleX, y: (y - t.offsetY) / t.scaleY };
}

/** Time at a scene pixel. */
export function timeAt(f: Frame, x: number): number {
  return f.xScale.begin + ((x - f.x) / f.w) * (f.xScale.end - f.xScale.begin);
}

/** Value of the vertical axis at a scene pixel: upwards, on a linear or a logarithmic scale. */
export function valueAt(f: Frame, y: number): number {
  const { kind, begin, end } = f.yScale;
  const share = (f.y + f.h - y) / f.h;
  return kind === "log" ? begin * (end / begin) ** share : begin + share * (end - begin);
}

/** Scene pixel of a time. */
export function xAt(f: Frame, t: number): number {
  return f.x + ((t - f.xScale.begin) / (f.xScale.end - f.xScale.begin)) * f.w;
}

/** The frame under a screen pixel; slack widens it for the axes round it. */
export function frameAt(shown: Shown, x: number, y: number, slack = 0): number {
  return shown.scene.frames.findIndex((f) =>
    x >= f.x - slack && x <= f.x + visibleWidth(shown, f) + slack && y >= f.y - slack && y <= f.y + f.h + slack);
}

/** The row at a scene pixel. */
export function rowAt(rows: readonly Row[], at: number): Row | null {
  return rows.find((r) => at >= r.from && at < r.to) ?? null;
}

/** The rows that a range of scene pixels touches. */
export function rowsBetween(rows: readonly Row[], from: number, to: number): Row[] {
  const [a, b] = from < to ? [from, to] : [to, from];
  return rows.filter((r) => r.to > a && r.from < b);
}

/** Locations of rows as patterns, without repeats. */
export function locationPatterns(rows: readonly Row[]): string[] {
  return [...new Set(rows.filter((r) => r.location !== noID).map((r) => `#${r.location}`))];
}

export function regionPatterns(rows: readonly Row[]): string[] {
  return [...new Set(rows.filter((r) => r.region !== noID).map((r) => `#${r.region}`))];
}

/** A location that is no row, where it is drawn. */
export interface Place extends Box {
  location: number;
}

/** The places of a frame. */
export function placesOf(f: Frame): Place[] {
  const p = f.places ?? [];
  const out: Place[] = [];
  for (let i = 0; i + 4 < p.length; i += 5) out.push({ x: p[i], y: p[i + 1], w: p[i + 2], h: p[i + 3], location: p[i + 4] });
  return out;
}

/** The innermost place at a scene pixel. */
export function placeAt(f: Frame, x: number, y: number): Place | null {
  return placesOf(f).findLast((p) => x >= p.x && x < p.x + p.w && y >= p.y && y < p.y + p.h) ?? null;
}

/**
 * Where the chosen locations are drawn: each at its own place, else at those of what
 * lies below it, else inside the nearest place above it. O((places + chosen) × log places),
 * and for those that are not drawn the places above some chosen one.
 */
export function placesFor(places: readonly Place[], chosen: Chosen): Place[] {
  const sorted = [...places].sort((a, b) => a.location - b.location);
  const locations = sorted.map((p) => p.location);
  const around = sorted.filter((p) => chosen.above.has(p.location)).reverse();
  const out = new Set<Place>();
  chosen.first.forEach((id, i) => {
    const [from, own, to] = [atOrBefore(locations, id - 1), atOrBefore(locations, id), atOrBefore(locations, chosen.last[i]!)];
    const there = own > from ? sorted.slice(from + 1, own + 1) : sorted.slice(own + 1, to + 1);
    if (there.length === 0) {
      const nearest = around.find((p) => p.location < id && id <= chosen.above.get(p.location)!);
      if (nearest) there.push(...around.filter((p) => p.location === nearest.location));
    }
    for (const p of there) out.add(p);
  });
  return [...out];
}

/** Tells whether a row shows one of the ids, itself or inside it. */
export type Within = (row: number, id: number) => boolean;

/** What the selection keeps of a frame: the brushed range × the chosen rows; undefined: all. */
export function keptBoxes(f: Frame, time: Range | null, chosen: (r: Row) => boolean, anyChosen: boolean): Box[] | undefined {
  const onTime = time !== null && isTime(f);
  const rows = f.yScale.rows;
  const onRows = anyChosen && rows.length > 0;
  if (!onTime && !onRows) return undefined;
  const x0 = onTime ? Math.max(f.x, xAt(f, time.begin)) : f.x;
  const x1 = onTime ? Math.min(f.x + f.w, xAt(f, time.end)) : f.x + f.w;
  if (x1 <= x0) return [];
  if (!onRows) return [{ x: x0, y: f.y, w: x1 - x0, h: f.h }];
  const boxes: Box[] = [];
  for (const r of rows) {
    if (!chosen(r)) continue;
    const last = boxes[boxes.length - 1];
    const from = Math.max(f.y, r.from);
    const to = Math.min(f.y + f.h, r.to);
    if (to <= from) continue;
    if (last && Math.abs(last.y + last.h - from) < 0.5) last.h = to - last.y;
    else boxes.push({ x: x0, y: from, w: x1 - x0, h: to - from });
  }
  return boxes;
}

/**
 * How much further than the window to draw at each side, within the run: in whole
 * nanoseconds, since a request can ask for no less, and the pixels that these take.
 */
export function overscan(window: Range, run: Range, frameWidth: number, share = 0.25): { left: number; right: number; begin: number; end: number } {
  const perPixel = (window.end - window.begin) / frameWidth;
  const most = Math.floor((window.end - window.begin) * share);
  const before = Math.max(0, Math.min(most, window.begin - run.begin));
  const after = Math.max(0, Math.min(most, run.end - window.end));
  return { left: Math.round(before / perPixel), right: Math.round(after / perPixel), begin: window.begin - before, end: window.end + after };
}
