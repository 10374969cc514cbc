// The one palette table, read by Go and TypeScript alike: internal/scene/palette.json.

import table from "../../../internal/scene/palette.json";

/** A ground, and on it the usual hues of categories or those that colour-blind readers tell apart too. */
export type Tint = "light" | "dark" | "lightSafe" | "darkSafe";

/** Colours by index as 0xAABBGGRR: the order of ImageData in memory. */
export interface Palette extends Record<Tint, Uint32Array> {
  /** The same colours as they are drawn outside the selection. */
  dimmed: Record<Tint, Uint32Array>;
  /** Start and length of each section: roles, "locations", ramps, "ui". */
  sections: Record<string, { start: number; length: number }>;
}

interface Section {
  name: string;
  start: number;
  light: string[];
  dark?: string[];
  safeLight?: string[];
  safeDark?: string[];
  names?: string[];
}

/** Indices of the colours of what is not data, as in internal/scene/ui.go. */
export const ui = Object.fromEntries(
  ((table.sections[0] as Section).names ?? []).map((name, i) => [name, i]),
) as Record<UIColour, number>;

type UIColour =
  | "background" | "surface" | "text" | "text-muted" | "hairline" | "grid" | "axis" | "selection" | "selection-edge"
  | "focus" | "accent" | "warning" | "error" | "good" | "aggregate" | "hatch" | "outline" | "link" | "cursor" | "band"
  | "empty" | "data" | "data-soft" | "ink-dark" | "ink-light" | "ink" | "ink-reverse";

export const palette: Palette = readPalette(table as { dim: number; sections: Section[] });

export function readPalette(file: { dim: number; sections: Section[] }): Palette {
  const table = (of: (s: Section) => string[]) => Uint32Array.from(file.sections.flatMap((s) => of(s).map(parseHex)));
  const tables: Record<Tint, Uint32Array> = {
    light: table((s) => s.light), dark: table((s) => s.dark ?? s.light),
    lightSafe: table((s) => s.safeLight ?? s.light), darkSafe: table((s) => s.safeDark ?? s.dark ?? s.light),
  };
  return {
    ...tables,
    dimmed: Object.fromEntries(Object.entries(tables).map(([tint, colours]) => [tint, dimmed(colours, file.dim)])) as Record<Tint, Uint32Array>,
    sections: Object.fromEntries(file.sections.map((s) => [s.name, { start: s.start, length: s.light.length }])),
  };
}

/** Reads rrggbb or rrggbbaa. */
function parseHex(s: string): number {
  const v = Number.parseInt(s.length === 6 ? s + "ff" : s, 16);
  return (((v & 0xff) << 24) | ((v & 0xff00) << 8) | ((v >>> 8) & 0xff00) | (v >>> 24)) >>> 0;
}

/** Mixes every colour with the background, index 0; its opacity stays. */
function dimmed(colours: Uint32Array, share: number): Uint32Array {
  const ground = colours[0]!;
  const mix = (c: number, shift: number) =>
    Math.floor(((c >>> shift) & 255) * (1 - share) + ((ground >>> shift) & 255) * share + 0.5) << shift;
  return colours.map((c) => ((c & 0xff000000) | mix(c, 16) | mix(c, 8) | mix(c, 0)) >>> 0);
}

/** A colour for a 2D context; nothing for `none` and indices past the table. */
export function css(colours: Uint32Array, index: number): string {
  const c = colours[index] ?? 0;
  return `rgba(${c & 255},${(c >>> 8) & 255},${(c >>> 16) & 255},${(((c >>> 24) & 255) / 255).toFixed(4)})`;
}
