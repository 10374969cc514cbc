// The numbers behind a picture, as a table: fetched in pages as one scrolls,
// sorted by the server, a row selects what it stands for.

import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiFailure } from "../api/client";
import type { ApiError, Column, TablePage, ViewInfo } from "../api/types";
import { noID } from "../scene/scene";
import { ChoiceList, type RowAttributes } from "../widget/choice-list";
import { useBench } from "./context";
import { formatUnit, middle, plural } from "./format";
import type { PanelState } from "./layout";
import { requestOf } from "./request";
import type { Choice } from "./plug";
import type { Workbench } from "./workbench";

const pageSize = 200;
const rowHeight = 24;

interface Sort {
  column: string;
  descending: boolean;
}

export function TableTwin({ panel, view }: { panel: PanelState; view: ViewInfo }) {
  const bench = useBench();
  const pages = useSignal<ReadonlyMap<number, TablePage>>(new Map());
  const sort = useSignal<Sort | null>(null);
  const failure = useSignal<ApiError | null>(null);
  const wanted = useRef(new Set<number>());
  const round = useRef(0);
  const abort = useRef(new AbortController());
  const fetchPage = async (n: number) => {
    if (wanted.current.has(n)) return;
    wanted.current.add(n);
    const mine = round.current;
    const s = sort.peek();
    try {
      // The width decides nothing in a table; it is sent because a request names one.
      const page = await bench.api.table(bench.runOf(panel), requestOf(bench, panel, null, 960, 540), { offset: n * pageSize, limit: pageSize, sort: s?.column, descending: s?.descending }, { panel: `${panel.id}-table-${n}`, seq: mine, signal: abort.current.signal });
      if (mine !== round.current) return;
      pages.value = new Map(mine === stale.current ? [] : pages.peek()).set(n, page);
      stale.current = -1;
      failure.value = null;
    } catch (e) {
      if (mine !== round.current || !(e instanceof ApiFailure) || e.detail.kind === "aborted") return;
      wanted.current.delete(n);
      failure.value = e.detail;
      bench.reportGone(e);
    }
  };
  // The old rows stay until the first new page is there.
  const stale = useRef(-1);
  useEffect(() => effect(() => {
    if (bench.runOf(panel) === "") return; // on the way home, where panels are about to go
    JSON.stringify(requestOf(bench, panel, null, 960, 540));
    void sort.value;
    void bench.comebacks.value;
    abort.current.abort(); // cancels requests for pages of the previous table
    abort.current = new AbortController();
    stale.current = ++round.current;
    wanted.current = new Set();
    void fetchPage(0);
  }), [panel.options, panel.view]);
  const first = pages.value.get(0);
  if (failure.value) return <div class="empty-state" role="alert"><p class="empty-what">{failure.value.error}</p><p class="empty-hint">{failure.value.hint}</p></div>;
  if (!first) return <div class="empty-state"><p class="empty-hint">Counting…</p></div>;
  if (first.empty) return <div class="empty-state"><p class="empty-what">{first.empty.what}</p><p class="empty-hint">{first.empty.hint}</p></div>;
  const widths = columnWidths(first);
  const template = { gridTemplateColumns: widths.join(" ") };
  const least = { minWidth: `${leastWidth(widths)}px` };
  return (
    <div class="twin" role="grid" aria-label={`${view.title}, ${plural(first.total, "row")}`} aria-rowcount={first.total + 1} aria-colcount={first.columns.length}>
      <div class="twin-scroll"><div class="twin-inner" style={least}>
        <div class="twin-head" role="row" style={template}>
          {first.columns.map((c, i) => <HeadCell key={c.name} column={c} numeric={isNumeric(first, i)} sort={sort.value} set={(s) => (sort.value = s)} />)}
        </div>
        <ChoiceList
          id={`${panel.id}-row`} class="twin-body" role="rowgroup" label={`Rows of ${view.title}`} count={first.total} rowHeight={rowHeight}
          onChoose={(i, add) => !bench.isForeign(panel) && choose(bench, choiceOf(pages.value.get(Math.floor(i / pageSize)), i), add)}
          onRange={(a, b) => { for (let n = Math.floor(a / pageSize); n <= Math.floor(Math.max(a, b - 1) / pageSize); n++) void fetchPage(n); }}
          row={(i, attributes) => <TwinRow key={i} index={i} page={pages.value.get(Math.floor(i / pageSize))} first={first} template={template} attributes={attributes} />}
        />
      </div></div>
    </div>
  );
}

