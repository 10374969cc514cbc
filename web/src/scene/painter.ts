// The painter draws scenes into an element of the page: shapes by the GPU or the
// software rasteriser, texts and highlights on top. It handles marks and colours,
// never traces.
//
//	host
//	  canvas   the picture: shapes copied from the GPU or from memory, then texts
//	  canvas   highlights

import { device, deviceAtRest, type Device, type Drawable } from "./device";
import { raster, upload, type Shape } from "./mark";
import { drawOverlay, drawRings, type Highlight } from "./overlay";
import type { Palette, Tint } from "./palette";
import { clipOf, mapOf, parts, placesOf, type Part, type Transform } from "./part";
import { Raster } from "./raster";
import type { Frame, Mark, Scene, SpaceMark, TextMark } from "./scene";
import type { SpaceChoice } from "./space/look";
import type { LocationRange } from "./space/runs";
import { SpaceView } from "./space/view";
import { drawTexts } from "./text";

export { identity, type Transform } from "./part";
export type { Box, Highlight } from "./overlay";

/** More rings would hide what they mark. */
const mostRings = 2000;

/** Milliseconds of rest after which a picture that moved is drawn in full. */
const restAfter = 140;

export type Backend = "webgl2" | "software";

export interface PainterOptions {
  /**
   * "auto" (default) takes WebGL2 where a real GPU draws, else the software rasteriser.
   * Browsers take up to a second for their first WebGL2: until then it draws in software.
   */
  backend?: Backend | "auto";
  /** Default: the window's, read again at each draw. */
  pixelRatio?: number;
}

export interface Painter {
  readonly backend: Backend;
  /** The scene drawn last. */
  readonly scene: Scene | null;
  /** Draws a scene, and forgets all transforms. The picture takes the scene's size; so many pixels at the right of its frames are beyond what is to be seen. */
  draw(scene: Scene, theme: Tint, beyond?: number): void;
  /** Draws the same scene in other colours. */
  setTheme(theme: Tint): void;
  /**
   * Moves what lies in a frame until the next draw: layers of the frame and its
   * axis texts move, texts keep their size. Drawn at the next animation frame.
   */
  setTransform(frame: number, t: Transform): void;
  /** Turns and filters what is in space; it stays so for scenes to come. */
  setSpace(choice: SpaceChoice): void;
  /** The thing in space at a pixel of the scene, -1 where there is none; null: the scene has no space. */
  pickSpace(x: number, y: number): number | null;
  /** The locations of what is in space inside a closed line over the scene. */
  spaceWithin(line: readonly (readonly [number, number])[]): number[];
  /** Puts rings round the things in space that are these locations. */
  ringLocations(ranges: readonly LocationRange[]): void;
  /** Replaces all highlights. */
  highlight(...h: Highlight[]): void;
  /** Draws now what is pending, and reads the picture back: for tests and copying. */
  read(): ImageData;
  destroy(): void;
}

/** Makes a painter that owns its elements inside host. */
export function createPainter(host: HTMLElement, palette: Palette, options: PainterOptions = {}): Painter {
  return new CanvasPainter(host, palette, options);
}

class CanvasPainter implements Painter {
  scene: Scene | null = null;
  /** Its frames as far as they are seen. */
  private seen: Frame[] = [];
  private theme: Tint = "light";
  private parts: { part: Part; drawables: Drawable[] }[] = [];
  private device: Device | null = null;
  private sought = false;
  private transforms: Transform[] = [];
  private highlights: Highlight[] = [];
  private picture = layer();
  private readonly above = layer();
  private frame = 0;
  private stale = { picture: false, overlay: false };
  private image: ImageData | null = null;
  private spaces = new Map<SpaceMark, SpaceView>();
  private choice: SpaceChoice = {};
  private ringed: readonly LocationRange[] = [];
  private restTimer = 0;

  constructor(host: HTMLElement, private readonly palette: Palette, private readonly options: PainterOptions) {
    if (options.backend === "webgl2") this.device = device(true);
    this.picture.setAttribute("role", "img");
    this.above.setAttribute("aria-hidden", "true");
    host.append(this.picture, this.above);
  }

  get backend(): Backend {
    return this.device ? "webgl2" : "software";
  }

