// Where a row of an answer lies: a location, a region, a time, by the names of its columns.

import type { Cell, Column } from "../api/types";
import type { Range } from "./selection";

/** Where a row lies, by the names of its columns. */
export interface Place {
  locations: string[] | null;
  regions: string[] | null;
  time: Range | null;
}

const number = (v: Cell | undefined): number | null => (typeof v === "number" && Number.isFinite(v) ? v : null);

export function placeOf(columns: readonly Column[], row: readonly Cell[]): Place {
  const named = (...names: string[]) => {
    for (const n of names) {
      const v = number(row[columns.findIndex((c) => c.name.toLowerCase() === n)]);
      if (v !== null) return v;
    }
    return null;
  };
  const location = named("location", "from_location", "to_location");
  const region = named("region_id");
  const begin = named("begin", "from_time", "time");
  const length = named("duration");
  const end = named("end", "to_time") ?? (begin !== null && length !== null ? begin + length : begin);
  return {
    locations: location === null ? null : [`#${location}`],
    regions: region === null ? null : [`#${region}`],
    time: begin === null || end === null ? null : { begin: Math.min(begin, end), end: Math.max(begin, end) },
  };
}

/** The window that shows a range with what is around it. */
export function windowAround(range: Range, whole: Range, shown: Range): Range {
  const length = range.end - range.begin;
  const around = length > 0 ? Math.max(length * 8, 1000) : Math.max((shown.end - shown.begin) / 4, 1000);
  const middle = (range.begin + range.end) / 2;
  const [begin, end] = [Math.max(whole.begin, middle - around / 2), Math.min(whole.end, middle + around / 2)];
  return end - begin > (whole.end - whole.begin) * 0.9 ? whole : { begin, end };
}
