// Regions of one run in another: they have other numbers there, and the same names.

import { idsOf } from "../api/ids";
import type { RegionRow } from "../api/types";

type Named = Pick<RegionRow, "id" | "name">;

/** The regions of `to` that have the names of those of `from` with these ids. */
export function sameRegions(ids: readonly number[], from: readonly Named[], to: readonly Named[]): number[] {
  const wanted = new Set(ids);
  const names = new Set(from.filter((r) => wanted.has(r.id)).map((r) => r.name));
  return to.filter((r) => names.has(r.name)).map((r) => r.id);
}

/** A choice of regions, as the selection has it, in another run; null where that has none of them. */
export function choiceIn(chosen: readonly string[], from: readonly Named[], to: readonly Named[]): string[] | null {
  const ids = new Set(idsOf(chosen).map((id) => `#${id}`));
  const patterns = chosen.filter((c) => !ids.has(c)); // words mean the same in every run
  const out = [...patterns, ...sameRegions(idsOf(chosen), from, to).map((id) => `#${id}`)];
  return out.length > 0 ? out : null;
}
