// The locations that a name finds, in place of the tree.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { LocationHit } from "../api/types";
import { ChoiceList } from "../widget/choice-list";
import { useBench } from "./context";
import { formatCount, middle } from "./format";

export function LocationHits({ query }: { query: string }) {
  const bench = useBench();
  const hits = useSignal<{ list: LocationHit[]; total: number } | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      bench.api.search(bench.runID.value, query, stop.signal)
        .then((r) => (hits.value = { list: r.locations, total: r.locationTotal }))
        .catch((e: unknown) => bench.reportGone(e));
    }, 80);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [query, bench.runID.value]);
  if (!hits.value) return null;
  const { list, total } = hits.value;
  if (list.length === 0) return <p class="empty-note">No location has this in its path.</p>;
  const choose = (i: number, add: boolean) => bench.choose({ locations: [`#${list[i].id}`] }, add);
  const { locations } = bench.look.value;
  return (
    <>
      <ChoiceList
        id="location-hit" role="listbox" label="Locations found" count={list.length} rowHeight={24} onChoose={choose}
        row={(i, attributes) => {
          const h = list[i];
          const chosen = locations.includes(`#${h.id}`);
          return (
            <div
              key={h.id} {...attributes} class={`region-row ${attributes.class} ${chosen ? "chosen" : ""}`} role="option" aria-selected={chosen} title={middle(h.path, 400)}
              onClick={(e) => choose(i, e.ctrlKey || e.metaKey)}
              onPointerEnter={() => (bench.hover.value = { panel: "tree", time: null, location: h.id, region: null })} onPointerLeave={() => (bench.hover.value = null)}
            >
              <bdi class="name">{middle(h.path, 80)}</bdi>
            </div>
          );
        }}
      />
      {total > list.length && <p class="empty-note">{formatCount(total)} in all; a longer name finds fewer.</p>}
    </>
  );
}
