// Locations that the page has loaded, by row.

import type { Api } from "../api/client";
import type { LocationPage, LocationRow } from "../api/types";
import { middle } from "./format";

export class LocationBook {
  private rows = new Map<number, LocationRow>();

  constructor(private readonly api: Api, private readonly run: string) {}

  /** Those that were asked for so far, in order of id. */
  known(): LocationRow[] {
    return [...this.rows.values()].sort((a, b) => a.id - b.id);
  }

  get(id: number): LocationRow | undefined {
    return this.rows.get(id);
  }

  async page(parent: number | null, offset: number, limit: number, signal?: AbortSignal): Promise<LocationPage> {
    const page = await this.api.locations(this.run, parent, offset, limit, signal);
    this.learn(page.locations);
    return page;
  }

  learn(rows: readonly LocationRow[]): void {
    for (const r of rows) this.rows.set(r.id, r);
  }
}

/** The name of a location for people: its rank where the name does not tell it. */
export function locationTitle(r: LocationRow): string {
  if (r.rank === null || new RegExp(`(^|\\D)${r.rank}(\\D|$)`).test(r.name)) return r.name;
  return r.kind === "process" ? `${r.name} · rank ${r.rank}` : r.name;
}

/** The name in so many characters: what stands in brackets behind a number gives way first, since the number tells them apart: "thread 25738 (python)". */
export function shortTitle(r: LocationRow, most: number): string {
  const title = locationTitle(r);
  return middle(title.length > most ? title.replace(/(\d) \([^()]*[A-Za-z][^()]*\)$/, "$1") : title, most);
}