  draw(scene: Scene, theme: Tint, beyond = 0): void {
    this.free();
    this.scene = scene;
    this.seen = beyond > 0 ? scene.frames.map((f) => ({ ...f, w: Math.max(1, f.w - beyond) })) : scene.frames;
    this.theme = theme;
    this.transforms = [];
    this.parts = parts(scene).map((part) => ({ part, drawables: [] }));
    for (const { part } of this.parts) for (const m of part.marks) if (m.kind === "space") this.spaces.set(m, new SpaceView(m));
    for (const s of this.spaces.values()) s.set(this.choice);
    this.seek();
    this.upload();
    this.picture.setAttribute("aria-label", scene.description || scene.title);
    this.stale = { picture: true, overlay: true };
    this.flush();
  }

  setTheme(theme: Tint): void {
    this.theme = theme;
    this.later("picture", "overlay");
  }

  setTransform(frame: number, t: Transform): void {
    this.transforms[frame] = t;
    this.later("picture", "overlay");
  }

  setSpace(choice: SpaceChoice): void {
    this.choice = choice;
    let changed = false;
    for (const s of this.spaces.values()) changed = s.set(choice) || changed;
    if (!changed) return;
    // In software a large picture is drawn with fewer things while it moves.
    const draft = !this.device;
    for (const s of this.spaces.values()) s.draft = draft;
    this.later("picture", "overlay");
    clearTimeout(this.restTimer);
    if (draft) this.restTimer = setTimeout(() => this.finish(), restAfter) as unknown as number;
  }

  /** Draws in full the parts left out while it moved. */
  private finish(): void {
    clearTimeout(this.restTimer);
    let any = false;
    for (const s of this.spaces.values()) {
      any = any || s.draft;
      s.draft = false;
    }
    if (any) this.later("picture");
  }

  spaceWithin(line: readonly (readonly [number, number])[]): number[] {
    return [...this.spaces.values()].flatMap((s) => s.within(line));
  }

  pickSpace(x: number, y: number): number | null {
    if (this.spaces.size === 0) return null;
    for (const [m, s] of this.spaces) {
      if (x >= m.x && y >= m.y && x < m.x + m.w && y < m.y + m.h) {
        const i = s.pick(x, y);
        if (i >= 0) return i;
      }
    }
    return -1;
  }

  ringLocations(ranges: readonly LocationRange[]): void {
    if (ranges.length === 0 && this.ringed.length === 0) return;
    this.ringed = ranges;
    this.later("overlay");
  }

  highlight(...h: Highlight[]): void {
    this.highlights = h;
    this.later("overlay");
  }

