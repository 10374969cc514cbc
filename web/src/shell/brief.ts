// What a glance tells of an item of which there are very many, from columns. As Brief.Fact in
// internal/view/item.go.

import type { Fact, FactLine } from "../api/types";
import { formatDuration, thousands } from "./format";
import type { Briefs } from "../scene/scene";
import { noID } from "../scene/scene";

/** The fact of an item by its number; undefined where the columns do not have it. O(log items). */
export function briefFact(b: Briefs | undefined, item: number): Fact | undefined {
  if (!b) return undefined;
  let [low, high] = [0, b.items.length];
  while (low < high) {
    const mid = (low + high) >> 1;
    if (b.items[mid]! < item) low = mid + 1;
    else high = mid;
  }
  if (b.items[low] !== item) return undefined;
  const [begin, end, count, region] = [b.begin[low]!, b.end[low]!, b.count?.[low] ?? 1, b.region[low]!];
  const fact: Fact = {
    title: b.title[low]!, begin, end, more: true,
    lines: [{ label: "location", value: b.on[low]! }, time("begin", begin, true), time("end", end, true), time("duration", end - begin)],
  };
  if (region !== noID) fact.regions = [region];
  if (count > 1) [fact.count, fact.text] = [count, `Aggregated: ${thousands(count)} intervals`];
  return fact;
}

function time(label: string, ns: number, minor = false): FactLine {
  return { label, value: formatDuration(ns), exact: `${thousands(ns)} ns`, ...(minor ? { minor } : {}) };
}
