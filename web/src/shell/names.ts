// What the page knows of locations: the rows it has seen, and where those that it
// has only an id of lie in the tree. Ids are in preorder and a subtree is a range
// of ids, so a location is found by walking down from the top.

import type { Api } from "../api/client";
import type { LocationPage, LocationRow } from "../api/types";

/** A location with its ancestors, the topmost first. */
export interface Placed {
  row: LocationRow;
  above: LocationRow[];
}

export class LocationBook {
  private rows = new Map<number, LocationRow>();
  private places = new Map<number, Promise<Placed | null>>();

  constructor(private readonly api: Api, private readonly run: string) {}

  get(id: number): LocationRow | undefined {
    return this.rows.get(id);
  }

  async page(parent: number | null, offset: number, limit: number, signal?: AbortSignal): Promise<LocationPage> {
    const page = await this.api.locations(this.run, parent, offset, limit, signal);
    for (const r of page.locations) this.rows.set(r.id, r);
    return page;
  }

  /** Where a location lies; null where there is none of that id. */
  locate(id: number): Promise<Placed | null> {
    let place = this.places.get(id);
    if (!place) {
      place = this.descend(id);
      place.catch(() => this.places.delete(id)); // asked again when the server is back
      this.places.set(id, place);
    }
    return place;
  }

  private async descend(id: number): Promise<Placed | null> {
    const above: LocationRow[] = [];
    let parent: LocationRow | null = null;
    for (let level = 0; level < 64; level++) {
      const row: LocationRow | null = await this.childHolding(parent, id);
      if (!row) return null;
      if (row.id === id) return { row, above };
      above.push(row);
      parent = row;
    }
    return null;
  }

  /** The child whose subtree holds id: a search by halves over the children's pages. */
  private async childHolding(parent: LocationRow | null, id: number): Promise<LocationRow | null> {
    const limit = 64;
    const first = parent ? parent.id + 1 : 0;
    let [low, high] = [0, parent ? parent.children : Number.MAX_SAFE_INTEGER];
    // Where all children are leaves, the id itself tells the place.
    let guess = Math.max(0, Math.min(id - first - (limit >> 1), high - limit));
    if (!parent) guess = 0;
    while (low < high) {
      const page = await this.page(parent ? parent.id : null, guess, limit);
      high = Math.min(high, page.total);
      const rows = page.locations;
      const hit = rows.find((r) => r.id <= id && id <= r.last);
      if (hit) return hit;
      if (rows.length === 0) high = Math.min(high, guess);
      else if (id < rows[0].id) high = guess;
      else low = guess + rows.length;
      guess = Math.max(low, Math.min((low + high) >> 1, high - limit));
    }
    return null;
  }
}

/** The name of a location for people: its rank where the name does not tell it. */
export function locationTitle(r: LocationRow): string {
  if (r.rank === null || new RegExp(`(^|\\D)${r.rank}(\\D|$)`).test(r.name)) return r.name;
  return r.kind === "process" ? `${r.name} · rank ${r.rank}` : r.name;
}
