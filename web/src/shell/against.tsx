// One control for all views that take two runs: the picture of this run, or the difference to
// another one that is open. A timeline has no difference: the other run is put below it, and
// laid over it where a phase begins.

import type { Layout, PanelState } from "./layout";
import { addPanel, newPanel } from "./layout";
import { middle } from "./format";
import { useBench } from "./context";
import { movedValue } from "./beside";
import type { Workbench } from "./workbench";
import { Menu, type MenuItem } from "../widget/menu";

/** Views whose own controls say what they are compared with. */
const ownControls = new Set(["compare", "scaling", "history", "calltree", "contrast"]);

export function Against({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const others = bench.otherRuns.value;
  if ((bench.view(panel.view)?.runs ?? 0) < 2 || ownControls.has(panel.view) || others.length === 0) return null;
  if (bench.isForeign(panel)) return panel.view === "timeline" ? <Align panel={panel} /> : null;
  const now = panel.options["with"]?.[0] ?? "";
  const stacks = panel.view === "timeline";
  const items = (): MenuItem[] => [
    ...(stacks ? [] : [{ label: "This run alone", checked: now === "", run: () => bench.setOption(panel.id, "with", []) }]),
    ...others.map((r): MenuItem => ({
      label: r.name, note: stacks ? "below this one, on the same time scale" : r.source, checked: r.id === now, off: r.missing[panel.view] || undefined,
      run: () => (stacks ? bench.setLayout(stacked(bench.layout.value, panel, r.id)) : bench.setOption(panel.id, "with", [r.id])),
    })),
  ];
  const name = others.find((r) => r.id === now)?.name;
  return <Menu class="chip" title="Compare with another run" align="right" label={name ? `against ${middle(name, 24)}` : "compare"} items={items} />;
}

/** The layout with the same view of another run below a panel. */
export function stacked(layout: Layout, panel: PanelState, run: string): Layout {
  const { moved: _, ...options } = panel.options;
  return addPanel(layout, newPanel(panel.view, { ...options, run: [run] }), panel.id, "below");
}

export interface PhaseTime {
  name: string;
  begin: number;
}

/** The phases of two runs that are the same: by name where names tell, else by number. */
export function samePhases(own: readonly PhaseTime[], other: readonly PhaseTime[]): { name: string; own: number; other: number }[] {
  const byName = new Map(other.map((p) => [p.name, p.begin]));
  const named = own.filter((p) => byName.has(p.name));
  if (named.length > 0) return named.map((p) => ({ name: p.name, own: p.begin, other: byName.get(p.name)! }));
  return own.slice(0, other.length).map((p, i) => ({ name: p.name, own: p.begin, other: other[i].begin }));
}

/** The phases of a run; none where time alone cuts it. */
async function phasesOf(bench: Workbench, run: string): Promise<PhaseTime[]> {
  const answer = await bench.api.data(run, { view: "phases", options: {}, selection: {}, width: 64, height: 64 });
  const d = answer.data as { by: string; phases: PhaseTime[] };
  return / equal slices$/.test(d.by) ? [] : d.phases;
}

const mostOffered = 40;

/** Moves another run so that a phase begins where it does in the page's own. */
function Align({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const run = bench.runOf(panel);
  const align = async () => {
    try {
      const same = samePhases(await phasesOf(bench, bench.runID.value), await phasesOf(bench, run));
      if (same.length === 0) return bench.say("These runs have no common phases: move this one by hand.");
      const at = same.slice(0, mostOffered).find((p) => p.own >= (bench.look.value.trail.length > 0 ? bench.store.window.begin : 0)) ?? same[0];
      lay(bench, panel, at);
    } catch (e) {
      bench.report(e);
    }
  };
  return (
    <button type="button" class="chip" title="Move this run so that the first step or iteration on screen begins where it does in the page's own" onClick={() => void align()}>
      align by phase
    </button>
  );
}

function lay(bench: Workbench, panel: PanelState, at: { name: string; own: number; other: number }): void {
  const moved = at.own - at.other;
  // What would come before the other run's beginning is left out, so that both keep one scale.
  const w = bench.look.value.trail.length > 0 ? bench.store.window : { begin: 0, end: bench.sharedEnd };
  if (moved > w.begin) bench.store.zoom({ begin: moved, end: Math.max(w.end, moved + 1) });
  bench.setOption(panel.id, "moved", movedValue(moved));
  bench.say(`${at.name} begins at the same place in both.`);
}
