// Gestures in a picture:
//
//   move            cross-hair in all panels, the facts under it
//   drag            brush a range of time, and of rows where it goes over several; a box round points where the view says so
//   Shift or middle drag, or a drag along the axis   pan
//   click           choose what is there; Ctrl adds; nothing there clears
//   double click    zoom to what is there, or open it where the view can
//   in a panel of another run those move it against the page's own
//   a view may turn its picture by dragging, and come closer by the wheel
//   one finger pans where time slides and scrolls rows, two zoom; a tap chooses;
//   one that is held and then moved brushes
//   wheel           Ctrl: zoom, Shift or sideways: pan; else rows scroll, or zoom; where panels scroll it is for them
//   arrows, Enter   the same with keys: move the cross-hair, choose

import type { Fact } from "../api/types";
import { movedBy, movedValue } from "./beside";
import type { Box } from "../scene/painter";
import { noID, type Frame, type Row } from "../scene/scene";
import { frameAt, isTime, locationPatterns, placeAt, regionPatterns, rowAt, rowsBetween, timeAt, toScene, valueAt, visibleWidth } from "./geometry";
import { glance } from "./glance";
import { Lasso } from "./lasso";
import { formatDuration, formatRange, plural } from "./format";
import type { Brush } from "./highlight";
import type { PanelState } from "./layout";
import type { Picture } from "./picture";
import { chooseAll, type Choice, type OptionChange, type ViewPlug } from "./plug";
import { rowHeight, scrollOf, scrollTo } from "./scroll";
import type { Range } from "./selection";
import type { Workbench } from "./workbench";

const clickSlack = 4;
/** How long a finger rests before it brushes, in ms. */
const holdAfter = 450;
/** How long after a click another makes it a double click, in ms. */
const doubleClick = 300;
/** Height that a drag must have before it takes rows and not all of them. */
const rowSlack = 14;

interface Drag {
  mode: "brush" | "pan" | "move" | "turn" | "shift" | "lasso" | "none";
  panel: PanelState;
  frame: number;
  x: number;
  y: number;
  moved: boolean;
  window: Range;
  gesture: string;
  /** A finger, and the first row shown when it came down. */
  finger: boolean;
  row: number;
}

export interface GestureHost {
  element: HTMLElement;
  panel: () => PanelState;
  plug: () => ViewPlug;
  /** The picture is of another run: it can be looked at, but nothing in it can be selected. */
  foreign: () => boolean;
  /** Draws the brush. */
  brush: (b: Brush | null) => void;
}

let gestures = 0;

export class Gestures {
  private drag: Drag | null = null;
  private brushed: Brush | null = null;
  private lasso: Lasso | null = null;
  private hold = 0;
  private rest = 0;
  private abort: AbortController | null = null;
  private wheel = { name: "", at: 0 };
  private at: { x: number; y: number } | null = null;
  /** Fingers on the picture, and what two of them do. */
  private readonly touches = new Map<number, { x: number; y: number }>();
  private pinch: { frame: number; apart: number; x: number; y: number; at: number; window: Range; gesture: string } | null = null;
  /** When the last double click was. */
  private doubled = -Infinity;
  /** When a click opened something. */
  private opened = -Infinity;
  private stops: (() => void)[] = [];

  constructor(private readonly bench: Workbench, private readonly picture: Picture, private readonly host: GestureHost) {
    this.on("pointermove", (e) => this.move(e));
    this.on("pointerleave", () => this.leave());
    this.on("pointerdown", (e) => this.down(e));
    this.on("pointerup", (e) => this.up(e));
    this.on("pointercancel", () => this.cancel());
    this.on("dblclick", (e) => {
      this.doubled = performance.now();
      void this.zoomTo(this.point(e));
    });
    this.on("wheel", (e) => this.roll(e), { passive: false });
  }

  close(): void {
    this.stops.forEach((f) => f());
    this.leave();
  }

  private on<K extends keyof HTMLElementEventMap>(type: K, f: (e: HTMLElementEventMap[K]) => void, options?: AddEventListenerOptions): void {
    this.host.element.addEventListener(type, f, options);
    this.stops.push(() => this.host.element.removeEventListener(type, f, options));
  }

