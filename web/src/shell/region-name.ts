// Names of regions in a list, where several may have the same one.

import type { RegionRow } from "../api/types";

type Named = Pick<RegionRow, "id" | "name" | "category" | "role">;

/** Regions by id with what they are called: the category, or else the role, follows a name that several have. */
export function regionNames(regions: readonly Named[]): Map<number, string> {
  const count = new Map<string, number>();
  for (const r of regions) count.set(r.name, (count.get(r.name) ?? 0) + 1);
  return new Map(regions.map((r) => [r.id, count.get(r.name)! > 1 ? `${r.name} · ${r.category || r.role}` : r.name]));
}
