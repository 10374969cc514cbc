// The types of drawn marks, as in internal/scene: marks as columns.
// Coordinates are CSS pixels from the top left, colours are palette indices. What Go writes is in types.ts.

import type { Fact } from "../api/types";
import type { Frame, LegendEntry, Mark, Term } from "./types";

export * from "./types";

export interface Scene {
  width: number;
  height: number;
  title: string;
  /** A sentence that says what the picture shows: the aria-label. */
  description: string;
  frames: Frame[];
  layers: Layer[];
  legend: LegendEntry[];
  notes: string[];
  /** Names that the user gives a meaning to, with the meaning they have. */
  terms?: Term[];
  /** What is known of items by their number; null: nothing. The server is asked for the others. */
  facts?: Record<number, Fact | null>;
  /** What is known at a glance of items of which there are very many. */
  briefs?: Briefs[];
  /** Items that are asked for by place: they are continuous. */
  placed?: number[];
  /** Set where the selection holds nothing to show; there are no layers then. */
  empty: { what: string; hint: string } | null;
  /** Drawn from fewer pixels than asked for; the exact one is still to come. */
  coarse: boolean;
}

/** The words of many items, one after the other, in columns; see shell/brief.ts. */
export interface Briefs {
  /** Number of the first item. */
  first: number;
  /** What many share: a title, the row that it is in, a region. */
  things: { title: string; on: string; region: number }[];
  /** Which of the things each is. */
  thing: Uint16Array | Uint32Array;
  begin: Float64Array;
  end: Float64Array;
  /** How many it stands for; left out where each is one. */
  count?: Uint32Array;
}

/** Stands for no location or region. */
export const noID = 0xffffffff;
/** The colour that is drawn as nothing. */
export const none = 0xffff;

export interface Layer {
  name: string;
  /** Index into frames, -1: the picture itself. */
  frame: number;
  marks: Mark[];
}

/** Bits of a flags column, as in internal/scene/mark.go. */
export const Flag = { aggregated: 1, hatched: 2, dimmed: 4, outlined: 8, arrow: 16, dashed: 32 } as const;
/** Values of a shape column. */
export const Shape = { disc: 0, square: 1, diamond: 2, triangle: 3, burst: 4 } as const;
/** Values of an anchor column. */
export const Anchor = { start: 0, middle: 1, end: 2 } as const;
