// The column at the right: the answers in words, the facts under the cursor or
// chosen, the figures of the selection, and how to read the view.

import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { onlyIDs } from "../api/ids";
import type { Fact, ViewInfo } from "../api/types";
import { Icon } from "../widget/icon";
import { Popover } from "../widget/popover";
import { CauseList } from "./cause-list";
import { clockFit, namesClockFit } from "./clocks";
import { useBench } from "./context";
import { formatRange, middle, plural, thousands } from "./format";
import { Findings } from "./findings";
import * as layout from "./layout";
import { actionOf, optionOf } from "./offer";
import { OptionForm } from "./options";
import { SourceButton } from "./source-button";
import { SummaryTable, summary } from "./summary";
import type { ShownFact, Workbench } from "./workbench";

export function Inspector() {
  const bench = useBench();
  const hovered = bench.hoverFact.value;
  const pinned = bench.pinned.value;
  return (
    <aside class="side side-right" aria-label="Inspector">
      <Findings />
      <section class="inspect inspect-facts" aria-label="Facts" aria-live="off">
        <header class="side-head">
          <h2>{hovered ? "Under the cursor" : pinned ? "Chosen" : "Inspector"}</h2>
          <span class="side-space" />
          {pinned && !hovered && <button type="button" class="plain" title="Unpin" aria-label="Unpin" onClick={() => bench.pin(null)}><Icon name="close" /></button>}
        </header>
        {hovered ?? pinned ? <FactCard shown={(hovered ?? pinned)!} actions={!hovered} /> : <p class="empty-note">Point at something in a picture: its facts appear here. A click keeps them.</p>}
      </section>
      <section class="inspect inspect-summary" aria-label="Selection">
        <header class="side-head"><h2>Selection</h2><span class="muted side-words">{selectionWords(bench)}</span></header>
        <SummaryTable />
      </section>
      <HowToRead />
    </aside>
  );
}

/** What is counted, in words. */
export function selectionWords(bench: Workbench): string {
  const { time } = bench.look.value;
  const info = bench.info.value;
  const s = summary.value?.selection;
  if (!info) return "";
  const range = time ?? bench.store.window;
  const words = [info.end > 0 ? (time || bench.look.value.trail.length > 0 ? formatRange(range.begin, range.end) : "whole run") : ""];
  const { locations, only, regions } = bench.look.value;
  const ranked = info.ranks > 0 && (info.ranks === info.rows || info.rows === 0);
  const total = ranked ? plural(info.ranks, "rank") : plural(info.rows || info.locations, "location");
  const narrowed = locations.length > 0 ? locations : only;
  const held = locations.length > 0 ? heldRows(bench, locations) : null;
  words.push(narrowed.length === 0 ? `all ${total}` : held !== null ? `${thousands(held)} of ${total}` : s ? `${thousands(s.locations)} of ${info.rows > 0 ? total : plural(info.locations, "location")}` : "some locations");
  const chosen = onlyIDs(regions) ? regions.length : s?.regions; // ids are counted at once
  words.push(regions.length > 0 && chosen !== undefined ? `${thousands(chosen)} of ${plural(info.regions, "region")}` : "all regions");
  return words.filter((w) => w !== "").join(" × ");
}

/** How many locations with intervals are chosen; null where that is not known yet, or only to the server, or there are none: profiles. */
function heldRows(bench: Workbench, patterns: readonly string[]): number | null {
  if (bench.info.value?.rows === 0) return null;
  return onlyIDs(patterns) ? bench.chosen.value.rows : null;
}

function FactCard({ shown, actions }: { shown: ShownFact; actions: boolean }) {
  const bench = useBench();
  const { fact } = shown;
  return (
    <div class="fact">
      <p class="fact-title"><FactSwatch fact={fact} /><bdi class="name">{middle(fact.title, 300)}</bdi></p>
      {fact.text && <p class="fact-text">{middle(fact.text, 1000)}</p>}
      <dl class="fact-lines">
        {fact.lines.map((l, i) => (
          <div key={i}>
            <dt>{l.label}</dt>
            <dd title={l.exact ? middle(l.exact, 600) : undefined}><bdi>{middle(l.value, 200)}</bdi>{actions && l.exact && l.exact !== l.value && <span class="muted exact">{middle(l.exact, 200)}</span>}</dd>
          </div>
        ))}
      </dl>
      {!fact.text && fact.count !== undefined && fact.count > 1 && <p class="muted">Aggregated: {plural(fact.count, "thing")}</p>}
      {actions && <FactActions fact={fact} bench={bench} />}
      {actions && fact.row && <CauseList />}
    </div>
  );
}

