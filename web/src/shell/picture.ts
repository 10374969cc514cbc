// A Picture keeps one panel's scene up to date. It asks for the exact scene and,
// until that arrives, moves the last one: never a blank panel, never a jump.
//
//   1. update() says what is wanted. A change of window alone transforms the
//      drawn scene at once; everything else leaves it as it is.
//   2. One request is under way at a time. Where only the window moved on, its
//      answer is still good, since it is drawn under the transform of the moment;
//      so it is where only a slider or a camera did, which would otherwise stand
//      still under the hand. Where anything else changed it is aborted and dropped.
//   3. Views whose marks do not depend on the window's ends (timeline, activity)
//      are asked for with some overscan, so that a short pan needs no request.

import { ApiFailure, type Api, type Ticket } from "../api/client";
import type { ApiError, Fact, SelectionSpec, ViewRequest } from "../api/types";
import { identity, type Highlight, type Painter, type Transform } from "../scene/painter";
import type { Tint } from "../scene/palette";
import { briefFact } from "./brief";
import { hasItems, itemAt } from "../scene/item";
import type { Scene } from "../scene/scene";
import type { SpaceChoice } from "../scene/space/look";
import type { LocationRange } from "../scene/space/runs";
import { isIdentity, isTime, overscan, toScene, transformTo, visibleWidth, type Shown } from "./geometry";
import { afterRest } from "./rest";
import { same, type Range } from "./selection";

/** What a panel wants to show. */
export interface Wants {
  run: string;
  view: string;
  options: Record<string, string[]>;
  spec: SelectionSpec;
  /** What time axes are to show. */
  window: Range;
  wholeRun: Range;
  /** The run ends here, before the window does, and the view can draw its axis further. */
  runEnd?: number;
  width: number;
  height: number;
  theme: Tint;
  /** The marks do not depend on the window's ends: what is drawn stays exact when it moves, and overscan helps. */
  local: boolean;
  /** Time axes show the window, so that they move with it until the exact scene is there. */
  slides: boolean;
  /** First row shown, where the view scrolls; rows move at once. */
  scroll: number;
  /** What is turned and filtered in the page, without asking. */
  space?: SpaceChoice;
  /** Options that are dragged: an answer on its way is drawn though the hand has moved on. */
  live: readonly string[];
  /** The run beside which it stands: regions have its colours. */
  coloursOf?: string;
  /** The view accepts the width of its labels as an option: with overscan it would give them more. */
  labels?: boolean;
}

interface Drawn extends Shown {
  key: string;
  request: ViewRequest;
  /** The request as text: the same one is never sent twice in a row. */
  text: string;
  scroll: number;
  slides: boolean;
  /** What the server was asked for of items, by their number. */
  asked: Map<number, Fact | null>;
}

export interface PictureEvents {
  scene(scene: Scene): void;
  busy(busy: boolean): void;
  failed(error: ApiError | null): void;
  /** A transform or a new scene moved things: highlights must follow. */
  moved(): void;
}

const progressAfter = 300;
const retryAfter = 700;

// One count for all pictures: a panel that gets another view is still the same panel to the server.
let seq = 0;

export class Picture {
  private wants: Wants | null = null;
  private drawn: Drawn | null = null;
  private transforms: Transform[] = [];
  private pending: { key: string; base: string; abort: AbortController } | null = null;
  private scheduled = false;
  private progress = 0;
  /** Takes back what waits until the window rests; null: nothing does. */
  private resting: (() => void) | null = null;
  /** How long the last answer took, in ms. */
  private took = 0;
  /** Clicks the server has not answered yet: what they do is still to come. */
  private clicks = 0;
  private closed = false;

  constructor(
    private readonly panel: string, private readonly api: Api,
    private readonly painter: Painter, private readonly events: PictureEvents,
  ) {}

  get shown(): Shown | null {
    return this.drawn;
  }

  get scene(): Scene | null {
    return this.drawn?.scene ?? null;
  }

