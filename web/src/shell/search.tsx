// Search of locations and regions by name, and of intervals by words: a choice selects,
// all can be selected; of intervals one steps through all that are found.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiFailure } from "../api/client";
import type { LocationHit, RegionRow, SearchResult } from "../api/types";
import { Icon } from "../widget/icon";
import { useBench } from "./context";
import { formatCount, formatDuration, formatInstant, middle, thousands } from "./format";
import type { Found } from "./found";
import type { Choice } from "./plug";
import type { Workbench } from "./workbench";

interface Hit {
  /** What is selected, or the number of an interval that is shown. */
  choice: Choice | number;
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
  const wrong = useSignal("");
  const timed = (bench.info.value?.intervals ?? 0) > 0;
  const ask = (query: string) => {
    clearTimeout(timer.current);
    abort.current?.abort();
    open.value = true;
    at.value = 0;
    bench.finder.clear();
    wrong.value = "";
    if (query.trim() === "") {
      result.value = null;
      bench.searched.value = "";
      return;
    }
    timer.current = setTimeout(async () => {
      bench.searched.value = namePart(query);
      abort.current = new AbortController();
      try {
        result.value = await bench.api.search(bench.runID.value, query.trim(), abort.current.signal);
        if (timed) await bench.finder.search(query.trim());
      } catch (e) {
        if (e instanceof ApiFailure && e.detail.kind === "usage") wrong.value = e.detail.error;
        else bench.reportGone(e);
      }
    }, 120) as unknown as number;
  };
  useEffect(() => { // what was typed was asked of the run before
    clearTimeout(timer.current);
    abort.current?.abort();
    open.value = false;
    result.value = null;
    wrong.value = "";
    if (box.current) box.current.value = "";
  }, [bench.runID.value]);
  const found = bench.finder.found.value;
  const hits = result.value ? [...hitsOf(result.value), ...foundHits(bench, found)] : [];
  const step = (by: -1 | 1) => bench.finder.step(by).catch((e: unknown) => bench.reportGone(e));
  const take = (h: Hit | undefined, add: boolean) => {
    if (!h) return;
    open.value = false;
    if (typeof h.choice === "number") { // the search goes on: the next one is a key away
      bench.finder.show(h.choice);
      return;
    }
    bench.choose(h.choice, add);
    if (h.choice.regions?.length === 1) bench.flyRegion(h.choice.regions[0]!);
    bench.finder.clear();
    bench.searched.value = "";
    result.value = null;
    if (box.current) box.current.value = ""; // what was found is selected; the next search begins anew
    box.current?.blur();
  };
  const key = (e: KeyboardEvent) => {
    e.stopPropagation();
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      at.value = hits.length === 0 ? 0 : (at.value + (e.key === "ArrowDown" ? 1 : -1) + hits.length) % hits.length;
      e.preventDefault();
    } else if (e.key === "Enter" && !open.value && found) void step(e.shiftKey ? -1 : 1);
    else if (e.key === "Enter") take(hits[at.value], e.ctrlKey || e.metaKey);
    else if (e.key === "Escape") {
      open.value = false;
      bench.finder.clear();
      bench.searched.value = "";
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
        id="search" ref={box} type="search" placeholder={bench.narrow.value ? "Find" : "Search names, key=value, >5ms"} aria-label="Search locations, regions and intervals" autocomplete="off" spellcheck={false}
        {...combobox} aria-expanded={showing} aria-controls="search-results" aria-activedescendant={showing && hits.length > 0 ? `hit-${at.value}` : undefined}
        onInput={(e) => ask(e.currentTarget.value)} onKeyDown={key} onFocus={() => (open.value = true)}
      />
      {found && found.at >= 0 ? (
        <>
          <span class="found-at" role="status">{thousands(found.at + 1)} of {formatCount(found.answer.count)}</span>
          <button type="button" class="found-step" title="Previous found (Shift+N)" aria-label="Previous interval found" onClick={() => void step(-1)}>‹</button>
          <button type="button" class="found-step" title="Next found (N)" aria-label="Next interval found" onClick={() => void step(1)}>›</button>
        </>
      ) : <kbd>/</kbd>}
      {showing && (
        <div class="search-results" id="search-results" role="listbox" aria-label="Found">
          {wrong.value !== "" && <p class="empty-note">{wrong.value}</p>}
          {hits.length === 0 && wrong.value === "" && (!timed || found) && <p class="empty-note">Nothing is called “{middle(result.value!.query, 40)}”. Parts of names are enough; letter case does not count.</p>}
          {hits.map((h, i) => (
            <>
            {typeof h.choice === "number" && typeof hits[i - 1]?.choice !== "number" && <p class="hit-head">{headOf(found!)}</p>}
            <button
              type="button" key={i} id={`hit-${i}`} role="option" aria-selected={i === at.value} tabIndex={-1} class={`hit ${i === at.value ? "hit-at" : ""}`}
              onPointerEnter={() => (at.value = i)} onClick={(e) => take(h, e.ctrlKey || e.metaKey)}
            >
              {h.colour !== undefined && <span class="swatch" style={{ background: bench.colour(h.colour) }} />}
              <bdi class="name">{middle(h.title, 60)}</bdi>
              <bdi class="muted name">{middle(h.note, 60)}</bdi>
            </button>
            </>
          ))}
        </div>
      )}
    </div>
  );
}

/** The first word of a search that is part of a name, and no condition. */
export function namePart(query: string): string {
  return query.trim().split(/\s+/).find((w) => !/[<>=]/.test(w)) ?? "";
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

/** Intervals listed below the names; the others are reached by stepping. */
const mostListed = 8;

function headOf(f: Found): string {
  const where = f.answer.inAttributes.length > 0 ? ` with “${f.answer.inAttributes.join("”, “")}” in an attribute` : "";
  return `${f.answer.count === 1 ? "1 interval" : `${formatCount(f.answer.count)} intervals`}${where}, from here on; N and Shift+N step through them`;
}

function foundHits(bench: Workbench, f: Found | null): Hit[] {
  if (!f) return [];
  const span = bench.store.wholeRun.end - bench.store.wholeRun.begin;
  return f.answer.hits.slice(0, mostListed).map((h, i): Hit => ({
    choice: f.answer.index + i, title: bench.regions.value[h.region]?.name ?? "?", note: `${formatDuration(h.duration)} at ${formatInstant(h.begin, span)}, ${h.path}`, colour: bench.regions.value[h.region]?.colour,
  }));
}
