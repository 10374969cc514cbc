// moments: four moments of busy time a row. They are those of the time shown, so a
// brushed time is asked for anew and no part of a bar is lit up as if work lay there;
// nothing moves under the hand before the new picture is there. One click draws what was
// busy behind the bars, another opens the two-state chart of the same time beside them.

import { useBench } from "../../shell/context";
import { addPanel, newPanel, panels, type Layout, type PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";

export const moments: ViewPlug = {
  name: "moments",
  follow: { time: "selection", locations: "context", regions: "filter" },
  choose: (fact) => (fact.locations?.length ? { locations: fact.locations.map((id) => `#${id}`) } : {}),
  Controls,
};

function Controls({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const behind = panel.options["gantt"]?.[0] === "behind";
  return (
    <>
    <button type="button" class="chip" aria-pressed={behind} title="Draw the busy time of each location behind its bar"
      onClick={() => bench.setOption(panel.id, "gantt", behind ? [] : ["behind"])}>
      busy behind
    </button>
    <button type="button" class="chip" title="Open the two-state chart of the same time: busy and idle, with every gap"
      onClick={() => bench.setLayout(withChart(bench.layout.value, panel))}>
      two-state chart
    </button>
    </>
  );
}

/** The layout with a timeline in two colours on the left of the panel; as it was where there is one. */
export function withChart(layout: Layout, panel: PanelState): Layout {
  if (panels(layout).some(isChart)) return layout;
  return addPanel(layout, newPanel("timeline", { colour: ["busy"] }), panel.id, "right");
}

function isChart(p: PanelState): boolean {
  return p.view === "timeline" && p.options["colour"]?.[0] === "busy";
}
