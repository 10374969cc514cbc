// Rows of an answer above all pictures that have a time axis: a strip along their top,
// and a box in the row of the location, where it is on the screen.

import type { Box } from "../scene/painter";
import type { Frame } from "../scene/scene";
import type { Answer } from "../api/types";
import { xAt } from "./geometry";
import { placeOf } from "./query-place";

/** A row as a time range; location null: of none. */
export interface TrackSpan {
  begin: number;
  end: number;
  location: number | null;
}

/** The rows that have a time, by begin. */
export function trackOf(a: Answer): TrackSpan[] {
  const out: TrackSpan[] = [];
  for (const row of a.rows) {
    const { time, locations } = placeOf(a.columns, row);
    if (time) out.push({ ...time, location: locations ? Number(locations[0].slice(1)) : null });
  }
  return out.sort((x, y) => x.begin - y.begin);
}

const stripHeight = 5;
/** More boxes in rows hide what is below them; the strip shows all. */
const mostBoxes = 2000;

/** Where a track lies in a frame: filled boxes of the strip, what touches joined, and outlines in rows. O(spans). */
export function trackBoxes(f: Frame, spans: readonly TrackSpan[]): { fill: Box[]; outline: Box[] } {
  const fill: Box[] = [], outline: Box[] = [];
  const rows = new Map(f.yScale.rows.map((r) => [r.location, r]));
  for (const s of spans) {
    const from = Math.max(f.x, xAt(f, s.begin)), to = Math.min(f.x + f.w, xAt(f, s.end));
    if (to < from || from > f.x + f.w) continue;
    const last = fill.at(-1);
    if (last && from <= last.x + last.w + 0.5) last.w = Math.max(last.w, to - last.x);
    else fill.push({ x: from, y: f.y, w: Math.max(to - from, 1.5), h: stripHeight });
    const row = s.location === null ? undefined : rows.get(s.location);
    if (row && outline.length < mostBoxes) outline.push({ x: from, y: row.from, w: Math.max(to - from, 2), h: row.to - row.from });
  }
  return { fill, outline };
}
