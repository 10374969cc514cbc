// The facts of an item of which there are very many, from columns. As Brief.Fact in
// internal/view/item.go.

import type { Fact, FactLine } from "../api/types";
import { formatDuration, thousands } from "./format";
import type { Briefs } from "../scene/scene";
import { noID } from "../scene/scene";

/** The fact of an item by its number; undefined where the columns do not have it. O(blocks). */
export function briefFact(blocks: readonly Briefs[] | undefined, item: number): Fact | undefined {
  const b = blocks?.find((x) => item >= x.first && item < x.first + x.begin.length);
  if (!b) return undefined;
  const i = item - b.first;
  const { title, on, region } = b.things[b.thing[i]!]!;
  const [begin, end, count] = [b.begin[i]!, b.end[i]!, b.count?.[i] ?? 1];
  const fact: Fact = {
    title, begin, end, more: true,
    lines: [{ label: "location", value: on }, time("begin", begin, true), time("end", end, true), time("duration", end - begin)],
  };
  if (region !== noID) fact.regions = [region];
  if (count > 1) [fact.count, fact.text] = [count, `Aggregated: ${thousands(count)} intervals`];
  return fact;
}

function time(label: string, ns: number, minor = false): FactLine {
  return { label, value: formatDuration(ns), exact: `${thousands(ns)} ns`, ...(minor ? { minor } : {}) };
}
