// The query panel: SQL over the run, and its rows. A row with a location or a time
// selects it and shows that place in all pictures.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiFailure } from "../api/client";
import type { Answer, ApiError } from "../api/types";
import { ChoiceList, type RowAttributes } from "../widget/choice-list";
import { Icon } from "../widget/icon";
import { Menu } from "../widget/menu";
import { useBench } from "./context";
import { formatUnit, middle, plural, thousands } from "./format";
import { placeOf, windowAround } from "./query-place";
import { canPlot, QueryPlot } from "./query-plot";
import { trackOf } from "./query-track";
import { columnWidths, leastWidth } from "./table-twin";
import type { Workbench } from "./workbench";

const rowHeight = 24;

/** Questions to start from. */
export const examples: readonly { title: string; sql: string }[] = [
  { title: "Most time", sql: "select region, sum(calls) as calls, sum(exclusive) as time\nfrom time_in()\ngroup by 1 order by 3 desc limit 50" },
  { title: "Longest calls", sql: "select location, path, region, begin, duration\nfrom intervals\norder by duration desc limit 100" },
  { title: "Slow messages", sql: "select from_rank, to_rank, size, from_time, duration, from_location as location\nfrom links\nwhere kind = 'message' order by duration desc limit 100" },
  { title: "p99 by region", sql: "select region, calls, mean, p50, p90, p99, max\nfrom calls()\norder by total desc limit 50" },
  { title: "Least busy", sql: "select location, path, busy, communication + synchronization as waiting, idle, none\nfrom busy()\norder by busy limit 50" },
];

const text = signal(examples[0].sql);
const answer = signal<Answer | null>(null);
const failure = signal<ApiError | null>(null);
const asking = signal<AbortController | null>(null);
const took = signal(0);
const followed = signal(-1);
const plotted = signal(false);
/** Whether rows are shown on the pictures. */
const tracked = signal(false);
/** The run that the answer is about. */
let about = "";
/** The question that was answered: the text may have changed since. */
let asked = "";

function follow(bench: Workbench, index: number): void {
  const a = answer.peek();
  if (!a || about !== bench.runID.peek()) return;
  const place = placeOf(a.columns, a.rows[index]);
  if (!place.locations && !place.regions && !place.time) return bench.say("This row has no column location, begin or time to go to.");
  followed.value = index;
  bench.store.select({ time: place.time && place.time.end > place.time.begin ? place.time : null, locations: place.locations ?? [], regions: place.regions ?? [] }, { gesture: "query" });
  if (place.time) bench.store.zoom(windowAround(place.time, bench.store.wholeRun, bench.store.window), { gesture: "query" });
}

async function run(bench: Workbench): Promise<void> {
  asking.peek()?.abort();
  const mine = new AbortController();
  const id = bench.runID.peek();
  asking.value = mine;
  failure.value = null;
  const begin = performance.now();
  try {
    const sql = text.peek();
    const a = await bench.api.ask(id, sql, mine.signal);
    if (asking.peek() !== mine) return;
    [answer.value, took.value, followed.value, about] = [a, performance.now() - begin, -1, id];
    asked = sql;
    showTrack(bench, tracked.peek());
  } catch (e) {
    if (asking.peek() !== mine || !(e instanceof ApiFailure) || e.detail.kind === "aborted") return;
    [failure.value, answer.value] = [e.detail, null];
    bench.reportGone(e);
  } finally {
    if (asking.peek() === mine) asking.value = null;
  }
}

/** Opens the query panel with a question, and asks it. */
export function ask(bench: Workbench, sql: string): void {
  text.value = sql;
  bench.asking.value = true;
  void run(bench);
}

/** Puts the rows of the answer on the pictures, or takes them off. */
function showTrack(bench: Workbench, on: boolean): void {
  tracked.value = on;
  bench.track.value = on && answer.peek() ? trackOf(answer.peek()!) : [];
}

/** Files that hold all rows of an answer, also those that the page is not sent. */
const files: readonly { ending: string; kind: string; note: string }[] = [
  { ending: "parquet", kind: "application/vnd.apache.parquet", note: "for pandas, DuckDB, Spark" },
  { ending: "arrow", kind: "application/vnd.apache.arrow.file", note: "for pandas, Polars, R" },
  { ending: "csv", kind: "text/csv", note: "for spreadsheets" },
];

/** Asks the question of the answer once more, for a file of all its rows. */
async function save(bench: Workbench, kind: string, ending: string): Promise<void> {
  try {
    const rows = await bench.api.rows(about, asked, kind);
    const a = document.createElement("a");
    a.href = URL.createObjectURL(rows);
    a.download = `${about}-query.${ending}`.replace(/[^\w.-]+/g, "_");
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  } catch (e) {
    if (e instanceof ApiFailure && e.detail.kind !== "aborted") failure.value = e.detail;
  }
}

function stop(): void {
  asking.peek()?.abort();
  asking.value = null;
}

