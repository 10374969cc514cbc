// Colours of the one palette table as the style sheet wants them.

import type { Palette, Tint } from "../scene/palette";
import { none } from "../scene/scene";

/** A palette index as a CSS colour. */
export function cssColour(palette: Palette, index: number, tint: Tint): string {
  const table = palette[tint];
  if (index === none || index >= table.length) return "transparent";
  const c = table[index];
  const [r, g, b, a] = [c & 255, (c >> 8) & 255, (c >> 16) & 255, c >>> 24];
  return a === 255 ? `rgb(${r} ${g} ${b})` : `rgb(${r} ${g} ${b} / ${(a / 255).toFixed(3)})`;
}

/** A run of palette colours as a CSS gradient, for the ramp of a legend. */
export function cssRamp(palette: Palette, from: number, to: number, tint: Tint): string {
  const n = Math.min(32, Math.abs(to - from));
  const stops = Array.from({ length: n + 1 }, (_, i) => cssColour(palette, Math.round(from + ((to - from) * i) / Math.max(1, n)), tint));
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