  /** What labels at the left take, where the picture was not asked for with so much. */
  get ownLabelRoom(): number | null {
    const f = this.drawn?.scene.frames[0];
    return !f || this.drawn!.request.options?.labels ? null : Math.round(f.x);
  }

  /** Its time axes show the window: zoom and pan mean something in it. */
  get slides(): boolean {
    return this.wants?.slides === true && this.drawn?.slides === true;
  }

  transform(frame: number): Transform {
    return this.transforms[frame] ?? identity;
  }

  update(wants: Wants): void {
    const before = this.wants;
    this.wants = wants;
    if (wants.width < 16 || wants.height < 16) return;
    if (before && before.theme !== wants.theme && this.drawn) this.painter.setTheme(wants.theme);
    if (wants.space) this.painter.setSpace(wants.space);
    this.place();
    // A view that must be computed anew for each window waits until the window rests.
    const moved = !wants.local && this.drawn !== null && before !== null && !same(before.window, wants.window);
    if (moved || this.resting) {
      this.resting?.();
      this.resting = afterRest(() => {
        this.resting = null;
        this.schedule();
      }, this.took);
    } else this.schedule();
  }

  /** Asks again, whatever is drawn: the server is back, or the content changed. */
  reload(): void {
    if (this.drawn) this.drawn.key = "";
    this.schedule();
  }

  highlight(...h: Highlight[]): void {
    this.painter.highlight(...h);
  }

  /** The locations of what lies in space inside a closed line over the picture. */
  within(line: readonly (readonly [number, number])[]): number[] {
    return this.painter.spaceWithin(line);
  }

  /** Marks locations in space. */
  ring(ranges: readonly LocationRange[]): void {
    this.painter.ringLocations(ranges);
  }

  /** What is known of a screen pixel without asking; undefined: the server must be asked. */
  known(x: number, y: number): Fact | null | undefined {
    const n = this.itemAt(x, y);
    if (n === null || n < 0) return n === null ? undefined : null;
    const { asked, scene } = this.drawn!;
    return asked.get(n) ?? briefFact(scene.briefs, n) ?? scene.facts?.[n];
  }

  /** The number of the item at a screen pixel, -1 for none; null: marks do not tell. */
  private itemAt(x: number, y: number): number | null {
    const scene = this.drawn?.scene;
    if (!scene || scene.coarse || !hasItems(scene)) return null;
    const n = itemAt(scene, x, y, (frame) => this.transform(frame), () => this.painter.pickSpace(x, y) ?? -1);
    return scene.placed?.includes(n) ? null : n;
  }

  /** All there is to know of what lies at a screen pixel: for a click, or with a signal for a pointer that rests, which never takes a click's place. */
  async pick(x: number, y: number, frame: number, signal?: AbortSignal): Promise<Fact | null> {
    if (!this.drawn || !this.wants) return null;
    const known = this.known(x, y);
    if (known !== undefined && !known?.more) return known;
    const click = signal ? 0 : 1;
    this.clicks += click;
    try {
      return await this.ask(this.drawn, this.wants.run, { x, y }, frame, { panel: `${this.panel}-${click ? "click" : "hover"}`, seq: ++seq, signal });
    } finally {
      this.clicks -= click;
    }
  }

  private async ask(drawn: Drawn, run: string, p: { x: number; y: number }, frame: number, ticket: Ticket): Promise<Fact | null> {
    const number = this.itemAt(p.x, p.y);
    if (number !== null) {
      const fact = await this.api.pickItem(run, drawn.request, number, ticket);
      drawn.asked.set(number, fact);
      return fact;
    }
    const at = frame >= 0 ? toScene(this.transform(frame), p.x, p.y) : p;
    return this.api.pick(run, drawn.request, at.x, at.y, ticket);
  }

  close(): void {
    this.closed = true;
    this.pending?.abort.abort();
    clearTimeout(this.progress);
    this.resting?.();
    this.painter.destroy();
  }

