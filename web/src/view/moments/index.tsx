// moments: four moments of busy time a row. The numbers are those of the window, so
// nothing moves under the hand before the new picture is there. One click opens the
// two-state chart of the same time beside it, which shows what moments cannot.

import { useBench } from "../../shell/context";
import { addPanel, newPanel, panels, type Layout, type PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";

export const moments: ViewPlug = {
  name: "moments",
  follow: { time: "window", locations: "context", regions: "filter" },
  choose: (fact) => (fact.locations?.length ? { locations: fact.locations.map((id) => `#${id}`) } : {}),
  Controls,
};

function Controls({ panel }: { panel: PanelState }) {
  const bench = useBench();
  return (
    <button type="button" class="chip" title="Open the two-state chart of the same time: busy and not busy, with every gap where it lies"
      onClick={() => bench.setLayout(withChart(bench.layout.value, panel))}>
      two-state chart
    </button>
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
