// Which things stand for which locations, as runs; see scene.SpaceRun.

import type { SpaceMark } from "../scene";

/** A subtree of locations: ids from … last. */
export interface LocationRange {
  from: number;
  last: number;
}

/** The things of locations in any of the ranges, which ascend, at most so many. O(runs × log ranges + found). */
export function itemsOf(m: SpaceMark, ranges: readonly LocationRange[], most: number): number[] {
  const { runFirst, runLocation, runStep } = m;
  const out: number[] = [];
  if (!runFirst || !runLocation || !runStep) return out;
  for (let k = 0; k < runFirst.length; k++) {
    const [first, location, step] = [runFirst[k]!, runLocation[k]!, Math.max(runStep[k]!, 1)];
    const n = (runFirst[k + 1] ?? m.px.length) - first;
    for (let at = firstBeyond(ranges, location); at < ranges.length; at++) {
      const r = ranges[at]!;
      if (r.from > location + (n - 1) * step) break;
      const to = Math.min(n - 1, Math.floor((r.last - location) / step));
      for (let i = Math.max(0, Math.ceil((r.from - location) / step)); i <= to; i++) {
        if (out.length >= most) return out;
        out.push(first + i);
      }
    }
  }
  return out;
}

/** The first range that does not end before a location. */
function firstBeyond(ranges: readonly LocationRange[], location: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.last < location) low = middle + 1;
    else high = middle;
  }
  return low;
}
