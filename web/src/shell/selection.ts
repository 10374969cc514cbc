// The one selection of the page: time range × locations × regions, and the window
// that the time axes show. Plain TypeScript: renderer, URL and tests share it.
//
//   window     what time axes show; zoom and pan move it
//   only       locations that pictures are narrowed to
//   time       the range that is brushed
//   locations  what is chosen among locations, as patterns ("#7", "rank:0-3", "node*")
//   regions    likewise among regions ("#7", "role:io", "MPI_*")
//
// Empty parts stand for everything. What is counted is the brushed range, or
// else the window.

/** A range of time, half open, in nanoseconds. */
export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** Everything that undo goes back over. */
export interface Look {
  /** Zooms from the outside in; the last is the window. Empty: the whole run. */
  readonly trail: readonly Range[];
  readonly only: readonly string[];
  readonly time: Range | null;
  readonly locations: readonly string[];
  readonly regions: readonly string[];
}

export const everything: Look = { trail: [], only: [], time: null, locations: [], regions: [] };

/** What a run shows first: all of it, its core where a few records far away stretch it, or the first of its windows where it is mostly blank. */
export function firstLook(core: readonly [number, number] | null | undefined, windows: readonly (readonly [number, number])[] = []): Look {
  return core ? { ...everything, trail: [{ begin: core[0], end: core[1] }] } : firstLookOfAll([windows]);
}

/** What runs on one time scale show first: the first window, where all of them are mostly blank. */
export function firstLookOfAll(windows: readonly (readonly (readonly [number, number])[])[]): Look {
  if (windows.length === 0 || windows.some((w) => w.length === 0)) return everything;
  return { ...everything, trail: [{ begin: Math.min(...windows.map((w) => w[0][0])), end: Math.max(...windows.map((w) => w[0][1])) }] };
}

/** How far one may zoom in. */
export const shortestWindow = 10;
const longestTrail = 6;
const longestHistory = 500;

/** The window of a look, or null for the whole run. */
export function windowOf(look: Look): Range | null {
  return look.trail.length > 0 ? look.trail[look.trail.length - 1] : null;
}

/** Changes of one gesture carry the same key and become one step of undo. */
export interface ChangeOptions {
  gesture?: string;
}

/** A step of undo that is not a look: panels that were changed. */
export interface SideStep {
  /** Steps with the same key that follow each other soon are one: dragging a splitter. "": never. */
  readonly key: string;
  readonly undo: () => void;
  readonly redo: () => void;
}

/** Parts are changes that one undo goes back over, in the order in which they were made. */
type Step = { readonly look: Look } | SideStep | { readonly parts: readonly Step[] };

/** How long after a side step another of the same key still belongs to it, in ms. */
const oneMove = 1000;

export class SelectionStore {
  /** Counts steps forward and back; a gesture that goes on is no new one. */
  steps = 0;
  private past: Step[] = [];
  private future: Step[] = [];
  private recorded = 0;
  private current: Look = everything;
  private gesture: string | undefined;
  private listeners = new Set<(look: Look) => void>();

  /** length is the length of the run in ns; windows stay inside it. */
  constructor(private length = 0) {}

  get look(): Look {
    return this.current;
  }

  /** The window that time axes show. */
  get window(): Range {
    return windowOf(this.current) ?? { begin: 0, end: this.length };
  }