  private point(e: MouseEvent): { x: number; y: number } {
    const r = this.host.element.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  }

  private frame(i: number): Frame | undefined {
    return this.picture.scene?.frames[i];
  }

  private find(x: number, y: number, slack = 0): number {
    return this.picture.shown ? frameAt(this.picture.shown, x, y, slack) : -1;
  }

  // Hovering.

  private move(e: PointerEvent): void {
    const p = this.point(e);
    if (this.touches.has(e.pointerId)) this.touches.set(e.pointerId, p);
    if (this.pinch) return this.pinchTo();
    if (this.drag) return this.dragTo(p);
    if (e.pointerType === "touch") return;
    this.hoverAt(p.x, p.y);
    const frame = this.find(p.x, p.y);
    this.host.element.style.cursor = frame >= 0 ? "crosshair" : this.labelRow(p.x, p.y) || this.labelColumn(p.x, p.y) ? "pointer" : "default";
  }

  /** Marks a point in all panels and shows its facts in the picture. If there are more, a resting pointer requests them, as a click does. */
  hoverAt(x: number, y: number): void {
    this.at = { x, y };
    const i = this.find(x, y);
    const f = this.frame(i);
    const at = toScene(this.picture.transform(i), x, y);
    const row = f ? rowAt(f.yScale.rows, at.y) : null;
    const place = f && !row ? placeAt(f, at.x, at.y) : null;
    this.bench.hover.value = f && !this.host.foreign() ? {
      panel: this.host.panel().id, time: isTime(f) ? timeAt(f, at.x) : null,
      location: row && row.location !== noID ? row.location : (place?.location ?? null), region: row && row.region !== noID ? row.region : null,
      ...(f.xScale.rows.length > 0 && f.yScale.rows.length > 0 ? { cell: at } : {}),
    } : null;
    this.stopAsking();
    const known = this.picture.known(x, y);
    this.show(known !== undefined ? known : this.picture.scene && glance(this.picture.scene, i, at.x, at.y), x, y);
    if (known === undefined || known?.more) this.rest = setTimeout(() => void this.askAt(x, y, i), this.bench.restDelay) as unknown as number;
  }

  private async askAt(x: number, y: number, frame: number): Promise<void> {
    this.abort = new AbortController();
    try {
      const fact = await this.picture.pick(x, y, frame, this.abort.signal);
      if (this.at?.x === x && this.at.y === y && fact) this.show(fact, x, y);
    } catch (e) {
      this.bench.reportGone(e);
    }
  }

  private stopAsking(): void {
    clearTimeout(this.rest);
    this.abort?.abort();
  }

  /** Shows what is under the cursor, here and in the inspector. */
  private show(fact: Fact | null, x: number, y: number): void {
    const panel = this.host.panel();
    this.bench.hoverFact.value = fact ? { fact, panel: panel.id, view: panel.view } : null;
    const hover = this.bench.hover.value;
    if (fact && hover && hover.region === null && fact.regions?.length === 1) this.bench.hover.value = { ...hover, region: fact.regions[0] };
    if (fact && !hover) {
      const one = (ids: number[] | undefined) => (ids?.length === 1 ? ids[0] : null);
      this.bench.hover.value = { panel: panel.id, time: null, location: one(fact.locations), region: one(fact.regions) };
    }
    this.bench.tip.value = fact ? { ...this.onPage(x, y), title: fact.title, lines: tipLines(fact) } : null;
  }

  private onPage(x: number, y: number): { x: number; y: number } {
    const r = this.host.element.getBoundingClientRect();
    return { x: r.left + x, y: r.top + y };
  }

  private leave(): void {
    this.stopAsking();
    this.at = null;
    if (this.bench.hover.value?.panel === this.host.panel().id) this.bench.hover.value = null;
    if (this.bench.hoverFact.value?.panel === this.host.panel().id) this.bench.hoverFact.value = null;
    if (!this.drag) this.bench.tip.value = null;
  }

  // Dragging.

