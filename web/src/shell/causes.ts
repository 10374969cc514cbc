// From an interval to its causes and effects, along links and calls. What
// is chosen in a picture is followed; [ and ] go to the last cause and to the first effect.

import { effect, signal, type Signal } from "@preact/signals";
import type { Api } from "../api/client";
import type { Causes, Fact, IntervalHit, RegionRow, Step } from "../api/types";
import { formatBytes, formatDuration, formatInstant } from "./format";
import { windowAround } from "./query-place";
import type { TrackSpan } from "./query-track";
import type { SelectionStore } from "./selection";

/** What is needed of the workbench. */
export interface Place {
  api: Api;
  store: SelectionStore;
  runID: Signal<string>;
  track: Signal<TrackSpan[]>;
  pinned: Signal<{ fact: Fact; panel: string } | null>;
  pin(shown: { fact: Fact; panel: string; view: string }): void;
  region(id: number): RegionRow | undefined;
  say(words: string): void;
  reportGone(e: unknown): void;
}

/** What a step is called, seen from the interval it leads away from. */
export function stepWord(by: string, back: boolean): string {
  switch (by) {
    case "message": return back ? "sent by" : "received by";
    case "spawn": return back ? "started by" : "starts";
    case "wake": return back ? "woken by" : "wakes";
    case "steal": return back ? "stolen from" : "stolen by";
    case "caller": return "called by";
  }
  return back ? "follows" : "leads to";
}

/** What is known of the link, in a few words. */
export function stepDetail(s: Step): string {
  if (s.by === "caller") return formatDuration(s.duration);
  const words = [`${s.to < s.from ? "\u2212" : ""}${formatDuration(Math.abs(s.to - s.from))}`];
  if (s.size !== null) words.push(formatBytes(s.size));
  return words.join(", ");
}

export class CauseFollower {
  readonly causes = signal<Causes | null>(null);
  private asking: AbortController | null = null;

  constructor(private readonly bench: Place) {
    effect(() => {
      const row = bench.pinned.value?.fact.row;
      if (row) void this.ask(row.Location, row.Lane, row.Row);
      else this.forget();
    });
  }

  private forget(): void {
    this.asking?.abort();
    this.asking = null;
    this.causes.value = null;
  }

  private async ask(location: number, lane: number, row: number): Promise<void> {
    const known = this.causes.peek()?.of;
    if (known && known.location === location && known.lane === lane && known.row === row) return;
    this.forget();
    const mine = (this.asking = new AbortController());
    try {
      const causes = await this.bench.api.causes(this.bench.runID.peek(), location, lane, row, mine.signal);
      if (this.asking === mine) this.causes.value = causes;
    } catch (e) {
      if (this.asking === mine) this.bench.reportGone(e);
    }
  }

  /** Goes to the last cause, or to the first effect; false where nothing is followed. */
  step(by: -1 | 1): boolean {
    const c = this.causes.peek();
    if (!c) return this.asking !== null;
    const to = by < 0 ? c.causes[0] : c.effects[0];
    if (to) this.go(to);
    else this.bench.say(by < 0 ? "No known cause." : "No known effect.");
    return true;
  }

  /** Shows an interval: in the middle of the window, chosen, with its facts. */
  go(s: Step): void {
    const { store } = this.bench;
    const range = { begin: s.begin, end: s.begin + s.duration };
    store.select({ time: null, locations: [`#${s.location}`], regions: [] }, { gesture: "follow" });
    const w = store.window;
    const fits = range.begin >= w.begin && range.end <= w.end && s.duration > (w.end - w.begin) / 400;
    if (!fits) store.zoom(windowAround(range, store.wholeRun, w), { gesture: "follow" });
    this.bench.track.value = [{ ...range, location: s.location }];
    this.show(s);
  }

  /** Shows the facts of an interval that no picture was asked for. */
  show(s: IntervalHit): void {
    this.bench.pin({ fact: this.factOf(s), panel: this.bench.pinned.peek()?.panel ?? "", view: "timeline" });
  }

  private factOf(s: IntervalHit): Fact {
    const span = this.bench.store.window.end - this.bench.store.window.begin;
    const line = (label: string, value: string, exact?: number) => ({ label, value, ...(exact === undefined ? {} : { exact: `${exact} ns` }) });
    return {
      title: this.bench.region(s.region)?.name ?? "?", locations: [s.location], regions: [s.region], begin: s.begin, end: s.begin + s.duration,
      row: { Location: s.location, Lane: s.lane, Row: s.row },
      lines: [line("location", s.path), line("begin", formatInstant(s.begin, span), s.begin), line("duration", formatDuration(s.duration), s.duration)],
    };
  }
}
