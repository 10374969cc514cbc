// The control of p over the width of a panel: what the best aggregation gains and
// loses from p = 0 to 1, every p at which the picture changes, and a suggestion.

import { useEffect, useState } from "preact/hooks";
import { TickSlider, type Curve } from "../widget/tick-slider";
import { useBench } from "./context";
import type { PanelState } from "./layout";
import { requestOf } from "./panel";

interface Steps { thresholds: number[]; suggested: number; curve: Curve }

export function TradeOff({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const [steps, setSteps] = useState<Steps | null>(null);
  const given = panel.options["p"]?.[0];
  const p = given === undefined ? Number(bench.view(panel.view)?.options.find((o) => o.name === "p")?.default ?? 0.1) : Number(given);
  // The steps do not depend on p: they are asked for at p = 1, whose answer is one part.
  const request = requestOf(bench, { ...panel, options: { ...panel.options, p: ["1"] } }, null, 64, 64);
  const run = bench.runOf(panel);
  const key = JSON.stringify([run, request]);
  useEffect(() => {
    const stop = new AbortController();
    bench.api.data(run, request, { signal: stop.signal })
      .then((d) => setSteps(d.data as Steps))
      .catch(() => setSteps(null)); // the picture itself says what is wrong
    return () => stop.abort();
  }, [key]);
  return <TickSlider wide label="p" value={p} ticks={steps?.thresholds ?? []} suggested={steps?.suggested} curve={steps?.curve} set={(v) => bench.setOption(panel.id, "p", [String(v)])} />;
}