  read(): ImageData {
    this.finish();
    this.flush();
    return this.picture.getContext("2d")!.getImageData(0, 0, Math.max(this.picture.width, 1), Math.max(this.picture.height, 1));
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.restTimer);
    this.free();
    this.scene = null;
    this.picture.remove();
    this.above.remove();
  }

  /** Asks for the GPU at the first picture, so that none has to wait for it. */
  private seek(): void {
    if (this.sought || (this.options.backend ?? "auto") !== "auto") return;
    this.sought = true;
    this.device = deviceAtRest((d) => this.takeUp(d));
  }

  /** Goes on drawing with the GPU. What was drawn in memory would have to be read back: it gets a new canvas. */
  private takeUp(d: Device): void {
    if (!this.scene) return;
    this.device = d;
    const before = this.picture;
    this.picture = before.cloneNode() as HTMLCanvasElement;
    this.picture.style.width = "";
    this.image = null;
    this.upload();
    this.flush();
    before.replaceWith(this.picture);
  }

  /** Puts shapes on the GPU; a device that was lost in the meantime is asked for anew. */
  private upload(): void {
    if (this.device?.lost) this.device = device(this.options.backend === "webgl2");
    if (!this.device) return;
    for (const s of this.spaces.values()) s.free(true);
    for (const p of this.parts) p.drawables = drawn(p.part).map((m) => (m.kind === "space" ? this.spaceOn(this.device!, m) : upload(this.device!, m)));
  }

  private spaceOn(d: Device, m: SpaceMark): Drawable {
    const s = this.spaces.get(m)!;
    return { draw: (t) => s.drawOn(d, t), free: () => s.free() };
  }

  private free(): void {
    if (!this.device?.lost) for (const p of this.parts) for (const d of p.drawables) d.free();
    this.parts = [];
    this.spaces.clear();
  }

  private later(...what: ("picture" | "overlay")[]): void {
    for (const w of what) this.stale[w] = true;
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.flush());
  }

  private flush(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.scene) return;
    const scale = this.options.pixelRatio ?? window.devicePixelRatio ?? 1;
    const width = Math.max(1, Math.round(Math.ceil(this.scene.width) * scale));
    const height = Math.max(1, Math.round(Math.ceil(this.scene.height) * scale));
    for (const c of [this.picture, this.above]) {
      if (c.width === width && c.height === height && c.style.width !== "") continue;
      c.width = width;
      c.height = height;
      c.style.width = `${width / scale}px`;
      c.style.height = `${height / scale}px`;
      this.stale = { picture: true, overlay: true };
    }
    if (this.stale.picture) this.drawPicture(width, height, scale);
    if (this.stale.overlay) {
      const ctx = this.above.getContext("2d")!;
      drawOverlay(ctx, this.scene, this.highlights, this.transforms, this.palette, this.theme, scale);
      for (const s of this.spaces.values()) drawRings(ctx, s.rings(this.ringed, mostRings), this.palette[this.theme]);
    }
    this.stale = { picture: false, overlay: false };
  }

  private drawPicture(width: number, height: number, scale: number): void {
    const ctx = this.picture.getContext("2d", { alpha: false, willReadFrequently: !this.device })!;
    if (this.device?.lost) {
      this.device = device(this.options.backend === "webgl2");
      this.upload();
    }
    if (!this.device || !this.drawShapes(this.device, ctx, width, height, scale)) this.rasterShapes(ctx, width, height, scale);
    const table = this.palette[this.theme];
    for (const { part } of this.parts) {
      const t = this.moved(part);
      const clip = clipOf(part, this.seen, t, scale, width, height);
      const texts = part.marks.flatMap((m): TextMark[] => (m.kind === "text" ? [m] : m.kind === "space" ? [this.spaces.get(m)!.text()] : []));
      if (texts.length === 0 || clip.x0 >= clip.x1 || clip.y0 >= clip.y1) continue;
      ctx.save();
      ctx.beginPath();
      const between = placesOf(part, this.seen, t, scale);
      if (between) [clip.x0, clip.x1] = [0, width];
      ctx.rect(clip.x0, clip.y0, clip.x1 - clip.x0, clip.y1 - clip.y0);
      ctx.clip();
      for (const m of texts) drawTexts(ctx, m, mapOf(part, t, scale), scale, table, clip, t !== undefined && t.scaleX < 1, between);
      ctx.restore();
    }
  }

  /** The transform of a part, where it has one that moves anything. */
  private moved(p: Part): Transform | undefined {
    const t = this.transforms[p.frame];
    if (!t || t.scaleX === 1 && t.scaleY === 1 && t.offsetX === 0 && t.offsetY === 0) return undefined;
    return t;
  }

  /** Draws on the GPU and copies the result; false where the device was lost meanwhile. */
  private drawShapes(d: Device, ctx: CanvasRenderingContext2D, width: number, height: number, scale: number): boolean {
    const table = this.palette[this.theme];
    d.begin(width, height, table, this.palette.dimmed[this.theme]);
    for (const { part, drawables } of this.parts) {
      if (drawables.length === 0) continue;
      const t = this.moved(part);
      const c = clipOf(part, this.seen, t, scale, width, height);
      d.clip(c.x0, c.y0, c.x1, c.y1, height);
      for (const x of drawables) x.draw({ map: mapOf(part, t, scale), width, height, scale });
    }
    if (d.lost || d.gl.isContextLost()) return false;
    ctx.globalCompositeOperation = "copy";
    ctx.drawImage(d.canvas, 0, d.canvas.height - height, width, height, 0, 0, width, height);
    ctx.globalCompositeOperation = "source-over";
    return true;
  }

  private rasterShapes(ctx: CanvasRenderingContext2D, width: number, height: number, scale: number): void {
    const dimmed = this.palette.dimmed[this.theme];
    const r = new Raster(width, height, scale, this.palette[this.theme], dimmed, this.image);
    for (const { part } of this.parts) {
      const t = this.moved(part);
      r.enter(clipOf(part, this.seen, t, scale, width, height), mapOf(part, t, scale));
      for (const m of drawn(part)) {
        if (m.kind === "space") for (const flat of this.spaces.get(m)!.flatten()) raster(r, flat);
        else raster(r, m);
      }
    }
    this.image = r.image;
    ctx.putImageData(r.image, 0, 0);
  }
}

function drawn(p: Part): (Shape | SpaceMark)[] {
  return p.marks.filter((m: Mark): m is Shape | SpaceMark => m.kind !== "text");
}

function layer(): HTMLCanvasElement {
  const c = document.createElement("canvas");
  c.style.position = "absolute";
  c.style.left = "0";
  c.style.top = "0";
  c.style.pointerEvents = "none";
  return c;
}