  private down(e: PointerEvent): void {
    if (e.button > 1 || (e.target as HTMLElement).closest("button, a, input")) return;
    const { x, y } = this.point(e);
    if (e.pointerType === "touch" && this.touches.size < 2) this.touches.set(e.pointerId, { x, y });
    if (this.touches.size === 2) {
      this.host.element.setPointerCapture(e.pointerId);
      return this.startPinch();
    }
    const inside = this.find(x, y);
    const near = inside >= 0 ? inside : this.find(x, y, 24);
    const f = this.frame(near);
    let mode: Drag["mode"] = "none";
    const plug = this.host.plug();
    const space = plug.turn !== undefined && plug.shift !== undefined;
    if (space && !this.host.foreign() && e.button === 0 && (e.ctrlKey || e.metaKey)) mode = "lasso";
    else if (plug.shift && (e.button === 1 || e.shiftKey || !plug.turn)) mode = "shift";
    else if (plug.turn && e.button === 0) mode = "turn";
    else if (f && isTime(f) && this.picture.slides && (e.button === 1 || e.shiftKey || e.pointerType === "touch" || (inside < 0 && x >= f.x))) mode = this.host.foreign() ? "move" : "pan";
    else if (this.host.foreign()) mode = "none";
    else if (f && inside >= 0 && e.button === 0 && (isTime(f) || f.yScale.rows.length > 1)) mode = "brush";
    if (e.button === 1) e.preventDefault();
    this.host.element.setPointerCapture(e.pointerId);
    this.drag = { mode, panel: this.host.panel(), frame: near, x, y, moved: false, window: this.bench.store.window, gesture: `drag-${++gestures}`, finger: e.pointerType === "touch", row: scrollOf(this.host.panel()) };
    clearTimeout(this.hold);
    this.stopAsking();
    this.bench.tip.value = null;
    if (this.drag.finger && mode === "pan") this.hold = setTimeout(() => this.held(), holdAfter) as unknown as number;
  }

  /** A finger that rested where it came down brushes from there. */
  private held(): void {
    const d = this.drag;
    if (!d || d.moved || d.mode !== "pan") return;
    d.mode = "brush";
    this.bench.tip.value = { ...this.onPage(d.x, d.y), title: "Move the finger to select", lines: [] };
  }

  private dragTo(p: { x: number; y: number }): void {
    const d = this.drag!;
    if (!d.moved && Math.hypot(p.x - d.x, p.y - d.y) < clickSlack) return;
    d.moved = true;
    if (d.mode === "turn") return this.setOptions(this.host.plug().turn!(d.panel, p.x - d.x, p.y - d.y));
    if (d.mode === "lasso") return this.drawLasso(d, p);
    if (d.mode === "shift") return this.setOptions(this.host.plug().shift!(d.panel, (p.x - d.x) / this.side, (p.y - d.y) / this.side));
    const f = this.frame(d.frame);
    if (!f) return;
    if (d.mode === "move") {
      const by = ((p.x - d.x) / visibleWidth(this.picture.shown!, f)) * (d.window.end - d.window.begin);
      this.bench.setOption(d.panel.id, "moved", movedValue(movedBy(d.panel) + by));
    } else if (d.mode === "pan") {
      const by = ((d.x - p.x) / visibleWidth(this.picture.shown!, f)) * (d.window.end - d.window.begin);
      this.bench.store.zoom({ begin: d.window.begin + by, end: d.window.end + by }, { gesture: d.gesture });
      const { scene } = this.picture;
      const shown = d.finger && scene && this.host.plug().rowsShown?.(scene);
      if (shown) scrollTo(this.bench, d.panel, shown, d.row + Math.round((d.y - p.y) / rowHeight(scene)));
    } else if (d.mode === "brush") {
      const { box, choice, rows, values } = this.brushOf(d, f, p);
      this.brushed = { frame: d.frame, box };
      this.host.brush(this.brushed);
      const lines = choice.time ? [formatDuration(choice.time.end - choice.time.begin)] : [];
      if (rows.length > 0) lines.push(plural(rows.length, "row"));
      if (values) lines.push(`${f.yScale.label} ${formatDuration(values.begin)} to ${formatDuration(values.end)}`);
      this.bench.tip.value = { ...this.onPage(p.x, p.y), title: choice.time ? formatRange(choice.time.begin, choice.time.end) : plural(rows.length, "row"), lines: choice.time ? lines : [] };
    }
  }

