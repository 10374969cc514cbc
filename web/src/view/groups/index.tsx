// groups: all locations of the run are compared, whatever is chosen elsewhere; a
// click on a group chooses its members in all panels, and a button in the panel's
// head orders the locations of all panels by the groups that it shows.

import type { SelectionSpec } from "../../api/types";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import { requestOf } from "../../shell/request";
import type { ViewPlug } from "../../shell/plug";
import type { Scene } from "../../scene/scene";

export const groups: ViewPlug = {
  name: "groups",
  follow: { time: "selection", locations: "context", regions: "filter" },
  choose: (fact) => (fact.locations?.length ? { locations: fact.locations.map((id) => `#${id}`) } : {}),
  Controls,
};

/** The groups that a panel shows, as --arrange names them. The whole run needs no time. */
export function arrangementOf(options: PanelState["options"], selection: SelectionSpec, end: number): string {
  const parts: string[] = [];
  for (const name of ["similarity", "k", "threshold", "closure", "seed", "group"]) {
    const value = options[name]?.[0];
    if (value !== undefined && value !== "") parts.push(`${name}=${value}`);
  }
  const from = Number(selection.from ?? 0);
  const to = Number(selection.to ?? end);
  if (from > 0 || to < end) parts.push(`time=${from}..${to}`);
  const escaped = (p: string) => p.replaceAll(",", "%2C");
  for (const p of selection.locations ?? []) parts.push(`location=${escaped(p)}`);
  for (const p of selection.regions ?? []) parts.push(`region=${escaped(p)}`);
  return parts.length === 0 ? "groups" : `groups:${parts.join(",")}`;
}

function Controls({ panel, scene }: { panel: PanelState; scene: Scene | null }) {
  const bench = useBench();
  if (bench.isForeign(panel)) return null; // groups of another run say nothing of this one's rows
  const these = arrangementOf(panel.options, requestOf(bench, panel, scene, 64, 64).selection ?? {}, bench.info.value?.end ?? 0);
  const on = bench.arrange.value === these;
  return (
    <button type="button" class="chip" aria-pressed={on} title={on ? "Back to the order of the tree, in all panels" : "Order the locations of all panels by these groups"}
      onClick={() => bench.setArrange(on ? "" : these)}>
      {on ? "rows are in this order" : "order rows by these groups"}
    </button>
  );
}
