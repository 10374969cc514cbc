// boxprofile: a band a region. Regions that are chosen are marked in it and not
// thrown away; locations and time narrow what is counted. A click on a region's
// name keeps it on top, whatever the order, and a second one lets it go.

import { noID, type Row } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";

export const boxprofile: ViewPlug = {
  name: "boxprofile",
  follow: { time: "selection", locations: "filter", regions: "context" },
  choose: (fact) => ({
    ...(fact.locations?.length ? { locations: fact.locations.map((id) => `#${id}`) } : {}),
    ...(fact.regions?.length ? { regions: fact.regions.map((id) => `#${id}`) } : {}),
  }),
  chooseRow: keepRow,
};

/** Keeps a region on top, or lets it go. */
export function keepRow(row: Row, panel: PanelState): { option: string; values: string[] }[] | null {
  if (row.region === noID) return null;
  const id = `#${row.region}`;
  const kept = panel.options.keep ?? [];
  return [{ option: "keep", values: kept.includes(id) ? kept.filter((p) => p !== id) : [...kept, id] }];
}