  /** The line goes on to a point, drawn over the picture. */
  private drawLasso(d: Drag, p: { x: number; y: number }): void {
    this.lasso ??= new Lasso(this.host.element, d.x, d.y);
    this.lasso.to(p.x, p.y);
    this.bench.tip.value = { ...this.onPage(p.x, p.y), title: plural(this.picture.within(this.lasso.line).length, "location"), lines: [] };
  }

  /** The smaller side of the picture. */
  private get side(): number {
    const s = this.picture.scene;
    return Math.max(1, Math.min(s?.width ?? 1, s?.height ?? 1));
  }

  private setOptions(changes: OptionChange[]): void {
    for (const c of changes) this.bench.setOption(this.host.panel().id, c.option, c.values);
  }

  /** What a drag means: its box, and the selection that it makes, or the options where it goes round points. */
  private brushOf(d: Drag, f: Frame, p: { x: number; y: number }): { box: Box; choice: Choice; rows: Row[]; values?: Range; changes?: OptionChange[] } {
    const t = this.picture.transform(d.frame);
    const right = f.x + visibleWidth(this.picture.shown!, f);
    const clampX = (x: number) => Math.min(right, Math.max(f.x, x));
    const clampY = (y: number) => Math.min(f.y + f.h, Math.max(f.y, y));
    const a = toScene(t, clampX(d.x), clampY(d.y));
    const b = toScene(t, clampX(p.x), clampY(p.y));
    const choice: Choice = {};
    const overTime = isTime(f) && this.followsTime();
    const touched = brushable(rowsBetween(f.yScale.rows, a.y, b.y));
    const overRows = touched.length > 0 && (!overTime || (Math.abs(p.y - d.y) >= rowSlack && touched.length > 1 && touched.length < f.yScale.rows.length));
    if (overTime) choice.time = { begin: timeAt(f, Math.min(a.x, b.x)), end: timeAt(f, Math.max(a.x, b.x)) };
    if (overRows) {
      const locations = locationPatterns(touched);
      const regions = regionPatterns(touched);
      if (locations.length > 0) choice.locations = locations;
      if (regions.length > 0) choice.regions = regions;
    }
    if (choice.time && f.yScale.rows.length === 0 && Math.abs(p.y - d.y) >= rowSlack) {
      const values = { begin: valueAt(f, Math.max(a.y, b.y)), end: valueAt(f, Math.min(a.y, b.y)) };
      const changes = this.host.plug().enclose?.(f, choice.time, values);
      if (changes) return { box: { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), w: Math.abs(a.x - b.x), h: Math.abs(a.y - b.y) }, choice, rows: [], values, changes };
    }
    const x0 = overTime ? Math.min(a.x, b.x) : f.x;
    const x1 = overTime ? Math.max(a.x, b.x) : f.x + f.w;
    const y0 = overRows ? touched[0].from : f.y;
    const y1 = overRows ? touched[touched.length - 1].to : f.y + f.h;
    return { box: { x: x0, y: y0, w: x1 - x0, h: y1 - y0 }, choice, rows: overRows ? touched : [] };
  }

  private followsTime(): boolean {
    return this.host.plug().follow?.time !== "none";
  }

  /** Two fingers begin to zoom the time between them. */
  private startPinch(): void {
    const [a, b] = [...this.touches.values()];
    const i = this.find((a.x + b.x) / 2, (a.y + b.y) / 2, 24);
    const f = this.frame(i);
    this.cancel();
    const fingers = { apart: Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    if (this.host.plug().magnify) {
      this.pinch = { ...fingers, frame: -1, at: 0, window: this.bench.store.window, gesture: "" };
      return;
    }
    if (!f || !isTime(f) || !this.picture.slides) return;
    this.pinch = { ...fingers, frame: i, at: timeAt(f, toScene(this.picture.transform(i), fingers.x, a.y).x), window: this.bench.store.window, gesture: `pinch-${++gestures}` };
  }

  /** What is under the fingers stays under them: the picture comes closer, and moves as they do, of which one at a time is told. */
  private pinchTo(): void {
    const [a, b] = [...this.touches.values()];
    const { magnify, shift } = this.host.plug();
    if (this.pinch && magnify && b) {
      const [apart, x, y] = [Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)), (a.x + b.x) / 2, (a.y + b.y) / 2];
      this.setOptions(magnify(this.host.panel(), apart / this.pinch.apart, this.fromMiddle(this.pinch.x, this.pinch.y), this.picture.scene));
      if (shift) this.setOptions(shift(this.host.panel(), (x - this.pinch.x) / this.side, (y - this.pinch.y) / this.side));
      this.pinch = { ...this.pinch, apart, x, y };
      return;
    }
    const f = this.pinch && this.frame(this.pinch.frame);
    if (!this.pinch || !f || !b) return;
    const { window, apart, at, gesture } = this.pinch;
    const length = (window.end - window.begin) * (apart / Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)));
    const share = ((a.x + b.x) / 2 - f.x) / Math.max(1, visibleWidth(this.picture.shown!, f));
    this.bench.store.zoom({ begin: at - share * length, end: at + (1 - share) * length }, { gesture });
  }

  private up(e: PointerEvent): void {
    this.touches.delete(e.pointerId);
    clearTimeout(this.hold);
    if (this.pinch) {
      if (this.touches.size === 0) this.pinch = null;
      return;
    }
    const d = this.drag;
    this.drag = null;
    if (!d) return;
    const p = this.point(e);
    if (!d.moved) {
      if (e.button === 0) void this.click(p.x, p.y, e.ctrlKey || e.metaKey, d.frame);
      return;
    }
    const f = this.frame(d.frame);
    if (d.mode === "lasso" && this.lasso) {
      const locations = this.picture.within(this.lasso.line).map((id) => `#${id}`);
      if (locations.length > 0) this.bench.choose({ locations });
    }
    if (d.mode === "brush" && f) {
      const { choice, changes } = this.brushOf(d, f, p);
      if (changes) this.setOptions(changes);
      else this.bench.choose(choice, e.ctrlKey || e.metaKey);
    }
    this.endBrush();
  }

  private cancel(): void {
    clearTimeout(this.hold);
    if (this.touches.size < 2) this.touches.clear();
    this.pinch = null;
    this.drag = null;
    this.endBrush();
  }

  private endBrush(): void {
    this.lasso?.remove();
    this.lasso = null;
    this.brushed = null;
    this.host.brush(null);
    this.bench.tip.value = null;
  }

  /** Escape while dragging gives the drag up. */
  escape(): boolean {
    if (!this.drag?.moved) return false;
    this.cancel();
    return true;
  }

  // Choosing.

  private labelRow(x: number, y: number): Row | null {
    const plug = this.host.plug();
    if (!plug.chooseRow || !this.picture.scene) return null;
    for (const f of this.picture.scene.frames) {
      if (x < f.x && y >= f.y && y <= f.y + f.h) return rowAt(f.yScale.rows, toScene(this.picture.transform(0), x, y).y);
    }
    return null;
  }

  /** The column whose label is at a point over a frame. */
  private labelColumn(x: number, y: number): Row | null {
    if (!this.host.plug().chooseColumn || !this.picture.scene) return null;
    for (const f of this.picture.scene.frames) {
      if (y < f.y && x >= f.x && x <= f.x + f.w) return rowAt(f.xScale.rows, toScene(this.picture.transform(0), x, y).x);
    }
    return null;
  }

  async click(x: number, y: number, add: boolean, near = this.find(x, y)): Promise<void> {
    this.host.element.closest<HTMLElement>(".panel")?.focus({ preventScroll: true });
    const panel = this.host.panel();
    const begun = performance.now();
    const column = this.labelColumn(x, y);
    const asked = column && this.host.plug().chooseColumn!(column, panel, add);
    if (asked) return this.setOptions(asked);
    const label = this.labelRow(x, y);
    if (label) {
      const changes = this.host.plug().chooseRow!(label, panel, add);
      if (changes) return this.setOptions(changes);
      if (label.location !== noID && !this.host.foreign()) return this.bench.choose({ locations: [`#${label.location}`] }, add);
    }
    try {
      const fact = await this.picture.pick(x, y, this.find(x, y) >= 0 ? near : -1);
      if (!fact) {
        this.bench.pin(null);
        if (!add && !this.bench.store.isEmpty && !this.host.foreign()) this.bench.store.clear();
        return;
      }
      if (fact.open && this.host.plug().opens && !add) return this.openAt(fact, panel);
      // What a double click opens is not selected by its first half.
      if (fact.open && !this.host.plug().opens && !(await this.single(begun))) return;
      this.bench.pin({ fact, panel: panel.id, view: panel.view });
      const choice = (this.host.plug().choose ?? chooseAll)(fact);
      if (fact.compare) return this.bench.openAgainst(fact.compare);
      if (this.host.foreign()) {
        const own = await this.bench.fromForeign(panel, fact);
        if (choice.regions && own.regions) this.bench.choose(own, add);
      } else this.bench.choose(choice, add);
    } catch (e) {
      this.bench.report(e);
    }
  }

  /** Opens what a click found; the second half of a double click opens nothing further. */
  private openAt(fact: Fact, panel: PanelState): void {
    if (performance.now() - this.opened < doubleClick) return;
    this.opened = performance.now();
    this.bench.pin({ fact, panel: panel.id, view: panel.view });
    this.setOptions(Object.entries(fact.open!).map(([option, value]) => ({ option, values: value === "" ? [] : [value] })));
  }

  /** Waits whether a click becomes a double click; true where it does not. */
  private async single(begun: number): Promise<boolean> {
    await new Promise((f) => setTimeout(f, Math.max(0, begun + doubleClick - performance.now())));
    return this.doubled < begun;
  }

  /** Zooms to what is at a point: to its time, or else to its locations. */
  async zoomTo(p: { x: number; y: number }): Promise<void> {
    if (this.host.foreign() || this.host.plug().opens) return;
    const i = this.find(p.x, p.y);
    const f = this.frame(i);
    try {
      const fact = await this.picture.pick(p.x, p.y, i);
      const w = this.bench.store.window;
      const onTime = f && isTime(f);
      if (fact?.open) {
        this.setOptions(Object.entries(fact.open).map(([option, value]) => ({ option, values: value === "" ? [] : [value] })));
      } else if (fact?.begin !== undefined && fact.end !== undefined && fact.end - fact.begin < (w.end - w.begin) * 0.95 && fact.end > fact.begin) {
        const margin = (fact.end - fact.begin) * 0.1;
        this.bench.store.zoom({ begin: fact.begin - margin, end: fact.end + margin });
      } else if (onTime) {
        this.bench.store.zoomBy(0.4, timeAt(f, toScene(this.picture.transform(i), p.x, p.y).x));
      } else if (fact?.locations?.length) {
        this.bench.store.select({ only: fact.locations.map((id) => `#${id}`), locations: [] });
      }
    } catch (e) {
      this.bench.report(e);
    }
  }

  // Wheel and keys.

  /** A place in shares of the picture's smaller side, from its middle. */
  private fromMiddle(x: number, y: number): { x: number; y: number } {
    const s = this.picture.scene;
    return { x: (x - (s?.width ?? 0) / 2) / this.side, y: (y - (s?.height ?? 0) / 2) / this.side };
  }

  private roll(e: WheelEvent): void {
    const { x, y } = this.point(e);
    const i = this.find(x, y, 24);
    const f = this.frame(i);
    const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
    const sideways = e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY);
    const plain = !e.ctrlKey && !e.metaKey && !sideways;
    const rows = this.host.element.closest(".grid-scroll, .grid-rows");
    const pageScrolls = rows !== null && rows.scrollHeight > rows.clientHeight;
    if (plain && this.scrollRows(e.deltaY * unit, pageScrolls)) return e.preventDefault();
    if (plain && pageScrolls) return; // to the panels below; Ctrl zooms
    const magnify = this.host.plug().magnify;
    if (magnify) {
      e.preventDefault();
      return this.setOptions(magnify(this.host.panel(), Math.exp(-Math.max(-120, Math.min(120, e.deltaY * unit)) * 0.002), this.fromMiddle(x, y), this.picture.scene));
    }
    if (!f || !isTime(f) || !this.picture.slides) return;
    e.preventDefault();
    this.bench.tip.value = null;
    const now = performance.now();
    if (now - this.wheel.at > 400) this.wheel.name = `wheel-${++gestures}`;
    this.wheel.at = now;
    const gesture = this.wheel.name;
    if (sideways) return this.bench.store.panBy(((e.deltaX || e.deltaY) * unit) / visibleWidth(this.picture.shown!, f), { gesture });
    const factor = Math.exp(Math.max(-120, Math.min(120, e.deltaY * unit)) * (e.ctrlKey && e.deltaMode === 0 && Math.abs(e.deltaY) < 20 ? 0.01 : 0.0025));
    const moved = this.host.foreign() ? movedBy(this.host.panel()) : 0;
    this.bench.store.zoomBy(factor, timeAt(f, toScene(this.picture.transform(i), x, y).x) + moved, { gesture });
  }

  private scrolled = 0;

  /** Scrolls rows by the view's own option; false where all rows are on screen, or the last one where what is outside scrolls on. */
  private scrollRows(pixels: number, handsOn: boolean): boolean {
    const { scene } = this.picture;
    const shown = scene && this.host.plug().rowsShown?.(scene);
    if (!shown || handsOn && (pixels < 0 ? shown.first <= 0 : shown.last >= shown.total)) return false;
    this.scrolled += pixels / rowHeight(scene);
    const by = Math.trunc(this.scrolled);
    this.scrolled -= by;
    if (by !== 0) scrollTo(this.bench, this.host.panel(), shown, scrollOf(this.host.panel()) + by);
    return true;
  }

  /** Arrows turn what can be turned, + and - come closer and go back, 0 is as at first. */
  private turnByKey(e: KeyboardEvent): boolean {
    const { turn, shift, magnify } = this.host.plug();
    if (!turn || !magnify) return false;
    const panel = this.host.panel();
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (step && e.shiftKey && shift) this.setOptions(shift(panel, step[0] * 0.05, step[1] * 0.05));
    else if (step) this.setOptions(turn(panel, step[0] * 15, step[1] * 15));
    else if (e.key === "+" || e.key === "-") this.setOptions(magnify(panel, e.key === "+" ? 1.2 : 1 / 1.2, { x: 0, y: 0 }));
    else if (e.key === "0") this.bench.setOption(panel.id, "camera", []);
    else return false;
    return true;
  }

  /** Moves the cross-hair with arrow keys; true where the key was ours. */
  key(e: KeyboardEvent): boolean {
    const shown = this.picture.shown;
    const f = shown?.scene.frames[0];
    if (!shown || !f || e.ctrlKey || e.metaKey || e.altKey) return false;
    if (this.turnByKey(e)) return true;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    const w = visibleWidth(shown, f);
    const at = this.at ?? { x: f.x + w / 2, y: f.y + Math.min(f.h / 2, (f.yScale.rows[0]?.to ?? f.y + f.h) - f.y - 2) };
    if (step) {
      const rows = f.yScale.rows;
      const dy = rows.length > 1 ? rows[0].to - rows[0].from : f.h / 20;
      const fast = e.shiftKey ? 5 : 1;
      this.hoverAt(Math.min(f.x + w - 1, Math.max(f.x + 1, at.x + step[0] * fast * (w / 100))), Math.min(f.y + f.h - 1, Math.max(f.y + 1, at.y + step[1] * fast * dy)));
      return true;
    }
    if (e.key === "Enter" && e.target === this.host.element.closest(".panel")) {
      void this.click(at.x, at.y, e.shiftKey);
      return true;
    }
    return false;
  }
}

/** Rows that a brush takes: the head of an open group stands for all of it, which was not meant. */
function brushable(rows: Row[]): Row[] {
  const own = rows.filter((r) => !r.open);
  return own.length > 0 ? own : rows;
}

/** The facts worth a glance; the inspector has them all. */
function tipLines(fact: Fact): string[] {
  const lines = fact.lines.filter((l) => !l.minor).slice(0, 4).map((l) => `${l.label} ${l.value}`);
  return fact.text ? [fact.text, ...lines.slice(0, 3)] : lines;
}
