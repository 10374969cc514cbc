// The names that layouts, and what their events are bound to, may use in the run that is open.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Bindings } from "../../api/types";
import { useBench } from "../../shell/context";
import type { Vocabulary } from "./complete";

export function useVocabulary(): Vocabulary {
  const bench = useBench();
  const [known, setKnown] = useState<Bindings>({ atomics: [], counters: [], metadata: [] });
  useEffect(() => {
    const stop = new AbortController();
    bench.api.bindings(bench.runID.value, stop.signal).then(setKnown).catch((e) => bench.reportGone(e));
    return () => stop.abort();
  }, [bench.runID.value]);
  const info = bench.info.value;
  const view = bench.view("topology");
  return useMemo(() => {
    const own = (info?.intervals ?? 0) === 0 ? (info?.metrics ?? []).map((m) => m.name).filter((m) => !known.atomics.includes(m)) : [];
    return {
      ...known, words: view?.completions ?? [], options: view?.options ?? [],
      metrics: ["exclusive", "inclusive", "calls", ...own.flatMap((m) => [m, `${m}:inclusive`])],
      regions: [...(info?.region_table ?? [])].sort((a, b) => b.exclusive - a.exclusive).map((r) => r.name),
    };
  }, [known, info, view]);
}
