// Intervals found by words: how many, when, and which of them is shown. The server
// names some fifty around a place; further ones are asked for on the way.

import { signal } from "@preact/signals";
import type { Api } from "../api/client";
import type { IntervalHit, IntervalSearch } from "../api/types";
import { windowAround } from "./query-place";
import type { Range, SelectionStore } from "./selection";
import type { TrackSpan } from "./query-track";

/** What is found, and where one stands. */
export interface Found {
  query: string;
  answer: IntervalSearch;
  /** The number of the hit that is shown, of all from 0 on; -1: none yet. */
  at: number;
}

/** The hit with a number, where it is among those named. */
export function hitAt(a: IntervalSearch, number: number): IntervalHit | undefined {
  return a.hits[number - a.index];
}

/** The strip of the run where hits are: an SVG path over [0, bins) × [0, 1], longer where they are many. */
export function marksOf(bins: readonly number[]): string {
  const most = Math.max(...bins, 1);
  return bins.map((n, i) => {
    if (n === 0) return "";
    const h = 0.3 + (0.7 * Math.log1p(n)) / Math.log1p(most);
    return `M${i} 0v${h.toFixed(3)}h1v-${h.toFixed(3)}z`;
  }).join("");
}

/** What the search needs of the page. */
export interface Place {
  api: Api;
  store: SelectionStore;
  run: () => string;
  say: (words: string) => void;
  track: (spans: TrackSpan[]) => void;
  /** Shows the facts of one of them. */
  shown?: (hit: IntervalHit) => void;
}

export class IntervalFinder {
  readonly found = signal<Found | null>(null);
  private asking: AbortController | null = null;

  constructor(private readonly place: Place) {}

  /** Searches from where the window begins; nothing is shown yet. */
  async search(query: string): Promise<void> {
    const answer = await this.ask(query, this.place.store.window.begin, false);
    if (answer) this.found.value = { query, answer, at: -1 };
  }

  clear(): void {
    this.asking?.abort();
    if (!this.found.peek()) return;
    this.found.value = null;
    this.place.track([]);
  }

  /** Shows one of the hits that are named. */
  show(number: number): void {
    const f = this.found.peek();
    const hit = f && hitAt(f.answer, number);
    if (!f || !hit) return;
    this.found.value = { ...f, at: number };
    const { store } = this.place;
    const range: Range = { begin: hit.begin, end: hit.begin + hit.duration };
    store.select({ time: hit.duration > 0 ? range : null, locations: [`#${hit.location}`], regions: [`#${hit.region}`] }, { gesture: "search" });
    store.zoom(windowAround(range, store.wholeRun, store.window), { gesture: "search" });
    this.place.shown?.(hit);
    this.place.track(f.answer.hits.map((h) => ({ begin: h.begin, end: h.begin + h.duration, location: h.location })));
  }

  /** Shows the next hit, or the one before; the first one is the next after the window's begin. */
  async step(by: -1 | 1): Promise<void> {
    const f = this.found.peek();
    if (!f || f.answer.count === 0) return;
    const number = f.at < 0 ? f.answer.index - (by < 0 ? 1 : 0) : f.at + by;
    if (number < 0 || number >= f.answer.count) return this.place.say(by < 0 ? "That is the first one found." : "That is the last one found.");
    if (!hitAt(f.answer, number)) {
      const answer = await this.further(f, by, number);
      if (!answer) return;
      this.found.value = { ...f, answer };
    }
    this.show(number);
  }

  /** Asks for the hits on one side of those that are named. Where more begin at one time than are named at once, the rest of these is passed over. */
  private async further(f: Found, by: -1 | 1, number: number): Promise<IntervalSearch | null> {
    const { hits } = f.answer;
    const edge = by > 0 ? (hits.at(-1)?.begin ?? this.place.store.window.begin) : (hits[0]?.begin ?? this.place.store.wholeRun.end) + 1;
    for (const at of [edge, edge + by]) {
      const answer = await this.ask(f.query, at, by < 0);
      if (!answer || hitAt(answer, number)) return answer;
      if (at !== edge && answer.hits.length > 0) {
        this.found.value = { ...f, answer, at: by > 0 ? answer.index : answer.index + answer.hits.length - 1 };
        this.show(this.found.peek()!.at);
        return null;
      }
    }
    return null;
  }

  private async ask(query: string, at: number, before: boolean): Promise<IntervalSearch | null> {
    this.asking?.abort();
    const mine = (this.asking = new AbortController());
    const run = this.place.run();
    const answer = await this.place.api.intervals(run, query, Math.floor(at), before, mine.signal);
    return this.asking === mine && this.place.run() === run ? answer : null;
  }
}
