// Which of several panels of one view shows what is asked for.

import type { Scene } from "../scene/scene";
import type { PanelState } from "./layout";

/** The picture that a panel shows now, or null. */
function sceneOf(panel: string): Scene | null {
  const host = document.getElementById(panel)?.querySelector(".picture") as { picture?: { scene: Scene | null } } | null | undefined;
  return host?.picture?.scene ?? null;
}

/** How well rows show locations: 2 has one of them, 1 has groups that may hold them. */
export function fit(rows: readonly { location: number; folded: boolean }[], locations: ReadonlySet<number>): number {
  if (rows.some((r) => locations.has(r.location))) return 2;
  return rows.some((r) => r.folded) ? 1 : 0;
}

/** The panel whose rows show the locations best; the first of those that do so equally. */
export function bestOf(list: readonly PanelState[], locations: readonly string[]): PanelState | undefined {
  if (list.length < 2 || locations.length === 0) return list[0];
  const ids = new Set(locations.filter((l) => /^#\d+$/.test(l)).map((l) => Number(l.slice(1))));
  const fits = list.map((p) => fit((sceneOf(p.id)?.frames ?? []).flatMap((f) => f.yScale.rows ?? []), ids));
  return list[fits.indexOf(Math.max(...fits))];
}
