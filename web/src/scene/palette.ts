// The one palette table, read by Go and TypeScript alike.

/** Colours by index as 0xAABBGGRR (ImageData's order in memory), per theme. */
export interface Palette {
  light: Uint32Array;
  dark: Uint32Array;
}
