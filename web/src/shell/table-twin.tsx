// The numbers behind a picture, as a table: fetched in pages as one scrolls,
// sorted by the server, a row selects what it stands for.

import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiFailure } from "../api/client";
import type { ApiError, Column, TablePage, ViewInfo } from "../api/types";
import { noID } from "../scene/scene";
import { VirtualList } from "../widget/virtual-list";
import { useBench } from "./context";
import { formatUnit, middle, plural } from "./format";
import type { PanelState } from "./layout";
import { requestOf } from "./panel";

const pageSize = 200;
const rowHeight = 22;

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
  const fetchPage = async (n: number) => {
    if (wanted.current.has(n)) return;
    wanted.current.add(n);
    const mine = round.current;
    const s = sort.peek();
    try {
      // The width decides nothing in a table; it is sent because a request names one.
      const page = await bench.api.table(bench.runID.peek(), requestOf(bench, panel, null, 960, 540), { offset: n * pageSize, limit: pageSize, sort: s?.column, descending: s?.descending }, { panel: `${panel.id}-table-${n}`, seq: mine });
      if (mine !== round.current) return;
      pages.value = new Map(mine === stale.current ? [] : pages.peek()).set(n, page);
      stale.current = -1;
      failure.value = null;
    } catch (e) {
      wanted.current.delete(n);
      if (mine !== round.current || !(e instanceof ApiFailure) || e.detail.kind === "aborted") return;
      failure.value = e.detail;
      bench.reportGone(e);
    }
  };
  // The old rows stay until the first new page is there.
  const stale = useRef(-1);
  useEffect(() => effect(() => {
    JSON.stringify(requestOf(bench, panel, null, 960, 540));
    void sort.value;
    void bench.comebacks.value;
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
  return (
    <div class="twin" role="table" aria-label={`${view.title}, ${plural(first.total, "row")}`} aria-rowcount={first.total + 1} aria-colcount={first.columns.length}>
      <div class="twin-scroll">
        <div class="twin-head" role="row" style={template}>
          {first.columns.map((c, i) => <HeadCell key={c.name} column={c} numeric={isNumeric(first, i)} sort={sort.value} set={(s) => (sort.value = s)} />)}
        </div>
        <VirtualList
          class="twin-body" role="rowgroup" count={first.total} rowHeight={rowHeight}
          onRange={(a, b) => { for (let n = Math.floor(a / pageSize); n <= Math.floor(Math.max(a, b - 1) / pageSize); n++) void fetchPage(n); }}
          row={(i) => <TwinRow key={i} index={i} page={pages.value.get(Math.floor(i / pageSize))} first={first} template={template} />}
        />
      </div>
    </div>
  );
}

/** Numbers are as wide as numbers are; names share what is left by their length. */
function columnWidths(page: TablePage): string[] {
  return page.columns.map((c, i) => {
    if (isNumeric(page, i)) return `minmax(${Math.max(76, c.name.length * 7.5 + 24)}px, max-content)`;
    const longest = Math.max(c.name.length, ...page.rows.slice(0, 50).map((r) => Math.min(60, String(r[i] ?? "").length)));
    return `minmax(${Math.min(120, longest * 7 + 20)}px, ${longest}fr)`;
  });
}

function isNumeric(page: TablePage, column: number): boolean {
  return page.columns[column].unit !== "" || page.rows.slice(0, 50).some((r) => typeof r[column] === "number");
}

function HeadCell({ column, numeric, sort, set }: { column: Column; numeric: boolean; sort: Sort | null; set: (s: Sort | null) => void }) {
  const mine = sort?.column === column.name ? sort : null;
  const next = !mine ? { column: column.name, descending: numeric } : mine.descending === numeric ? { column: column.name, descending: !numeric } : null;
  return (
    <div role="columnheader" aria-sort={mine ? (mine.descending ? "descending" : "ascending") : "none"} class={numeric ? "number" : ""}>
      <button type="button" class="plain" title={`Sort by ${column.name}`} onClick={() => set(next)}>
        {column.name}{mine ? (mine.descending ? " ↓" : " ↑") : ""}
      </button>
    </div>
  );
}

function TwinRow({ index, page, first, template }: { index: number; page: TablePage | undefined; first: TablePage; template: Record<string, string> }) {
  const bench = useBench();
  const at = index - (page?.offset ?? 0);
  const cells = page?.rows[at];
  const id = (list: number[] | null | undefined) => (list && list[at] !== undefined && list[at] !== noID ? `#${list[at]}` : null);
  const location = id(page?.locations);
  const region = id(page?.regions);
  const { locations, regions } = bench.look.value;
  const chosen = (location !== null || region !== null) && (location === null || locations.includes(location)) && (region === null || regions.includes(region));
  const choose = (add: boolean) => bench.choose({ ...(location ? { locations: [location] } : {}), ...(region ? { regions: [region] } : {}) }, add);
  const can = location !== null || region !== null;
  return (
    <div
      role="row" aria-rowindex={index + 2} aria-selected={chosen} class={`twin-row ${can ? "can" : ""} ${chosen ? "chosen" : ""}`} style={template} tabIndex={can ? 0 : -1}
      onClick={(e) => can && choose(e.ctrlKey || e.metaKey)}
      onKeyDown={(e) => moveRow(e, () => can && choose(e.ctrlKey || e.metaKey))}
      onPointerEnter={() => { if (can) bench.hover.value = { panel: "table", time: null, location: location ? Number(location.slice(1)) : null, region: region ? Number(region.slice(1)) : null }; }}
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

/** Arrows go from row to row, Enter and Space choose. */
export function moveRow(e: KeyboardEvent, choose: () => void): void {
  const row = e.currentTarget as HTMLElement;
  const to = e.key === "ArrowDown" ? row.nextElementSibling : e.key === "ArrowUp" ? row.previousElementSibling : null;
  if (to) (to as HTMLElement).focus();
  else if (e.key === "Enter" || e.key === " ") choose();
  else return;
  e.preventDefault();
  e.stopPropagation();
}
