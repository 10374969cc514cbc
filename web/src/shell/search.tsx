// Search of locations and regions by name: a choice selects, all can be selected.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { LocationHit, RegionRow, SearchResult } from "../api/types";
import { Icon } from "../widget/icon";
import { useBench } from "./context";
import { formatCount, middle } from "./format";
import type { Choice } from "./plug";

interface Hit {
  choice: Choice;
  title: string;
  note: string;
  colour?: number;
}

// A combobox with a list of its own, which the types of JSX do not foresee.
const combobox = { role: "combobox" } as object;

export function Search() {
  const bench = useBench();
  const result = useSignal<SearchResult | null>(null);
  const at = useSignal(0);
  const open = useSignal(false);
  const abort = useRef<AbortController | null>(null);
  const timer = useRef(0);
  const box = useRef<HTMLInputElement>(null);
  const ask = (query: string) => {
    clearTimeout(timer.current);
    abort.current?.abort();
    open.value = true;
    at.value = 0;
    if (query.trim() === "") {
      result.value = null;
      return;
    }
    timer.current = setTimeout(async () => {
      abort.current = new AbortController();
      try {
        result.value = await bench.api.search(bench.runID.value, query.trim(), abort.current.signal);
      } catch (e) {
        bench.reportGone(e);
      }
    }, 80) as unknown as number;
  };
  const hits = result.value ? hitsOf(result.value) : [];
  const take = (h: Hit | undefined, add: boolean) => {
    if (!h) return;
    bench.choose(h.choice, add);
    open.value = false;
    result.value = null;
    if (box.current) box.current.value = ""; // what was found is selected; the next search begins anew
    box.current?.blur();
  };
  const key = (e: KeyboardEvent) => {
    e.stopPropagation();
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      at.value = hits.length === 0 ? 0 : (at.value + (e.key === "ArrowDown" ? 1 : -1) + hits.length) % hits.length;
      e.preventDefault();
    } else if (e.key === "Enter") take(hits[at.value], e.ctrlKey || e.metaKey);
    else if (e.key === "Escape") {
      open.value = false;
      box.current!.value = "";
      result.value = null;
      box.current?.blur();
    }
  };
  const showing = open.value && result.value !== null;
  return (
    <div class="search" role="search" onFocusOut={(e) => { if (!e.currentTarget.contains(e.relatedTarget as Node)) open.value = false; }}>
      <Icon name="search" />
      <input
        id="search" ref={box} type="search" placeholder="Search locations, regions" aria-label="Search locations and regions" autocomplete="off" spellcheck={false}
        {...combobox} aria-expanded={showing} aria-controls="search-results" aria-activedescendant={showing && hits.length > 0 ? `hit-${at.value}` : undefined}
        onInput={(e) => ask(e.currentTarget.value)} onKeyDown={key} onFocus={() => (open.value = true)}
      />
      <kbd>/</kbd>
      {showing && (
        <div class="search-results" id="search-results" role="listbox" aria-label="Found">
          {hits.length === 0 && <p class="empty-note">Nothing is called “{middle(result.value!.query, 40)}”. Parts of names are enough; letter case does not count.</p>}
          {hits.map((h, i) => (
            <button
              type="button" key={i} id={`hit-${i}`} role="option" aria-selected={i === at.value} tabIndex={-1} class={`hit ${i === at.value ? "hit-at" : ""}`}
              onPointerEnter={() => (at.value = i)} onClick={(e) => take(h, e.ctrlKey || e.metaKey)}
            >
              {h.colour !== undefined && <span class="swatch" style={{ background: bench.colour(h.colour) }} />}
              <bdi class="name">{middle(h.title, 60)}</bdi>
              <bdi class="muted name">{middle(h.note, 60)}</bdi>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function hitsOf(r: SearchResult): Hit[] {
  const location = (l: LocationHit): Hit => ({ choice: { locations: [`#${l.id}`] }, title: l.name, note: l.path === l.name ? l.kind : l.path });
  const region = (x: RegionRow): Hit => ({ choice: { regions: [`#${x.id}`] }, title: x.name, note: x.category || x.role, colour: x.colour });
  const hits = [...r.regions.slice(0, 12).map(region), ...r.locations.slice(0, 12).map(location)];
  // As a regular expression, in which every letter stands for itself and case does not count.
  const pattern = "re:(?i)" + r.query.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  if (r.regionTotal > 1) hits.push({ choice: { regions: [pattern] }, title: `All ${formatCount(r.regionTotal)} regions`, note: `with “${r.query}” in the name` });
  if (r.locationTotal > 1) hits.push({ choice: { locations: [pattern] }, title: `All ${formatCount(r.locationTotal)} locations`, note: `with “${r.query}” in the path` });
  return hits;
}
