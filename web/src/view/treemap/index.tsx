// treemap: nested cells. Its head has the slider of p with a tick at every p
// where the picture changes; a click on a cell chooses its locations.

import { useEffect, useState } from "preact/hooks";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import { requestOf } from "../../shell/panel";
import type { ViewPlug } from "../../shell/plug";
import { TickSlider, type Curve } from "../../widget/tick-slider";

export const treemap: ViewPlug = {
  name: "treemap",
  follow: { time: "selection", locations: "context" },
  Controls,
};

interface Steps { thresholds: number[]; suggested: number; curve: Curve }

function Controls({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const [steps, setSteps] = useState<Steps | null>(null);
  const given = panel.options["p"]?.[0];
  const p = given === undefined ? Number(bench.view("treemap")?.options.find((o) => o.name === "p")?.default ?? 0.1) : Number(given);
  // The steps do not depend on p: they are asked for at p = 1, whose answer is one part.
  const request = requestOf(bench, { ...panel, options: { ...panel.options, p: ["1"] } }, null, 64, 64);
  const key = JSON.stringify([bench.runID.value, request]);
  useEffect(() => {
    const stop = new AbortController();
    bench.api.data(bench.runID.value, request, { signal: stop.signal })
      .then((d) => setSteps(d.data as Steps))
      .catch(() => setSteps(null)); // the picture itself says what is wrong
    return () => stop.abort();
  }, [key]);
  return <TickSlider label="p" value={p} ticks={steps?.thresholds ?? []} suggested={steps?.suggested} curve={steps?.curve} set={(v) => bench.setOption(panel.id, "p", [String(v)])} />;
}
