// The painter draws scenes into an element of the page. It knows marks and
// colours, never traces.

import type { Scene } from "./scene";
import type { Palette } from "./palette";

/** A frame's place on screen: x' = x * scaleX + offsetX in pixels of the scene, likewise y. */
export interface Transform {
  scaleX: number;
  offsetX: number;
  scaleY: number;
  offsetY: number;
}

export const identity: Transform = { scaleX: 1, offsetX: 0, scaleY: 1, offsetY: 0 };

/** A box in pixels of the scene, before any transform. */
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/**
 * What is shown above the picture without drawing it again: the cross-hair, the
 * brush, what the selection keeps. Places are in pixels of the scene and move
 * with the frame's transform.
 */
export interface Highlight {
  frame: number;
  /** Cross-hair: a vertical line at x, a horizontal line at y. */
  crossX?: number;
  crossY?: number;
  /** The range being dragged. */
  brush?: Box;
  /** Everything in the frame outside these boxes is dimmed; undefined: nothing is. */
  keep?: Box[];
  /** Boxes with a line round them: the same location, region or instant elsewhere. */
  outline?: Box[];
}

export type Backend = "webgl2" | "software";

export interface PainterOptions {
  /** "auto" (default) takes WebGL2 where a real GPU draws, else the software rasteriser. */
  backend?: Backend | "auto";
  /** Default: the window's, read again at each draw. */
  pixelRatio?: number;
  theme?: "light" | "dark";
}

export interface Painter {
  readonly backend: Backend;
  /** The scene drawn last. */
  readonly scene: Scene | null;
  /** Draws a scene, and forgets all transforms. The picture takes the scene's size. */
  draw(scene: Scene, theme: "light" | "dark"): void;
  /** Draws the same scene in other colours. */
  setTheme(theme: "light" | "dark"): void;
  /**
   * Moves what lies in a frame until the next draw: layers of the frame and its
   * axis texts move, texts keep their size. Drawn at the next animation frame.
   */
  setTransform(frame: number, t: Transform): void;
  /** Replaces all highlights. */
  highlight(...h: Highlight[]): void;
  /** Draws now what is pending, and reads the picture back: for tests and copying. */
  read(): ImageData;
  destroy(): void;
}

/** Makes a painter that owns everything inside host. */
export function createPainter(host: HTMLElement, palette: Palette, options?: PainterOptions): Painter {
  void host; void palette; void options;
  throw new Error("painter: not written yet");
}
