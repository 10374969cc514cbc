// A panel of another run next to the page's own: both show the same time range on one
// scale, the shorter one ending earlier, or the other one moved by hand, so that what
// belongs together can be put side by side.

import { signal } from "@preact/signals";
import type { SelectionSpec, ViewInfo } from "../api/types";
import type { Layout, PanelState } from "./layout";
import { windowOf, type Look, type Range } from "./selection";

/** By how much time a panel of another run is moved; ns, later is positive. */
export function movedBy(panel: PanelState): number {
  return Number(panel.options.moved?.[0] ?? 0) || 0;
}

/** What is kept for a shift: nothing for none. */
export function movedValue(ns: number): string[] {
  return Math.round(ns) === 0 ? [] : [String(Math.round(ns))];
}

/**
 * The time that a panel of another run shows: that of the page, moved, and without a zoom
 * all that any of the runs takes. It may go on after the run's end at `end`: there is
 * nothing there, and a nanosecond is as wide as in the other panels.
 */
export function windowBeside(look: Look, panel: PanelState, shared: number, end: number): Range {
  const moved = movedBy(panel);
  const w = windowOf(look) ?? { begin: 0, end: shared };
  const begin = Math.min(Math.max(0, w.begin - moved), Math.max(0, end - 1));
  return { begin, end: Math.max(begin + 1, w.end - moved) };
}

/** Whether a panel of another run shows more or less time than the page, so that its axis has another scale. */
export function isCut(look: Look, shared: number, shown: Range): boolean {
  const wanted = windowOf(look) ?? { begin: 0, end: shared };
  return Math.abs(wanted.end - wanted.begin - (shown.end - shown.begin)) > 1;
}

/** The part of it that the run has, as a selection: empty for all of it. */
export function specBeside(w: Range, end: number, regions: readonly string[] = []): SelectionSpec {
  return { ...(w.begin === 0 && w.end >= end ? {} : { from: w.begin, to: Math.min(w.end, end) }), ...(regions.length > 0 ? { regions: [...regions] } : {}) };
}

const units: Record<string, number> = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9 };

/** Reads a length of time such as "-1.5 ms"; null where it is none. */
export function parseShift(text: string): number | null {
  const m = /^\s*([+-]?\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|min)?\s*$/.exec(text);
  return m ? Number(m[1]) * (m[2] ? units[m[2]] : text.trim() === "0" ? 1 : 1e6) : null;
}

/** Whether a view can draw its time axis further than the run goes; others are squeezed. */
export function hasAxisTo(view: ViewInfo | undefined): boolean {
  return view?.options.some((o) => o.name === "axis-to") === true;
}

// Pictures of two runs that stand below each other begin at one place, whatever their labels take:
// each says how much that is by itself, and those with less are asked for with the most.

const labelRooms = signal<Readonly<Record<string, number>>>({});

/** The width of the labels of a panel's rows if none is given. */
export function learnLabelRoom(panel: string, pixels: number): void {
  if (labelRooms.peek()[panel] !== pixels) labelRooms.value = { ...labelRooms.peek(), [panel]: pixels };
}

/** What labels of a panel must take to begin where those of its view in other rows do; 0: what they need. */
export function sharedLabelRoom(layout: Layout, panel: PanelState): number {
  if (layout.maximised !== "" || layout.as === "tabs") return 0;
  const rows = layout.rows.filter((r) => r.panels.length === 1 && r.panels[0]!.view === panel.view);
  const rooms = labelRooms.value;
  const runs = new Set(rows.map((r) => r.panels[0]!.options["run"]?.[0] ?? ""));
  if (runs.size < 2 || !rows.some((r) => r.panels[0]!.id === panel.id)) return 0;
  const most = Math.max(...rows.map((r) => rooms[r.panels[0]!.id] ?? 0));
  return most > (rooms[panel.id] ?? 0) ? most : 0;
}