function FactSwatch({ fact }: { fact: Fact }) {
  const bench = useBench();
  const region = fact.regions?.length === 1 ? bench.region(fact.regions[0]) : undefined;
  return region ? <span class="swatch" style={{ background: bench.colour(region.colour) }} /> : null;
}

function FactActions({ fact, bench }: { fact: Fact; bench: Workbench }) {
  const hasTime = fact.begin !== undefined && fact.end !== undefined && fact.end > fact.begin;
  const time = { begin: fact.begin ?? 0, end: fact.end ?? 0 };
  const margin = (time.end - time.begin) * 0.1;
  return (
    <div class="fact-actions">
      {hasTime && <button type="button" onClick={() => bench.store.zoom({ begin: time.begin - margin, end: time.end + margin })}>Zoom to it</button>}
      {hasTime && <button type="button" onClick={() => bench.store.select({ time })}>Select its time</button>}
      {!!fact.regions?.length && !has(bench.look.value.regions, fact.regions) && <button type="button" onClick={() => bench.choose({ regions: fact.regions!.map((id) => `#${id}`) })}>Select region</button>}
      {fact.regions?.length === 1 && <SourceButton region={bench.region(fact.regions[0])} />}
      {fact.link && <a class="button" href={fact.link} rel="noreferrer">Open in editor</a>}
      {fact.locations?.length === 1 && bench.timelinePanel && <PinButton id={fact.locations[0]} bench={bench} />}
      {!!fact.locations?.length && !has(bench.look.value.locations, fact.locations) && <button type="button" onClick={() => bench.choose({ locations: fact.locations!.map((id) => `#${id}`) })}>Select {fact.locations.length > 1 ? "locations" : "location"}</button>}
    </div>
  );
}

function PinButton({ id, bench }: { id: number; bench: Workbench }) {
  const pinned = bench.isPinned(id);
  return <button type="button" aria-pressed={pinned} onClick={() => bench.pinRow(id)}>{pinned ? "Unpin its row" : "Pin its row"}</button>;
}

function has(patterns: readonly string[], ids: number[]): boolean {
  return ids.every((id) => patterns.includes(`#${id}`));
}

/** Does what a note names as a flag. */
export function NoteButton({ note, panel, view }: { note: string; panel: string; view: ViewInfo }) {
  const bench = useBench();
  const action = actionOf(note, view.options);
  const fit = namesClockFit(note) ? clockFit(bench) : null;
  if (fit && fit.off === "") return <button type="button" class="note-action" title={fit.note} onClick={fit.run}>{fit.label}</button>;
  const named = action ? null : optionOf(note, view.options);
  if (named) {
    return (
      <Popover title={`${named.name}: ${named.help}`} named class="note-action" align="right" label={`${named.name}…`}>
        {() => <OptionForm view={{ ...view, options: [named] }} values={layout.findPanel(bench.layout.value, panel)?.options ?? {}} set={(n, v) => bench.setOption(panel, n, v)} />}
      </Popover>
    );
  }
  if (!action) return null;
  return <button type="button" class="note-action" title={`--${action.option} ${action.value}`} onClick={() => bench.setOption(panel, action.option, [action.value])}>{action.label}</button>;
}

const open = signal(false);

function HowToRead() {
  const bench = useBench();
  useEffect(() => effect(() => { if (bench.howTo.value !== "") open.value = true; }), []);
  useEffect(() => effect(() => { void bench.focused.value; bench.howTo.value = ""; }), []);
  const view = bench.view(bench.howTo.value || bench.focusedPanel?.view || "");
  if (!view) return null;
  const notes = bench.howTo.value === "" || bench.howTo.value === bench.focusedPanel?.view ? (bench.notes.value[bench.focused.value] ?? []) : [];
  return (
    <section class="inspect inspect-howto" aria-label="How to read this view">
      <header class="side-head">
        <h2><button type="button" class="plain" aria-expanded={open.value} onClick={() => (open.value = !open.value)}><Icon name={open.value ? "down" : "right"} />How to read: {view.title}</button></h2>
      </header>
      {notes.length > 0 && <ul class="notes" aria-label={`Notes of ${view.title}`}>{notes.slice(0, 6).map((n) => <li key={n}>{middle(n, 300)}<NoteButton note={n} panel={bench.focused.value} view={view} /></li>)}</ul>}
      {open.value && (
        <div class="howto">
          {(view.howToRead || view.summary).split(/\n\n+/).map((p, i) => <p key={i}>{p}</p>)}
          <p><a href={`docs/views/${view.name}.html`} target="_blank" rel="noopener">Its page in the documentation</a></p>
          {view.paper && <p class="muted">After: {view.paper}</p>}
        </div>
      )}
    </section>
  );
}
