// The vocabulary of what is drawn, as internal/scene has it: marks as columns.
// Coordinates are CSS pixels from the top left, colours are palette indices.

import type { Fact } from "../api/types";

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
  terms?: { name: string; text: string; label: string; by: "user" | "layout" | "" }[];
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

/** A plot area: what lies in it pans and zooms, a brush in it is a selection. */
export interface Frame {
  name: string;
  x: number;
  y: number;
  w: number;
  h: number;
  xScale: Scale;
  yScale: Scale;
  /** Where locations lie that are no rows: x, y, w, h, location of each; what lies inside comes later. */
  places?: readonly number[];
}

export interface Scale {
  kind: "time" | "rows" | "linear" | "log" | "";
  begin: number;
  end: number;
  label: string;
  rows: Row[];
}

/** A stretch of a "rows" scale, in absolute pixels. */
export interface Row {
  from: number;
  to: number;
  /** noID where the row stands for none. */
  location: number;
  region: number;
  label: string;
  /** How many locations it stands for. */
  count: number;
  level: number;
  /** It can be collapsed, or expanded. */
  open: boolean;
  folded: boolean;
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

export interface LegendEntry {
  label: string;
  colour: number;
  /** End of a run of colours that starts at `colour`; `none`: a single colour. */
  rampEnd: number;
  rampLow: string;
  rampHigh: string;
  /** noID, or what choosing the entry selects. */
  region: number;
  parent: number;
  /** Of the things it explains: a hatched sample for what is hatched. */
  flags: number;
}

export type Mark = RectMark | LineMark | PathMark | PolygonMark | PointMark | TextMark | ImageMark | SpaceMark;
export type MarkKind = Mark["kind"];

export interface RectMark {
  kind: "rect";
  x: Float32Array;
  y: Float32Array;
  w: Float32Array;
  h: Float32Array;
  fill: Uint16Array;
  flags: Uint8Array | null;
  count: Uint32Array | null;
  /** What each shows, see item.ts. */
  items?: Uint32Array | null;
}

export interface LineMark {
  kind: "line";
  x0: Float32Array;
  y0: Float32Array;
  x1: Float32Array;
  y1: Float32Array;
  stroke: Uint16Array;
  width: number;
  flags: Uint8Array | null;
  items?: Uint32Array | null;
}

/** Path i has the points offsets[i] … offsets[i+1]. */
export interface PathMark {
  kind: "path";
  offsets: Uint32Array;
  x: Float32Array;
  y: Float32Array;
  stroke: Uint16Array;
  width: number;
}

/** Polygon i has the corners offsets[i] … offsets[i+1]; two make a line. */
export interface PolygonMark {
  kind: "polygon";
  offsets: Uint32Array;
  x: Float32Array;
  y: Float32Array;
  fill: Uint16Array;
  flags: Uint8Array | null;
  items?: Uint32Array | null;
}

export interface PointMark {
  kind: "point";
  x: Float32Array;
  y: Float32Array;
  r: Float32Array;
  fill: Uint16Array;
  shape: Uint8Array | null;
  count: Uint32Array | null;
  /** What each shows, see item.ts. */
  items?: Uint32Array | null;
}

export interface TextMark {
  kind: "text";
  x: Float32Array;
  y: Float32Array;
  text: string[];
  /** Pixels that the layout gave each text; wider ones are squeezed. */
  width?: Float32Array;
  fill: Uint16Array;
  anchor: Uint8Array | null;
  size: number;
  bold: boolean;
  turned: boolean;
}

/** A grid of cells, row by row from the top left, stretched without smoothing. */
export interface ImageMark {
  kind: "image";
  x: number;
  y: number;
  w: number;
  h: number;
  columns: number;
  rows: number;
  cells: Uint16Array;
  /** Number of the first cell's item, where cells are items. */
  firstItem?: number;
}

/** A plot in three dimensions, which the page turns by itself; see internal/scene/space.go. */
export interface SpaceMark {
  kind: "space";
  x: number;
  y: number;
  w: number;
  h: number;
  /** Dots, balls, bars, mesh. */
  form: number;
  /** Places in units of the axes. */
  px: Float32Array;
  py: Float32Array;
  pz: Float32Array;
  /** Decides the colour from low to high, and the height of a bar; NaN: not drawn. */
  value: Float32Array;
  low: number;
  high: number;
  /** Of the values: "ns", "bytes", "count", "share" or "". */
  unit: string;
  /** Start and length of the colours in the palette. */
  ramp: [number, number];
  fill: Uint16Array | null;
  radius: number;
  /** Least radius of dots, in pixels. */
  least: number;
  /** Steps of light on balls; 0: 3. */
  detail: number;
  /** Without box, ticks and names. */
  bare: boolean;
  half: [number, number];
  tall: number;
  base: number;
  columns: number;
  gap: number;
  axes: SpaceAxis[];
  camera: SpaceCamera;
  filter: SpaceFilter;
  /** What locations the things are: up to the next run, that of thing i is location + (i - first) × step. Null: unknown. */
  runFirst: Uint32Array | null;
  runLocation: Uint32Array | null;
  runStep: Uint32Array | null;
  /** Lines between things, by their index; null: none. */
  linkFrom: Uint32Array | null;
  linkTo: Uint32Array | null;
  linkFill: Uint16Array | null;
  linkWidth: number;
  /** Names of things, the most important first. */
  labels?: { thing: number; text: string; width: number }[];
  /** Number of the first thing's item, where things are items. */
  firstItem?: number;
}

export interface SpaceAxis {
  label: string;
  /** Of the label, in pixels. */
  width: number;
  begin: number;
  end: number;
  stretch: number;
  ticks: { at: number; label: string; width: number }[];
}

/** Angles in degrees; zoom 1 shows all; pan in shares of the smaller side. */
export interface SpaceCamera {
  azimuth: number;
  elevation: number;
  zoom: number;
  panX: number;
  panY: number;
}

/** Shown is min ≤ value ≤ max, or where min > max what lies outside; and what lies in the slice. */
export interface SpaceFilter {
  ranged: boolean;
  min: number;
  max: number;
  slice: boolean[];
  at: number[];
  width: number[];
}

/** Bits of a flags column, as in internal/scene/mark.go. */
export const Flag = { aggregated: 1, hatched: 2, dimmed: 4, outlined: 8, arrow: 16, dashed: 32 } as const;
/** Values of a shape column. */
export const Shape = { disc: 0, square: 1, diamond: 2, triangle: 3, burst: 4 } as const;
/** Values of an anchor column. */
export const Anchor = { start: 0, middle: 1, end: 2 } as const;
