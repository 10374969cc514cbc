// Where the chosen locations lie in the tree. Ids are in preorder and a subtree is a
// range of ids, so that a row is found among ten thousand chosen ones by halves.

import type { LocationRow, Places } from "../api/types";

export class Chosen {
  private readonly set: ReadonlySet<number>;
  /** The topmost of the chosen, ascending, and the ends of their subtrees. */
  readonly first: readonly number[];
  readonly last: readonly number[];
  /** What they lie in, with the ends of those subtrees. */
  readonly above: ReadonlyMap<number, number>;
  /** How many locations with intervals are chosen; null while that is not known. */
  readonly rows: number | null;
  /** The way from the top to the first of them. */
  readonly path: readonly LocationRow[];

  /** Without places, the ids stand for themselves alone until those are known. */
  constructor(readonly ids: readonly number[], places?: Places) {
    this.set = new Set(ids);
    this.first = places ? places.id : [...this.set].sort((a, b) => a - b);
    this.last = places ? places.last : this.first;
    this.above = new Map(places?.above.map((id, i) => [id, places.aboveLast[i]!]));
    this.rows = places ? places.rows : null;
    this.path = places?.path ?? [];
  }

  get size(): number {
    return this.ids.length;
  }

  isOf(ids: readonly number[]): boolean {
    return ids.length === this.ids.length && ids.every((id, i) => id === this.ids[i]);
  }

  has(id: number): boolean {
    return this.set.has(id);
  }

  /** Tells whether a location is chosen, or lies in one that is. O(log chosen) */
  holds(id: number): boolean {
    const i = atOrBefore(this.first, id);
    return i >= 0 && id <= this.last[i]!;
  }
}

/** The place of the last value that is not greater, or -1; values ascend. */
export function atOrBefore(values: readonly number[], x: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
