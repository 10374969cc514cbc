// What lies in the selected area, as questions to the run: a tab each.

import { idsOf } from "../api/ids";
import type { Chosen } from "./chosen";
import type { Look, Range } from "./selection";

export type AreaTab = "regions" | "locations" | "intervals" | "links" | "counters" | "flame";

export const areaTabs: readonly { tab: AreaTab; title: string }[] = [
  { tab: "regions", title: "By region" },
  { tab: "locations", title: "By location" },
  { tab: "intervals", title: "Intervals" },
  { tab: "links", title: "Links" },
  { tab: "counters", title: "Counters" },
  { tab: "flame", title: "Flame graph" },
];

/** The selected area: a time range, locations with all below them, regions. */
export interface Area {
  time: Range;
  /** Ranges of ids, first and last; none: all. */
  locations: readonly (readonly [number, number])[];
  regions: readonly number[];
}

/** The area of a selection: of the brushed range, or of the window. */
export function areaOf(look: Look, window: Range, chosen: Chosen, lastOf: (id: number) => number): Area {
  const time = look.time ?? window;
  const ranges = chosen.first.map((id, i): [number, number] => [id, chosen.last[i]!]);
  const locations = look.locations.length > 0 ? ranges : idsOf(look.only).map((id): [number, number] => [id, lastOf(id)]);
  return { time: { begin: Math.max(0, Math.floor(time.begin)), end: Math.ceil(time.end) }, locations, regions: idsOf(look.regions) };
}

/** Conditions on locations and regions, in columns of these names; "": all. */
function chosenIn(a: Area, location: readonly string[], region: string): string {
  const parts: string[] = [];
  if (a.locations.length > 0) {
    const of = (column: string) => a.locations.slice(0, 200).map(([from, to]) => (from === to ? `${column} = ${from}` : `${column} between ${from} and ${to}`)).join(" or ");
    parts.push(`(${location.map(of).join(" or ")})`);
  }
  if (a.regions.length > 0 && region !== "") parts.push(`${region} in (${a.regions.join(", ")})`);
  return parts.join(" and ");
}

const and = (...parts: string[]) => parts.filter((p) => p !== "").join("\n  and ");
const where = (condition: string) => (condition === "" ? "" : `\nwhere ${condition}`);

/** The question of a tab; the flame graph is a picture and has none. */
export function areaQuery(tab: AreaTab, a: Area): string {
  const { begin, end } = a.time;
  switch (tab) {
    case "regions":
      return `select region, role, sum(calls) as calls, sum(exclusive) as exclusive, sum(inclusive) as inclusive, region_id\nfrom time_in(${begin}, ${end})${where(chosenIn(a, ["location"], "region_id"))}\ngroup by region_id order by exclusive desc limit 500`;
    case "locations":
      return `select path, sum(calls) as calls, sum(exclusive) as exclusive, location\nfrom time_in(${begin}, ${end})${where(chosenIn(a, ["location"], "region_id"))}\ngroup by location order by exclusive desc limit 1000`;
    case "intervals":
      return `select region, path, begin, duration, exclusive, depth, location, region_id\nfrom intervals${where(and(`begin < ${end} and "end" > ${begin}`, chosenIn(a, ["location"], "region_id")))}\norder by duration desc limit 500`;
    case "links":
      return `select kind, from_path, to_path, from_time, duration, size, from_region, to_region, from_location, to_location\nfrom links${where(and(`from_time < ${end} and to_time >= ${begin}`, chosenIn(a, ["from_location", "to_location"], "")))}\norder by duration desc limit 500`;
    case "counters":
      return `select name, path, count(*) as samples, min(value) as least, avg(value) as mean, max(value) as most, unit, location\nfrom samples${where(and(`time >= ${begin} and time < ${end}`, chosenIn(a, ["location"], "")))}\ngroup by counter order by path, name limit 500`;
    case "flame":
      return "";
  }
}