  /** Moves the drawn scene to where it is wanted. */
  private place(): void {
    const { drawn, wants } = this;
    if (!drawn || !wants) return;
    const before = this.transforms;
    this.transforms = drawn.scene.frames.map((f) => {
      const t = wants.slides && drawn.slides && isTime(f) ? transformTo(drawn, f, wants.window) : { ...identity };
      if (wants.scroll !== drawn.scroll && f.yScale.rows.length > 0) {
        const { rows } = f.yScale;
        t.offsetY = -(wants.scroll - drawn.scroll) * ((rows[rows.length - 1].to - rows[0].from) / rows.length);
      }
      return t;
    });
    this.transforms.forEach((t, i) => {
      const old = before[i] ?? identity;
      if (t.scaleX !== old.scaleX || t.offsetX !== old.offsetX || t.offsetY !== old.offsetY) this.painter.setTransform(i, t);
    });
    this.events.moved();
  }

  private schedule(): void {
    if (this.scheduled || this.closed) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      if (!this.closed) this.fetch();
    });
  }

  private fetch(): void {
    const { wants } = this;
    if (!wants || wants.width < 16 || wants.height < 16) return;
    const key = keyOf(wants);
    if (this.satisfied(wants, key)) {
      if (this.pending && this.pending.key !== key) this.stop();
      return;
    }
    if (this.pending) {
      if (this.pending.base === keyOf(wants, wants.live)) return; // the answer is awaited, then the rest is asked for
      this.stop();
    }
    const request = this.requestFor(wants);
    if (this.drawn?.key === key && !this.drawn.scene.coarse && this.drawn.text === JSON.stringify(request)) return;
    void this.request(wants, key, request);
  }

  private stop(): void {
    this.pending?.abort.abort();
    this.pending = null;
    this.showProgress(false);
  }

  /** Whether what is drawn is exact for what is wanted, with overscan to spare. */
  private satisfied(wants: Wants, key: string): boolean {
    const { drawn } = this;
    if (!drawn || drawn.key !== key || drawn.scene.coarse || drawn.scroll !== wants.scroll) return false;
    if (!wants.local) return true;
    return drawn.scene.frames.filter(isTime).every((f) => {
      const t = transformTo(drawn, f, wants.window);
      if (t.scaleX !== 1) return false;
      if (t.offsetX === 0 && drawn.scene.width === drawn.width) return true;
      const left = -t.offsetX;
      const right = f.w - visibleWidth(drawn, f) - left;
      const least = visibleWidth(drawn, f) * 0.1;
      return (left >= least || f.xScale.begin <= wants.wholeRun.begin + 1 && left >= -0.5) &&
        (right >= least || f.xScale.end >= wants.wholeRun.end - 1 && right >= -0.5);
    });
  }

  /** The request for what is wanted; wider than the panel where overscan helps. */
  private requestFor(wants: Wants): ViewRequest {
    const request: ViewRequest = {
      view: wants.view, selection: { ...wants.spec }, options: { ...wants.options },
      width: Math.round(wants.width), height: Math.round(wants.height), coloursOf: wants.coloursOf,
    };
    const frame = this.drawn && this.drawn.request.view === wants.view ? this.drawn.scene.frames.find(isTime) : undefined;
    const upTo = (end: number) => {
      if (wants.runEnd !== undefined && end > wants.runEnd) request.options!["axis-to"] = [String(end)];
      return request;
    };
    if (!wants.local || same(wants.window, wants.wholeRun)) return upTo(wants.window.end);
    const kept = frame && this.drawn ? { inset: this.drawn.width - visibleWidth(this.drawn, frame), left: this.drawn.key === keyOf(wants) ? frame.x : 0 } : keptInset(wants);
    if (kept === null) return upTo(wants.window.end);
    if (wants.labels && kept.left >= 1) request.options!.labels ??= [String(Math.round(kept.left))];
    const w = Math.max(1, request.width - kept.inset);
    const o = overscan(wants.window, wants.wholeRun, w);
    request.width += o.left + o.right;
    request.selection!.from = o.begin;
    request.selection!.to = o.end;
    return upTo(o.end);
  }

  private async request(wants: Wants, key: string, request: ViewRequest): Promise<void> {
    const abort = new AbortController();
    const pending = { key, base: keyOf(wants, wants.live), abort };
    this.pending = pending;
    this.showProgress(true);
    const begun = performance.now();
    const together = !wants.local && this.drawn !== null; // others follow the window too
    try {
      await this.api.scenes(wants.run, request, { panel: this.panel, seq: ++seq, signal: abort.signal, together }, (scene) => {
        if (this.pending !== pending) return;
        this.took = performance.now() - begun;
        this.draw(scene, wants, key, request);
      });
      if (this.pending === pending) this.events.failed(null);
    } catch (e) {
      if (this.pending === pending) this.fail(e);
    } finally {
      if (this.pending === pending) {
        this.pending = null;
        this.showProgress(false);
        if (this.drawn?.key === key) this.schedule();
      }
    }
  }

  private draw(scene: Scene, wants: Wants, key: string, request: ViewRequest): void {
    this.drawn = { scene, width: Math.round(wants.width), height: Math.round(wants.height), key, request, text: JSON.stringify(request), scroll: wants.scroll, slides: wants.slides, asked: new Map() };
    this.transforms = [];
    const frame = wants.local ? scene.frames.find(isTime) : undefined;
    if (frame) keepInset(wants, { inset: this.drawn.width - visibleWidth(this.drawn, frame), left: frame.x });
    this.painter.draw(scene, this.wants?.theme ?? wants.theme, Math.max(0, scene.width - this.drawn.width));
    this.place();
    this.events.scene(scene);
  }

  private fail(e: unknown): void {
    const detail: ApiError = e instanceof ApiFailure ? e.detail : { error: String(e), hint: "", kind: "internal" };
    if (detail.kind === "aborted") return;
    if (detail.kind === "busy" || detail.kind === "superseded") {
      setTimeout(() => this.schedule(), retryAfter);
      return;
    }
    this.events.failed(detail);
  }

  private showProgress(on: boolean): void {
    clearTimeout(this.progress);
    if (on) this.progress = setTimeout(() => this.events.busy(true), progressAfter) as unknown as number;
    else this.events.busy(false);
  }

  /** The pixels as they are drawn now: for tests. */
  read(): ImageData {
    return this.painter.read();
  }

  /** Nothing is under way and what is drawn is exact: for tests. */
  get settled(): boolean {
    return this.drawn !== null && this.pending === null && !this.scheduled && this.resting === null && this.clicks === 0 && !this.drawn.scene.coarse;
  }

  /** Whether the drawn scene lies where it was drawn. */
  get still(): boolean {
    return this.transforms.every(isIdentity);
  }
}

