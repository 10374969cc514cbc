// callmatrix: callers × callees. A click on the name of a region shows only what it
// calls, a second one everything again, as the paper walks through its example.

import { noID, type Row } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";

export const callmatrix: ViewPlug = {
  name: "callmatrix",
  follow: { time: "selection", locations: "filter", regions: "context" },
  choose: (fact) => ({
    ...(fact.locations?.length ? { locations: fact.locations.map((id) => `#${id}`) } : {}),
    ...(fact.regions?.length ? { regions: fact.regions.map((id) => `#${id}`) } : {}),
  }),
  chooseRow: focusCaller,
};

/** Focuses on the calls that a region makes, or on all again. */
export function focusCaller(row: Row, panel: PanelState): { option: string; values: string[] }[] | null {
  if (row.region === noID) return null;
  const id = `#${row.region}`;
  const focused = (panel.options.caller ?? []).includes(id);
  return [{ option: "caller", values: focused ? [] : [id] }];
}
