// What the lines of a layout give for one location: the one that is chosen, else the first that is drawn.

import { useEffect, useState } from "preact/hooks";
import type { Fact } from "../../api/types";
import type { Scene, SpaceMark } from "../../scene/scene";
import { itemsOf } from "../../scene/space/runs";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import { requestOf } from "../../shell/request";

export interface Values {
  of: string;
  /** By line of the layout, from 1. */
  lines: ReadonlyMap<number, string>;
}

const none: Values = { of: "", lines: new Map() };

export function useValues(panel: PanelState, scene: Scene | null, space: SpaceMark | null): Values {
  const bench = useBench();
  const [values, setValues] = useState(none);
  const { first, last } = bench.chosen.value;
  const item = space ? (itemsOf(space, first.map((id, i) => ({ from: id, last: last[i]! })), 1)[0] ?? 0) : -1;
  useEffect(() => {
    if (!scene || item < 0) return;
    const stop = new AbortController();
    const request = requestOf(bench, panel, scene, scene.width, scene.height);
    bench.api.pickItem(bench.runOf(panel), request, item, { panel: `${panel.id}-values`, seq: ++asked, signal: stop.signal })
      .then((f) => { if (!stop.signal.aborted) setValues(f ? valuesOf(f) : none); }, () => {}); // what was shown stays
    return () => stop.abort();
  }, [scene, item]);
  return values;
}

let asked = 0;

/** A line with several assignments names them. */
export function valuesOf(fact: Fact): Values {
  const by = new Map<number, { label: string; value: string }[]>();
  for (const l of fact.lines) if (l.text) by.set(l.text, [...(by.get(l.text) ?? []), l]);
  return { of: fact.title, lines: new Map([...by].map(([line, all]) => [line, all.length === 1 ? all[0]!.value : all.map((l) => `${l.label} ${l.value}`).join(", ")])) };
}
