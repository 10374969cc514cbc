// The facts of a place that the picture itself has: its row, its time, and the meaning of its colour.
// The server is asked for the numbers when it is clicked.

import type { Fact, FactLine } from "../api/types";
import { none, type Layer, type Mark, type Row, type Scene } from "../scene/scene";
import { formatDuration } from "./format";
import { isTime, rowAt, timeAt } from "./geometry";

/** The fact of a place of a scene as it was drawn; null where there is nothing to tell. */
export function glance(scene: Scene, frame: number, x: number, y: number): Fact | null {
  const f = scene.frames[frame];
  const meaning = meaningAt(scene, frame, x, y);
  if (!f) return meaning === "" ? null : { title: meaning, lines: [], more: true };
  const row = rowAt(f.yScale.rows, y);
  const lines: FactLine[] = [];
  if (isTime(f)) {
    const t = Math.max(0, timeAt(f, x));
    lines.push({ label: "time", value: formatDuration(t), exact: `${Math.round(t)} ns` });
  }
  const stacked = row ? stackAt(scene, frame, x, row) : [];
  if (stacked.length > 0) lines.push({ label: "largest first", value: stacked.join(", ") });
  else if (meaning !== "") lines.push({ label: "colour", value: meaning });
  const title = row?.label || meaning || (lines.length > 0 ? f.name : ""); // the name of a frame alone says nothing of a place in it
  return title === "" && lines.length === 0 ? null : { title, lines, more: true };
}

/** The words of the legend for the colour at a place; "" where there are none. */
function meaningAt(scene: Scene, frame: number, x: number, y: number): string {
  for (let l = scene.layers.length - 1; l >= 0; l--) {
    const colour = colourIn(scene.layers[l]!, frame, x, y);
    const entry = colour === none ? undefined : scene.legend.find((e) => e.colour === colour);
    if (entry) return entry.label;
  }
  return "";
}

function colourIn(layer: Layer, frame: number, x: number, y: number): number {
  if (layer.frame !== frame) return none;
  for (let k = layer.marks.length - 1; k >= 0; k--) {
    const colour = colourOf(layer.marks[k]!, x, y);
    if (colour !== none) return colour;
  }
  return none;
}

/** What outlines in a row mean at a place along it, the highest share first: each covers the lower part of the one before. */
function stackAt(scene: Scene, frame: number, x: number, row: Row): string[] {
  const tops: { top: number; colour: number; bottom: number }[] = [];
  for (const m of scene.layers.filter((l) => l.frame === frame).flatMap((l) => l.marks)) {
    if (m.kind !== "polygon") continue;
    for (let i = 0; i + 1 < m.offsets.length; i++) {
      const [from, to] = [m.offsets[i]!, m.offsets[i + 1]!];
      const ends = crossings(m.x, m.y, from, to, x);
      if (ends && ends.top >= row.from && ends.bottom <= row.to) tops.push({ ...ends, colour: m.fill[i]! });
    }
  }
  tops.sort((a, b) => a.top - b.top);
  return tops.map((t, k) => ({ colour: t.colour, height: (tops[k + 1]?.top ?? t.bottom) - t.top })).filter((t) => t.height > 0.2).sort((a, b) => b.height - a.height)
    .flatMap((t) => scene.legend.find((e) => e.colour === t.colour)?.label ?? []);
}

/** Where a vertical line through a polygon enters and leaves it. */
function crossings(xs: Float32Array, ys: Float32Array, from: number, to: number, x: number): { top: number; bottom: number } | null {
  let [top, bottom] = [Infinity, -Infinity];
  for (let i = from, j = to - 1; i < to; j = i++) {
    const [a, b] = [xs[j]!, xs[i]!];
    if (a > x === b > x) continue;
    const y = ys[j]! + ((x - a) / (b - a)) * (ys[i]! - ys[j]!);
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  return bottom > top ? { top, bottom } : null;
}

const within = (v: number, from: number, length: number) => v >= from && v < from + Math.max(length, 1);

function colourOf(m: Mark, x: number, y: number): number {
  if (m.kind === "image") {
    if (!within(x, m.x, m.w) || !within(y, m.y, m.h)) return none;
    const [column, row] = [Math.min(Math.floor(((x - m.x) / m.w) * m.columns), m.columns - 1), Math.min(Math.floor(((y - m.y) / m.h) * m.rows), m.rows - 1)];
    return m.cells[row * m.columns + column] ?? none;
  }
  if (m.kind !== "rect") return none;
  for (let i = m.x.length - 1; i >= 0; i--) {
    if (m.fill[i] !== none && m.w[i]! > 0 && m.h[i]! > 0 && within(x, m.x[i]!, m.w[i]!) && within(y, m.y[i]!, m.h[i]!)) return m.fill[i]!;
  }
  return none;
}
