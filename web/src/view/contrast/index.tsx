// contrast: why the selection is different. Set A is the selection and follows it,
// until it is kept; a kept set stays while other things are selected, so that one
// can be held against the other.

import { packIDs } from "../../api/ids";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";
import type { Look } from "../../shell/selection";
import { Menu, type MenuItem } from "../../widget/menu";

export const contrast: ViewPlug = {
  name: "contrast",
  follow: { time: "selection", locations: "filter", regions: "context" },
  choose: (fact) => (fact.regions?.length ? { regions: fact.regions.map((id) => `#${id}`) } : {}),
  Controls,
};

/** The selection as parts of --a or --b; empty where nothing is selected. */
export function partsOf(look: Look): string[] {
  const parts = packIDs(look.locations.length > 0 ? look.locations : look.only);
  if (look.time) parts.push(`time=${look.time.begin}..${look.time.end}`);
  return parts;
}

function Controls({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const kept = (name: string) => (panel.options[name]?.length ?? 0) > 0;
  const keep = (name: "a" | "b") => {
    const parts = partsOf(bench.look.value);
    if (parts.length === 0) return bench.say("Select locations or a time first.");
    bench.setOption(panel.id, name, parts);
  };
  const others = bench.otherRuns.value;
  const against = panel.options["with"]?.[0] ?? "";
  return (
    <>
      <button type="button" class="chip" aria-pressed={kept("a")} title={kept("a") ? "A is fixed: click to follow the selection again" : "Keep the current selection as A"}
        onClick={() => (kept("a") ? bench.setOption(panel.id, "a", []) : keep("a"))}>{kept("a") ? "A is kept" : "keep A"}</button>
      <button type="button" class="chip" aria-pressed={kept("b")} title={kept("b") ? "Compare with the rest again" : "Compare with the current selection instead of the rest"}
        onClick={() => (kept("b") ? bench.setOption(panel.id, "b", []) : keep("b"))}>{kept("b") ? "B is kept" : "selection as B"}</button>
      {others.length > 0 && (
        <Menu class="chip" title="Compare with another open run" align="right" label={others.find((r) => r.id === against)?.name ?? "another run"}
          items={() => [
            { label: "The rest of this run", checked: against === "", run: () => bench.setOption(panel.id, "with", []) },
            ...others.map((r): MenuItem => ({ label: r.name, note: r.source, checked: r.id === against, run: () => bench.setOption(panel.id, "with", [r.id]) })),
          ]} />
      )}
    </>
  );
}
