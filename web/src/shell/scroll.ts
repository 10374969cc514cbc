// Rows of a panel that are scrolled.

import type { Scene } from "../scene/scene";
import type { PanelState } from "./layout";
import type { RowsShown } from "./plug";
import type { Workbench } from "./workbench";

/** How high the rows of a scene are, in the mean. */
export function rowHeight(scene: Scene): number {
  const rows = scene.frames.find((f) => f.yScale.rows.length > 0)?.yScale.rows ?? [];
  return Math.max(8, rows.length > 0 ? (rows[rows.length - 1]!.to - rows[0]!.from) / rows.length : 16);
}

/** The first row that a panel is scrolled to. */
export function scrollOf(panel: PanelState): number {
  return Number(panel.options.scroll?.[0] ?? 0);
}

/** Scrolls a panel's rows, no further than to the last one. */
export function scrollTo(bench: Workbench, panel: PanelState, shown: RowsShown, first: number): void {
  const to = Math.round(Math.max(0, Math.min(shown.total - (shown.last - shown.first), first)));
  if (to !== scrollOf(panel)) bench.setOption(panel.id, "scroll", to > 0 ? [String(to)] : []);
}