/** Everything a scene depends on but the window of a local view, the scroll, the theme, and the options left out. */
export function keyOf(w: Wants, without: readonly string[] = []): string {
  const spec = w.local ? { locations: w.spec.locations, regions: w.spec.regions } : w.spec;
  const options = Object.entries(w.options).filter(([name]) => name !== "scroll" && !without.includes(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([w.run, w.coloursOf, w.view, options, spec, Math.round(w.width), Math.round(w.height)]);
}

// What labels and margins take of a picture's width is known once it is drawn. A page that is loaded
// again asks with it at once, and so for the same picture.

const insetKey = (w: Wants) => `parallax.inset.${w.run}.${w.view}.${Math.round(w.width)}`;

interface Inset {
  inset: number;
  /** What of it is at the left, for labels of rows; 0: not known for what is wanted. */
  left: number;
}

function keptInset(w: Wants): Inset | null {
  try {
    const [inset, left] = (globalThis.sessionStorage?.getItem(insetKey(w)) ?? "").split(" ").map(Number);
    return inset && left !== undefined ? { inset, left } : null;
  } catch {
    return null;
  }
}

function keepInset(w: Wants, { inset, left }: Inset): void {
  try {
    globalThis.sessionStorage?.setItem(insetKey(w), `${inset} ${left}`);
  } catch {
    // The next load asks without.
  }
}