  get wholeRun(): Range {
    return { begin: 0, end: this.length };
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  subscribe(f: (look: Look) => void): () => void {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  }

  /** Starts anew, without a past: another run, or what the address says. */
  reset(length: number, look: Look = everything): void {
    this.length = length;
    this.past = [];
    this.future = [];
    this.gesture = undefined;
    this.current = { ...look, trail: this.cleanTrail(look.trail), time: this.clip(look.time) };
    this.tell();
  }

  /** All looks that can be come back to, and the one shown. */
  looks(): Look[] {
    const of = (s: Step): Look[] => ("look" in s ? [s.look] : "parts" in s ? s.parts.flatMap(of) : []);
    return [this.current, ...[...this.past, ...this.future].flatMap(of)];
  }

  /** The run is a newer state of itself: another length, and each look as it is said now. Undo stays. */
  renew(length: number, now: (look: Look) => Look): void {
    this.length = length;
    const fit = (look: Look) => {
      const l = now(look);
      return { ...l, trail: this.cleanTrail(l.trail), time: this.clip(l.time) };
    };
    const step = (s: Step): Step => ("look" in s ? { look: fit(s.look) } : "parts" in s ? { parts: s.parts.map(step) } : s);
    this.past = this.past.map(step);
    this.future = this.future.map(step);
    this.current = fit(this.current);
    this.tell();
  }

  /** Takes a whole look, as a step that undo goes back over. */
  restore(look: Look): void {
    this.change({ ...look, trail: this.cleanTrail(look.trail), time: this.clip(look.time) });
  }

  /** Sets parts of the selection. */
  select(part: Partial<Pick<Look, "time" | "locations" | "regions" | "only">>, options?: ChangeOptions): void {
    const next = { ...this.current, ...part };
    if (part.time !== undefined) next.time = this.clip(part.time);
    this.change(next, options);
  }

  /** Adds a pattern to a part, or takes it away. */
  toggle(part: "locations" | "regions", pattern: string): void {
    const old = this.current[part];
    const next = old.includes(pattern) ? old.filter((x) => x !== pattern) : [...old, pattern];
    this.select({ [part]: next });
  }

  /** Clears what is selected; the window stays. */
  clear(): void {
    this.select({ time: null, locations: [], regions: [] });
  }

  get isEmpty(): boolean {
    const { time, locations, regions } = this.current;
    return time === null && locations.length === 0 && regions.length === 0;
  }

  /** Moves the window; a window inside the last one becomes a step of the trail. */
  zoom(to: Range, options?: ChangeOptions): void {
    const w = this.fit(to);
    let trail = [...this.current.trail];
    if (options?.gesture !== undefined && options.gesture === this.gesture) trail.pop();
    trail = trail.filter((r) => r.begin <= w.begin && r.end >= w.end && !same(r, w));
    if (!same(w, this.wholeRun)) trail.push(w);
    else trail = [];
    this.change({ ...this.current, trail: shorten(trail) }, options);
  }

  /** Goes back to the n-th step of the trail; -1 is the whole run. */
  back(step: number): void {
    this.change({ ...this.current, trail: this.current.trail.slice(0, step + 1) });
  }

  /** Zooms by a factor round a point in time; below 1 zooms in. */
  zoomBy(factor: number, at: number, options?: ChangeOptions): void {
    const w = this.window;
    const length = Math.max(shortestWindow, (w.end - w.begin) * factor);
    const share = w.end > w.begin ? (at - w.begin) / (w.end - w.begin) : 0.5;
    const begin = at - share * length;
    this.zoom({ begin, end: begin + length }, options);
  }

  /** Moves the window by a share of its length. */
  panBy(share: number, options?: ChangeOptions): void {
    const w = this.window;
    const d = (w.end - w.begin) * share;
    this.zoom({ begin: w.begin + d, end: w.end + d }, options);
  }

  /** The next change is a step of its own, whatever gesture it names. */
  endGesture(): void {
    this.gesture = undefined;
  }

  undo(): void {
    const last = this.past.pop();
    if (last) this.go(last, this.future, "undo");
  }

  /** Takes the steps since an earlier count back, and forgets them. */
  takeBack(steps: number): void {
    while (this.steps > steps && this.past.length > 0) {
      const now = this.steps;
      this.undo();
      this.future.pop();
      this.steps = now - 1;
    }
  }

  redo(): void {
    const next = this.future.pop();
    if (next) this.go(next, this.past, "redo");
  }

  /** Makes the changes of f one step. */
  asOneStep(f: () => void): void {
    const from = this.steps;
    f();
    const parts = this.past.splice(Math.max(0, this.past.length - (this.steps - from)));
    this.steps = from;
    if (parts.length > 0) this.push(parts.length === 1 ? parts[0] : { parts });
  }

  private go(to: Step, keep: Step[], way: "undo" | "redo"): void {
    this.steps++;
    this.gesture = undefined;
    this.recorded = 0;
    if ("parts" in to) {
      const back: Step[] = [];
      for (const part of way === "undo" ? [...to.parts].reverse() : to.parts) this.go(part, back, way);
      keep.push({ parts: way === "undo" ? back.reverse() : back });
      return;
    }
    if ("look" in to) {
      keep.push({ look: this.current });
      this.current = to.look;
      return this.tell();
    }
    keep.push(to);
    to[way]();
  }

  /** Puts a change of something else into the history, so that one undo goes back over both. */
  record(step: SideStep, now = Date.now()): void {
    const last = this.past[this.past.length - 1];
    const goesOn = step.key !== "" && last !== undefined && "key" in last && last.key === step.key && now - this.recorded < oneMove;
    if (goesOn) this.past[this.past.length - 1] = { ...step, undo: last.undo };
    else this.push(step);
    this.recorded = now;
    this.gesture = undefined;
    this.future = [];
  }

  private push(step: Step): void {
    this.steps++;
    this.past.push(step);
    if (this.past.length > longestHistory) this.past.shift();
  }

  private change(next: Look, options?: ChangeOptions): void {
    if (equal(next, this.current)) return;
    const goesOn = options?.gesture !== undefined && options.gesture === this.gesture;
    if (!goesOn) this.push({ look: this.current });
    this.gesture = options?.gesture;
    this.future = [];
    this.current = next;
    this.tell();
  }

  private tell(): void {
    for (const f of this.listeners) f(this.current);
  }

  /** A window of whole nanoseconds inside the run, with its length kept where it can be. */
  private fit(r: Range): Range {
    const length = Math.min(this.length, Math.max(shortestWindow, Math.round(r.end - r.begin)));
    const begin = Math.round(Math.min(Math.max(0, r.begin), this.length - length));
    return { begin, end: begin + length };
  }

  private clip(r: Range | null): Range | null {
    if (r === null) return null;
    const begin = Math.max(0, Math.round(r.begin));
    const end = Math.min(this.length, Math.round(r.end));
    return end > begin ? { begin, end } : null;
  }

  private cleanTrail(trail: readonly Range[]): Range[] {
    const out: Range[] = [];
    for (const r of trail) {
      if (!(r.end > r.begin) || r.begin >= this.length) continue;
      const w = this.fit(r);
      const last = out[out.length - 1] ?? this.wholeRun;
      if (w.begin >= last.begin && w.end <= last.end && !same(w, last)) out.push(w);
    }
    return shorten(out);
  }
}

/**
 * How a look is said in a newer state of its run: times moved by so many ns, since the first record may be
 * another one, and ids as they are now. What is gone is chosen no more.
 */
export function looksNow(shift: number, asked: { locations: readonly number[]; regions: readonly number[] }, now: { locations: readonly number[]; regions: readonly number[] } | null): (look: Look) => Look {
  const moved = (part: "locations" | "regions") => {
    const to = new Map(asked[part].map((id, i) => [id, now?.[part][i] ?? -1]));
    return (patterns: readonly string[]) => patterns.flatMap((p) => {
      if (!/^#\d+$/.test(p)) return [p];
      const id = to.get(Number(p.slice(1))) ?? -1;
      return id < 0 ? [] : [`#${id}`];
    });
  };
  const locations = moved("locations");
  const regions = moved("regions");
  const at = (r: Range): Range => ({ begin: r.begin + shift, end: r.end + shift });
  return (look) => ({ ...look, trail: look.trail.map(at), time: look.time && at(look.time), locations: locations(look.locations), regions: regions(look.regions), only: locations(look.only) });
}

/** Keeps the outermost and the innermost steps of a long trail. */
function shorten(trail: Range[]): Range[] {
  return trail.length <= longestTrail ? trail : [...trail.slice(0, 2), ...trail.slice(trail.length - longestTrail + 2)];
}

export function same(a: Range | null, b: Range | null): boolean {
  return a === b || (a !== null && b !== null && a.begin === b.begin && a.end === b.end);
}

function equal(a: Look, b: Look): boolean {
  const list = (x: readonly string[], y: readonly string[]) => x.length === y.length && x.every((v, i) => v === y[i]);
  return a.trail.length === b.trail.length && a.trail.every((r, i) => same(r, b.trail[i])) && same(a.time, b.time) &&
    list(a.only, b.only) && list(a.locations, b.locations) && list(a.regions, b.regions);
}