export function QueryPanel() {
  const bench = useBench();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    return stop;
  }, []);
  useEffect(() => {
    if (about === "" || about === bench.runID.value) return;
    [answer.value, failure.value, about] = [null, null, ""];
    showTrack(bench, false);
  }, [bench.runID.value]);
  const key = (e: KeyboardEvent) => {
    e.stopPropagation();
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      void run(bench);
    } else if (e.key === "Escape") {
      bench.asking.value = false;
    }
  };
  return (
    <section class="query" aria-label="Query">
      <div class="query-ask">
        <textarea
          ref={field} class="query-text" aria-label="SQL" spellcheck={false} autocomplete="off" rows={4} value={text.value}
          onInput={(e) => (text.value = e.currentTarget.value)} onKeyDown={key}
        />
        <div class="query-side">
          <div class="query-buttons">
            {asking.value
              ? <button type="button" onClick={stop}>Stop</button>
              : <button type="button" title="Ctrl+Enter" onClick={() => void run(bench)}>Run</button>}
            <span class="muted" role="status">{statusText()}</span>
            <span class="bar-space" />
            <AnswerTools />
            <button type="button" class="plain" title="Close (Esc in the text)" aria-label="Close the query" onClick={() => (bench.asking.value = false)}><Icon name="close" /></button>
          </div>
          <div class="query-examples" aria-label="Examples">
            {examples.map((x) => <button type="button" key={x.title} class="chip" onClick={() => { text.value = x.sql; void run(bench); }}>{x.title}</button>)}
          </div>
          <p class="muted query-hint">Tables: locations, regions, intervals, links, counters, samples, instants, attributes, profile, callpaths, runs … Functions: time_in, calls, busy, findings, critical_path. Times are ns. <a href="docs/tables.html" target="_blank" rel="noopener">All columns</a></p>
        </div>
      </div>
      {failure.value && <p class="query-failure" role="alert">{failure.value.error}{failure.value.hint && `; ${failure.value.hint}`}</p>}
      {answer.value && (plotted.value && canPlot(answer.value) ? <QueryPlot answer={answer.value} onChoose={(i) => follow(bench, i)} chosen={followed.value} /> : <Rows answer={answer.value} />)}
    </section>
  );
}

function AnswerTools() {
  const bench = useBench();
  const a = answer.value;
  if (!a || a.rows.length === 0) return null;
  const timed = placeOf(a.columns, a.rows[0]).time !== null;
  return (
    <>
      <button type="button" aria-pressed={tracked.value} disabled={!timed} title={timed ? "Show these rows above all pictures with a time axis" : "Rows need a column begin, time or from_time"} onClick={() => showTrack(bench, !tracked.value)}>On timeline</button>
      <button type="button" aria-pressed={plotted.value} disabled={!canPlot(a)} title={canPlot(a) ? "Draw the answer" : "A plot needs a column of numbers"} onClick={() => (plotted.value = !plotted.value)}>Plot</button>
      <Menu class="plain" title="Save all rows" align="right" label={<Icon name="download" />} items={() => files.map((f) => ({ label: f.ending === "csv" ? "CSV" : f.ending === "arrow" ? "Arrow" : "Parquet", note: f.note, run: () => void save(bench, f.kind, f.ending) }))} />
    </>
  );
}

function statusText(): string {
  if (asking.value) return "asking…";
  const a = answer.value;
  if (!a) return "";
  return `${a.more ? `the first ${thousands(a.rows.length)} rows of more` : plural(a.rows.length, "row")} in ${took.value < 1000 ? `${took.value.toFixed(0)} ms` : `${(took.value / 1000).toFixed(1)} s`}`;
}

function isNumeric(a: Answer, column: number): boolean {
  return a.columns[column].unit !== "" || a.rows.slice(0, 50).some((r) => typeof r[column] === "number");
}

function Rows({ answer: a }: { answer: Answer }) {
  const bench = useBench();
  const widths = columnWidths({ columns: a.columns, rows: a.rows, locations: [], regions: [], offset: 0, total: a.rows.length, notes: [], empty: null });
  const template = { gridTemplateColumns: widths.join(" ") };
  const can = a.rows.length > 0 && Object.values(placeOf(a.columns, a.rows[0])).some((x) => x !== null);
  if (a.rows.length === 0) return <p class="empty-note">No rows.</p>;
  return (
    <div class="twin query-rows" role="grid" aria-label={`Answer, ${plural(a.rows.length, "row")}`} aria-rowcount={a.rows.length + 1} aria-colcount={a.columns.length}>
      <div class="twin-scroll"><div class="twin-inner" style={{ minWidth: `${leastWidth(widths)}px` }}>
        <div class="twin-head" role="row" style={template}>
          {a.columns.map((c, i) => <div role="columnheader" key={i} class={isNumeric(a, i) ? "number" : ""}><span class="query-name">{c.name}</span></div>)}
        </div>
        <ChoiceList
          id="query-row" class="twin-body" role="rowgroup" label="Rows of the answer" count={a.rows.length} rowHeight={rowHeight}
          onChoose={(i) => follow(bench, i)}
          row={(i, attributes) => <AnswerRow key={i} a={a} index={i} can={can} template={template} attributes={attributes} />}
        />
      </div></div>
    </div>
  );
}

function AnswerRow({ a, index, can, template, attributes }: { a: Answer; index: number; can: boolean; template: Record<string, string>; attributes: RowAttributes }) {
  const bench = useBench();
  const chosen = followed.value === index;
  return (
    <div {...attributes} role="row" aria-rowindex={index + 2} aria-selected={chosen} class={`twin-row ${attributes.class} ${can ? "can" : ""} ${chosen ? "chosen" : ""}`} style={template} onClick={() => follow(bench, index)}>
      {a.columns.map((c, i) => {
        const v = a.rows[index][i];
        const numeric = isNumeric(a, i);
        return (
          <div role="cell" key={i} class={numeric ? "number" : "name"} title={middle(formatUnit(v, c.unit, true), 400)}>
            {numeric ? formatUnit(v, c.unit) : <bdi>{middle(String(v ?? "–"), 300)}</bdi>}
          </div>
        );
      })}
    </div>
  );
}
