// The regions, by role, with their colours and their shares of the time that the heading names.

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { RegionRow, RegionSummary, Role } from "../api/types";
import { ChoiceList, type RowAttributes } from "../widget/choice-list";
import { useBench } from "./context";
import { Apart } from "./apart";
import { charsIn, formatCount, formatShare, formatUnit, middle, noName, thousands } from "./format";
import { regionNames } from "./region-name";
import { useSummary } from "./summary";
import type { Workbench } from "./workbench";

const rowHeight = 24;
// What stands beside a name in its row, in pixels.
const beside = 88;
export const roles: Role[] = ["compute", "communication", "synchronization", "io", "copy", "overhead", "idle", "annotation"];

/** A line of the list: a role with what belongs to it, or a region. */
export type RegionLine =
  | { role: Role; count: number; share: number; closed: boolean }
  | { region: RegionRow; time: number; share: number | null; calls: number | null };

/** The lines of the list: roles in a fixed order, regions by time, the greatest first. */
export function regionLines(regions: readonly RegionRow[], totals: ReadonlyMap<number, RegionSummary>, filter: string, closed: ReadonlySet<Role>): RegionLine[] {
  const wanted = filter.trim().toLowerCase();
  const hits = wanted === "" ? regions : regions.filter((r) => r.name.toLowerCase().includes(wanted) || r.category.toLowerCase().includes(wanted));
  const lines: RegionLine[] = [];
  for (const role of roles) {
    const own = hits.filter((r) => r.role === role).map((region) => {
      const t = totals.get(region.id);
      return { region, time: t?.exclusive ?? 0, share: t?.share ?? null, calls: t ? t.count : 0 };
    });
    if (own.length === 0) continue;
    own.sort((a, b) => b.time - a.time || (b.calls ?? 0) - (a.calls ?? 0) || (a.region.name < b.region.name ? -1 : 1));
    const isClosed = closed.has(role) && wanted === "";
    lines.push({ role, count: own.length, share: own.reduce((s, r) => s + (r.share ?? 0), 0), closed: isClosed });
    if (!isClosed) lines.push(...own);
  }
  return lines;
}

export function RegionList() {
  const bench = useBench();
  const filter = useSignal("");
  const closed = useSignal<ReadonlySet<Role>>(new Set());
  const summary = useSummary();
  const totals = new Map(summary?.regions.map((r) => [r.id, r]) ?? []);
  const lines = regionLines(bench.regions.value, totals, filter.value, closed.value);
  const shares = summary !== null && summary.whole > 0;
  const room = charsIn(Math.abs(bench.left.value) - beside);
  const names = useMemo(() => regionNames(bench.regions.value), [bench.regions.value]);
  const apart = useMemo(() => new Apart(names.values()), [names]);
  const short = (r: RegionRow) => apart.shorten(names.get(r.id)!, room) || middle(names.get(r.id)!, room);
  return (
    <section class="side-part" aria-label="Regions">
      <header class="side-head">
        <h2>Regions</h2>
        <span class="muted">{formatCount(bench.regions.value.length)}</span>
        <input
          type="search" class="filter" placeholder="filter" aria-label="Filter regions by name" spellcheck={false} autocomplete="off"
          onInput={(e) => (filter.value = e.currentTarget.value)} onKeyDown={(e) => e.key !== "Tab" && e.stopPropagation()}
        />
      </header>
      {summary && <p class="list-head muted">{shares ? `% of ${summary.share_of}` : "exclusive"}</p>}
      {lines.length === 0 ? <p class="empty-note">{filter.value === "" ? "This run has no regions." : "No region has this in its name."}</p> : (
        <ChoiceList
          id="region" class="regions" role="listbox" label="Regions" count={lines.length} rowHeight={rowHeight}
          onChoose={(i, add) => choose(bench, patternOf(lines[i]), add)}
          row={(i, attributes) => {
            const line = lines[i];
            return "role" in line
              ? <RoleRow key={line.role} line={line} shares={shares} attributes={attributes} toggle={() => (closed.value = flip(closed.value, line.role))} />
              : <Row key={line.region.id} line={line} shares={shares} attributes={attributes} short={short(line.region)} />;
          }}
        />
      )}
    </section>
  );
}

function flip(set: ReadonlySet<Role>, role: Role): Set<Role> {
  const next = new Set(set);
  if (!next.delete(role)) next.add(role);
  return next;
}

function patternOf(line: RegionLine): string {
  return "role" in line ? `role:${line.role}` : `#${line.region.id}`;
}

/** Selects a pattern; what is selected alone is let go. */
function choose(bench: Workbench, pattern: string, add: boolean): void {
  const { regions } = bench.look.value;
  bench.choose({ regions: !add && regions.length === 1 && regions[0] === pattern ? [] : [pattern] }, add);
}

interface LineProps<L> {
  line: L;
  /** Whether there is a whole that shares can be of. */
  shares: boolean;
  attributes: RowAttributes;
}

function RoleRow({ line, shares, attributes, toggle }: LineProps<Extract<RegionLine, { role: Role }>> & { toggle: () => void }) {
  const bench = useBench();
  const chosen = bench.look.value.regions.includes(`role:${line.role}`);
  return (
    <div
      {...attributes} class={`region-row role-row ${attributes.class} ${chosen ? "chosen" : ""}`} role="option" aria-selected={chosen} title={`${line.role}: click selects all its regions, double click closes the group`}
      onClick={(e) => choose(bench, patternOf(line), e.ctrlKey || e.metaKey)} onDblClick={toggle}
    >
      <span class="name">{line.role}</span>
      {line.closed && <span class="muted">{formatCount(line.count)}</span>}
      <span class="number muted">{shares ? formatShare(line.share) : ""}</span>
    </div>
  );
}

function Row({ line, shares, attributes, short }: LineProps<Extract<RegionLine, { region: RegionRow }>> & { short: string }) {
  const bench = useBench();
  const { region, time, share, calls } = line;
  const unit = useSummary()?.unit ?? "ns";
  const chosen = bench.look.value.regions.includes(`#${region.id}`);
  const byRole = bench.look.value.regions.includes(`role:${region.role}`);
  const none = bench.look.value.regions.length === 0;
  const hovered = bench.hover.value?.region === region.id;
  const where = region.file ? `\n${region.file}${region.line > 0 ? `:${region.line}` : ""}` : "";
  return (
    <div
      {...attributes} class={`region-row ${attributes.class} ${chosen ? "chosen" : ""} ${none || chosen || byRole ? "" : "out"} ${hovered ? "hovered" : ""}`} role="option" aria-selected={chosen}
      title={`${middle(region.name, 400)}\n${region.category || region.role} · ${formatUnit(time, unit, true)} exclusive${calls === null ? "" : ` · ${thousands(calls)} calls`}${where}${where ? "\nDouble-click shows its source" : ""}`}
      onClick={(e) => choose(bench, patternOf(line), e.ctrlKey || e.metaKey)}
      onDblClick={() => { if (region.file) bench.showSource(region); }}
      onPointerEnter={() => (bench.hover.value = { panel: "regions", time: null, location: null, region: region.id })} onPointerLeave={() => (bench.hover.value = null)}
    >
      <span class="swatch" style={{ background: bench.colour(region.colour) }} />
      <bdi class="name">{short || noName}</bdi>
      <span class="number muted">{shares ? (share === null ? "" : formatShare(share)) : time > 0 ? formatUnit(time, unit) : ""}</span>
    </div>
  );
}
