// The control of p over the width of a panel: every stretch of p that has one picture,
// with what it gains and loses, and a suggestion.

import { useEffect, useState } from "preact/hooks";
import { TickSlider, type Stretch } from "../widget/tick-slider";
import { useBench } from "./context";
import type { PanelState } from "./layout";
import { requestOf } from "./request";
import { afterRest } from "./rest";

/** What the slider needs of a view's data at p = 1. */
interface Steps { stretches: Stretch[]; complete: boolean; complete_from?: number | null; first: { p: number }; suggested: number; gain: number; loss: number }

export function TradeOff({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const [steps, setSteps] = useState<Steps | null>(null);
  const given = Number(panel.options["p"]?.[0]);
  const p = Number.isFinite(given) ? given : steps?.first.p;
  // The steps do not depend on p: they are asked for at p = 1, whose answer is one part.
  const request = requestOf(bench, { ...panel, options: { ...panel.options, p: ["1"] } }, null, 64, 64);
  const run = bench.runOf(panel);
  const key = JSON.stringify([run, request]);
  useEffect(() => {
    const stop = new AbortController();
    // With the picture, which waits until the window rests.
    const ask = () => {
      bench.api.data(run, request, { signal: stop.signal, together: true })
        .then((d) => setSteps(shares(d.data as Steps)))
        .catch(() => { if (!stop.signal.aborted) setSteps(null); }); // the picture itself says what is wrong
    };
    let forget = () => {};
    if (steps === null) ask();
    else forget = afterRest(ask);
    return () => {
      forget();
      stop.abort();
    };
  }, [key]);
  // Until it is known which p the data chooses its place is kept: a bar that came later would have the picture drawn twice.
  if (p === undefined) return <span style={{ visibility: "hidden" }} aria-hidden="true"><TickSlider label="p" value={0} stretches={[]} set={() => undefined} /></span>;
  return <TickSlider label="p" value={p} stretches={steps?.stretches ?? []} suggested={steps?.suggested} cut={cutText(steps)} set={(v) => bench.setOption(panel.id, "p", [String(v)])} />;
}

/** Gain and loss as shares of those of the whole as one, which is the answer at p = 1. */
export function shares(s: Steps): Steps {
  const part = (x: number, whole: number) => (whole > 0 ? x / whole : 0);
  return { ...s, stretches: s.stretches.map((x) => ({ ...x, gain: part(x.gain, s.gain), loss: part(x.loss, s.loss) })) };
}

function cutText(s: Steps | null): string | undefined {
  if (!s || s.complete || s.stretches.length === 0) return undefined;
  const c = s.complete_from;
  return `stretches are listed from p = ${s.stretches[0]!.from.toPrecision(4)} on${c ? `, a deviation of ${(c * 100).toPrecision(2)} %` : ""}: there are too many below`;
}
