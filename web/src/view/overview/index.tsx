// overview: boxes over locations and time. Its head has the slider of p.

import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";
import { TickSlider } from "../../widget/tick-slider";

export const overview: ViewPlug = {
  name: "overview",
  follow: { time: "window", locations: "context" },
  Controls,
};

const ticks = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

function Controls({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const p = Number(panel.options["p"]?.[0] ?? 0.1);
  return <TickSlider label="p" value={p} ticks={ticks} set={(v) => bench.setOption(panel.id, "p", [String(v)])} />;
}
