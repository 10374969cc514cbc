// What is selected, in figures: per region calls, exclusive time, its mean and quantiles a call. Asked
// for once by the page and shared by the inspector, the region list and the status.

import { effect, signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { RegionSummary, Summary } from "../api/types";
import { useBench } from "./context";
import { Apart } from "./apart";
import { charsIn, formatCount, formatUnit, middle, noName, thousands } from "./format";
import { regionNames } from "./region-name";
import { afterRest } from "./rest";
import { countedSpec } from "./scope";
import { afterPictures } from "./urgent";
import type { Workbench } from "./workbench";

/** The summary of the moment; the last one stays until the next is there. */
export const summary = signal<Summary | null>(null);
const note = signal("");

export function useSummary(): Summary | null {
  return summary.value;
}


/** Keeps the summary up to date; called once. */
export function followSelection(bench: Workbench): void {
  let stop = () => {};
  let seq = 0;
  let abort = new AbortController();
  effect(() => {
    const run = bench.runID.value;
    const spec = countedSpec(bench.look.value);
    void bench.comebacks.value;
    stop();
    abort.abort();
    if (run === "") {
      summary.value = null;
      return;
    }
    const askNow = async () => {
      abort = new AbortController();
      const mine = ++seq;
      if (summary.peek() === null) await afterPictures(bench);
      if (mine !== seq) return;
      try {
        const s = await bench.api.summary(run, spec, { panel: "summary", seq: mine, signal: abort.signal, together: true });
        if (mine !== seq) return;
        summary.value = s;
        note.value = "";
      } catch (e) {
        const detail = (e as { detail?: { kind: string; error: string } }).detail;
        if (detail?.kind === "aborted" || detail?.kind === "superseded") return;
        note.value = detail?.error ?? String(e);
        bench.reportGone(e);
      }
    };
    if (summary.peek() === null) void askNow();
    else stop = afterRest(() => void askNow());
  });
}

type Key = "count" | "exclusive" | "inclusive" | "mean" | "p50" | "p90" | "p98";
const columns: { key: Key; label: string; title: string }[] = [
  { key: "count", label: "calls", title: "calls that begin in the range" },
  { key: "exclusive", label: "exclusive", title: "time in the region without its callees, within the range" },
  { key: "mean", label: "mean of a call", title: "mean exclusive time of the calls that begin in the range, at full length" },
  { key: "p50", label: "p50", title: "half of these calls have less exclusive time" },
  { key: "p90", label: "p90", title: "90 % of these calls have less exclusive time" },
  { key: "p98", label: "p98", title: "98 % of these calls have less exclusive time" },
  { key: "inclusive", label: "inclusive", title: "time in the region with its callees, within the range; recursion counts once" },
];
const most = 40;
// What stands beside a name on a side of the usual width, in pixels.
const beside = 190;

/** What has any part in the selection: also a region whose time is all in what it calls. */
export function occurring(rows: RegionSummary[]): RegionSummary[] {
  return rows.filter((r) => (r.count ?? 0) > 0 || r.exclusive > 0 || r.inclusive > 0);
}

export function SummaryTable() {
  const bench = useBench();
  const sort = useSignal<Key>("exclusive");
  const all = useSignal(false);
  const names = useMemo(() => regionNames(bench.regions.value), [bench.regions.value]);
  const s = summary.value;
  if (note.value !== "") return <p class="empty-note">{note.value}</p>;
  if (!s) return <p class="empty-note">Counting…</p>;
  const rows = occurring(s.regions).sort((a, b) => (b[sort.value] ?? -1) - (a[sort.value] ?? -1));
  if (bench.regions.value.length === 0) return <p class="empty-note">This run has no regions to add up.</p>;
  if (rows.length === 0) return <p class="empty-note">Nothing happens in this selection. Esc clears it, Ctrl+Z goes back.</p>;
  const shown = all.value ? rows.slice(0, 2000) : rows.slice(0, most);
  const room = charsIn(Math.abs(bench.right.value) - beside);
  const nameOf = (r: RegionSummary) => names.get(r.id) ?? r.name;
  const apart = new Apart(shown.map(nameOf));
  return (
    <>
      <div class="summary-scroll" tabIndex={0} role="group" aria-label="Figures of the selection">
        <table class="summary">
          <thead>
            <tr>
              <th scope="col">region</th>
              {columns.map((c) => (
                <th key={c.key} scope="col" class="number" aria-sort={sort.value === c.key ? "descending" : "none"}>
                  <button type="button" class="plain" title={`${c.title}; click sorts`} onClick={() => (sort.value = c.key)}>{c.label}{sort.value === c.key ? " ↓" : ""}</button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{shown.map((r) => <SummaryRow key={r.id} r={r} name={nameOf(r)} unit={s.unit} bench={bench} short={apart.shorten(nameOf(r), room) || middle(nameOf(r), room)} />)}</tbody>
        </table>
      </div>
      {rows.length > shown.length && <button type="button" class="plain more" onClick={() => (all.value = true)}>{formatCount(rows.length - shown.length)} more…</button>}
      {!s.exact && s.note && <p class="empty-note">{s.note}</p>}
    </>
  );
}

function SummaryRow({ r, name, unit, bench, short }: { r: RegionSummary; name: string; unit: string; bench: Workbench; short: string }) {
  const chosen = bench.look.value.regions.includes(`#${r.id}`);
  const cell = (c: (typeof columns)[number]) => {
    const v = r[c.key];
    const exact = v === null ? (c.key === "count" ? "the source does not count calls" : "no calls") : c.key === "count" ? `${thousands(v)} calls` : formatUnit(v, unit, true);
    return <td key={c.key} class="number" title={exact}>{v === null ? "–" : c.key === "count" ? formatCount(v) : formatUnit(v, unit)}</td>;
  };
  return (
    <tr class={chosen ? "chosen" : ""} onClick={(e) => bench.choose({ regions: chosen && !e.ctrlKey ? [] : [`#${r.id}`] }, e.ctrlKey || e.metaKey)}>
      <th scope="row" title={middle(name, 400)}>
        <span class="summary-name"><span class="swatch" style={{ background: bench.colour(r.colour) }} /><bdi class="name">{short || noName}</bdi></span>
      </th>
      {columns.map(cell)}
    </tr>
  );
}
