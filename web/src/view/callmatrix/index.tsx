// callmatrix: callers × callees. A click on the name of a caller shows only what it
// calls, one on the name of a callee only who calls it, and a second one everything
// again, as the paper walks through its example. With Ctrl the region is hidden.
// What one caller calls can be shown as boxes beside it.

import { noID, type Row } from "../../scene/scene";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import type { OptionChange, ViewPlug } from "../../shell/plug";

export const callmatrix: ViewPlug = {
  name: "callmatrix",
  follow: { time: "selection", locations: "filter", regions: "context" },
  choose: (fact) => ({
    ...(fact.locations?.length ? { locations: fact.locations.map((id) => `#${id}`) } : {}),
    ...(fact.regions?.length ? { regions: fact.regions.map((id) => `#${id}`) } : {}),
  }),
  chooseRow: (row, panel, add) => (add ? hideRegion(row, panel) : focusCallee(row, panel)),
  chooseColumn: (column, panel, add) => (add ? hideRegion(column, panel) : focusCaller(column, panel)),
  Controls,
};

/** Focuses on the calls that a region makes, or on all again. The virtual root has no region. */
export function focusCaller(column: Row, panel: PanelState): OptionChange[] | null {
  const id = column.region === noID ? "root" : `#${column.region}`;
  const focused = (panel.options.caller ?? []).includes(id);
  return [{ option: "caller", values: focused ? [] : [id] }];
}

/** Focuses on the calls of a region by any caller, or on all again. */
export function focusCallee(row: Row, panel: PanelState): OptionChange[] | null {
  if (row.region === noID) return null;
  const id = `#${row.region}`;
  const focused = panel.options.top?.[0] === "1" && (panel.options.keep ?? []).includes(id);
  return [{ option: "keep", values: focused ? [] : [id] }, { option: "top", values: focused ? [] : ["1"] }];
}

/** Leaves a region out. */
export function hideRegion(row: Row, panel: PanelState): OptionChange[] | null {
  if (row.region === noID) return null;
  return [{ option: "hide", values: [...new Set([...(panel.options.hide ?? []), `#${row.region}`])] }];
}

/** The categories of regions that are not collapsed yet; none where there is one alone. */
export function openCategories(regions: readonly { category: string }[], collapsed: readonly string[]): string[] {
  const all = [...new Set(regions.map((r) => r.category).filter((c) => c !== ""))].sort();
  return all.length < 2 ? [] : all.filter((c) => !collapsed.includes(`category:${c}`)).slice(0, mostCategories);
}

const mostCategories = 40;

function Collapse({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const collapsed = panel.options.collapse ?? [];
  const open = openCategories(bench.regions.value, collapsed);
  if (open.length === 0) return null;
  return (
    <select class="chip" aria-label="Collapse a category" title="Draw all regions of a category as one, among the others" value=""
      onChange={(e) => { if (e.currentTarget.value) bench.setOption(panel.id, "collapse", [...collapsed, `category:${e.currentTarget.value}`]); }}>
      <option value="">collapse…</option>
      {open.map((c) => <option key={c} value={c}>{c}</option>)}
    </select>
  );
}

function Controls({ panel }: { panel: PanelState }) {
  return <><Collapse panel={panel} /><AsBoxes panel={panel} /></>;
}

function AsBoxes({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const { caller, path, metric } = panel.options;
  if (!caller?.length) return null;
  const options = { caller, ...(path?.length ? { path } : {}), ...(metric?.length && metric[0] !== "calls" ? { metric } : {}) };
  return (
    <button type="button" class="chip" title="Show the callees of this caller as box plots, next to the matrix" onClick={() => bench.addView("boxprofile", "right", panel.id, options)}>
      as boxes
    </button>
  );
}
