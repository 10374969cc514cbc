// What is marked in a picture without drawing it again: the cross-hair that all
// panels share, the brush, what the selection keeps, the user's marks.

import type { Box, Highlight } from "../scene/painter";
import { noID, type Frame, type Row } from "../scene/scene";
import { idsOf } from "../api/ids";
import { isTime, keptBoxes, placesFor, placesOf, rowAt, xAt } from "./geometry";
import { Chosen } from "./chosen";
import { findPanel } from "./layout";
import { trackBoxes } from "./query-track";
import type { Follow } from "./scope";
import type { Hover, Workbench } from "./workbench";

const nothing = new Chosen([]);

/** Tells which rows stand for something that is chosen. */
export function chosenRows(bench: Workbench, follow: Follow): { any: boolean; has: (r: Row) => boolean } {
  const look = bench.look.value;
  const chosen = follow.locations === "context" ? bench.chosen.value : nothing;
  const regions = new Set(follow.regions === "context" ? idsOf(look.regions) : []);
  return {
    any: chosen.size > 0 || regions.size > 0,
    has: (r) =>
      (chosen.size === 0 || r.location === noID || chosen.holds(r.location) || (chosen.above.has(r.location) && !r.open)) &&
      (regions.size === 0 || r.region === noID || regions.has(r.region)),
  };
}

/** The rows of regions that are chosen, in a panel of another run. */
export function regionHighlights(frames: readonly Frame[], follow: Follow, chosen: readonly string[]): Highlight[] {
  const regions = new Set(follow.regions === "context" ? idsOf(chosen) : []);
  if (regions.size === 0) return [];
  return frames.flatMap((f, frame) =>
    f.yScale.rows.some((r) => r.region !== noID) ? [{ frame, keep: keptBoxes(f, null, (r) => r.region === noID || regions.has(r.region), true) }] : []);
}

export interface Brush {
  frame: number;
  box: Box;
}

/** The highlights of a scene's frames. */
export function highlightsOf(bench: Workbench, panel: string, frames: readonly Frame[], follow: Follow, brush: Brush | null): Highlight[] {
  const rows = chosenRows(bench, follow);
  const time = follow.time === "window" ? bench.look.value.time : null;
  const hover = bench.hover.value;
  const shown = findPanel(bench.layout.value, panel);
  const own = !shown || !bench.isForeign(shown);
  const out: Highlight[] = [];
  frames.forEach((f, frame) => {
    const h: Highlight = { frame };
    h.keep = keptBoxes(f, time, rows.has, rows.any && f.yScale.rows.some((r) => r.location !== noID || r.region !== noID));
    const kept = keptPlaces(bench, f, follow);
    if (kept.length > 0) {
      h.keep = kept;
      h.outline = kept.slice(0, mostOutlined);
    }
    if (brush?.frame === frame) h.brush = brush.box;
    if (hover) mark(h, f, hover, hover.panel === panel);
    if (isTime(f) && bench.marks.value.length > 0) {
      const at = bench.marks.value.map((t) => xAt(f, t)).filter((x) => x >= f.x && x <= f.x + f.w);
      h.outline = [...(h.outline ?? []), ...at.map((x) => ({ x, y: f.y, w: 0, h: f.h }))];
    }
    if (own && isTime(f) && bench.track.value.length > 0) {
      const { fill, outline } = trackBoxes(f, bench.track.value);
      h.fill = fill;
      h.outline = [...(h.outline ?? []), ...outline];
    }
    if (Object.keys(h).some((k) => k !== "frame" && h[k as keyof Highlight] !== undefined)) out.push(h);
  });
  return out;
}

const mostOutlined = 50;

/** The places of what is chosen among locations; none where nothing is, or it is not drawn. */
function keptPlaces(bench: Workbench, f: Frame, follow: Follow): Box[] {
  if (!f.places?.length || follow.locations !== "context") return [];
  return placesFor(placesOf(f), bench.chosen.value);
}

/** The row and the column of a matrix that a point lies in, so that its names are found. */
export function crossHair(f: Frame, at: { x: number; y: number }): Box[] {
  const row = rowAt(f.yScale.rows, at.y), column = rowAt(f.xScale.rows, at.x);
  if (!row || !column) return [];
  return [{ x: f.x, y: row.from, w: f.w, h: row.to - row.from }, { x: column.from, y: f.y, w: column.to - column.from, h: f.h }];
}

function mark(h: Highlight, f: Frame, hover: Hover, own: boolean): void {
  if (hover.time !== null && isTime(f)) {
    const x = xAt(f, hover.time);
    if (x >= f.x && x <= f.x + f.w) h.crossX = x;
  }
  if (own) {
    if (hover.cell) h.outline = [...(h.outline ?? []), ...crossHair(f, hover.cell)];
    return;
  }
  const hit = f.yScale.rows.filter((r) =>
    (hover.location !== null && r.location === hover.location) || (hover.region !== null && r.region === hover.region));
  if (hit.length > 0 && hit.length < mostOutlined) h.outline = hit.map((r) => ({ x: f.x, y: r.from, w: f.w, h: r.to - r.from }));
  const there = hover.location !== null && f.places?.length ? placesOf(f).filter((p) => p.location === hover.location) : [];
  if (there.length > 0) h.outline = [...(h.outline ?? []), ...there.slice(0, mostOutlined)];
}