/**
 * Numbers are as wide as the numbers seen so far, names share what is left by their
 * length. Every row is a grid of its own, so widths must not depend on its content.
 */
export function columnWidths(page: TablePage): string[] {
  const sample = page.rows.slice(0, 100);
  return page.columns.map((c, i) => {
    const longest = Math.max((c.title ?? c.name).length + 2, ...sample.map((r) => (isNumeric(page, i) ? formatUnit(r[i], c.unit) : String(r[i] ?? "")).length));
    if (isNumeric(page, i)) return `${Math.ceil(longest * 6.8) + 4}px`;
    return `minmax(${Math.min(220, longest * 7)}px, ${Math.min(60, longest)}fr)`;
  });
}

/** What a row needs at least: its columns, the gaps between them, and room at both ends. */
export function leastWidth(widths: string[]): number {
  const columns = widths.reduce((sum, w) => sum + Number(/\d+/.exec(w)?.[0] ?? 0), 0);
  return columns + 12 * Math.max(widths.length - 1, 0) + 28;
}

function isNumeric(page: TablePage, column: number): boolean {
  return page.columns[column].unit !== "" || page.rows.slice(0, 50).some((r) => typeof r[column] === "number");
}

function HeadCell({ column, numeric, sort, set }: { column: Column; numeric: boolean; sort: Sort | null; set: (s: Sort | null) => void }) {
  const mine = sort?.column === column.name ? sort : null;
  const next = !mine ? { column: column.name, descending: numeric } : mine.descending === numeric ? { column: column.name, descending: !numeric } : null;
  return (
    <div role="columnheader" aria-sort={mine ? (mine.descending ? "descending" : "ascending") : "none"} class={numeric ? "number" : ""}>
      <button type="button" class="plain" title={`Sort by ${column.title ?? column.name}`} onClick={() => set(next)}>
        {column.title ?? column.name}{mine ? (mine.descending ? " ↓" : " ↑") : ""}
      </button>
    </div>
  );
}

/** What a row stands for; empty where it stands for nothing that can be selected. */
function choiceOf(page: TablePage | undefined, index: number): Choice {
  const at = index - (page?.offset ?? 0);
  const id = (list: number[] | undefined) => (list && list[at] !== undefined && list[at] !== noID ? [`#${list[at]}`] : undefined);
  const [locations, regions] = [id(page?.locations), id(page?.regions)];
  return { ...(locations && { locations }), ...(regions && { regions }) };
}

function choose(bench: Workbench, choice: Choice, add: boolean): void {
  if (choice.locations || choice.regions) bench.choose(choice, add);
}

interface RowProps {
  index: number;
  page: TablePage | undefined;
  first: TablePage;
  template: Record<string, string>;
  attributes: RowAttributes;
}

function TwinRow({ index, page, first, template, attributes }: RowProps) {
  const bench = useBench();
  const cells = page?.rows[index - page.offset];
  const choice = choiceOf(page, index);
  const can = choice.locations !== undefined || choice.regions !== undefined;
  const look = bench.look.value;
  const has = (old: readonly string[], mine: readonly string[] | undefined) => mine === undefined || old.includes(mine[0]);
  const chosen = can && has(look.locations, choice.locations) && has(look.regions, choice.regions);
  const number = (mine: readonly string[] | undefined) => (mine ? Number(mine[0].slice(1)) : null);
  return (
    <div
      {...attributes} role="row" aria-rowindex={index + 2} aria-selected={chosen} class={`twin-row ${attributes.class} ${can ? "can" : ""} ${chosen ? "chosen" : ""}`} style={template}
      onClick={(e) => choose(bench, choice, e.ctrlKey || e.metaKey)}
      onPointerEnter={() => { if (can) bench.hover.value = { panel: "table", time: null, location: number(choice.locations), region: number(choice.regions) }; }}
      onPointerLeave={() => (bench.hover.value = null)}
    >
      {first.columns.map((c, i) => {
        const v = cells ? cells[i] : null;
        const numeric = isNumeric(first, i);
        return (
          <div role="cell" key={c.name} class={numeric ? "number" : "name"} title={cells ? middle(formatUnit(v, c.unit, true), 400) : undefined}>
            {cells ? (numeric ? formatUnit(v, c.unit) : <bdi>{middle(String(v ?? "–"), 300)}</bdi>) : "…"}
          </div>
        );
      })}
    </div>
  );
}
