// What lies in the selected area, in tabs below the pictures: by region, by location, its
// intervals, links and counters, and a flame graph of it.

import { effect, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiFailure } from "../api/client";
import type { Answer, ApiError } from "../api/types";
import type { Scene } from "../scene/scene";
import { ChoiceList } from "../widget/choice-list";
import { Guard } from "../widget/guard";
import { Icon } from "../widget/icon";
import { areaOf, areaQuery, areaTabs, type AreaTab } from "./area";
import { useBench } from "./context";
import { formatRange, formatUnit, middle, plural, thousands } from "./format";
import { Legend } from "./legend";
import { PictureHost } from "./picture-host";
import { placeOf, windowAround } from "./query-place";
import { ask as askQuery } from "./query";
import { columnWidths, leastWidth } from "./table-twin";
import type { Workbench } from "./workbench";

const settle = 250;
const rowHeight = 24;

/** Ids are for choosing, not for reading. */
const unread = new Set(["location", "region_id", "from_location", "to_location"]);

/** Sums of times, whose unit SQL does not know any more. */
const times = new Set(["exclusive", "inclusive", "duration", "begin", "from_time"]);

function nowIn(bench: Workbench) {
  return areaOf(bench.look.value, bench.store.window, bench.chosen.value, (id) => bench.book.get(id)?.last ?? id);
}

export function AreaPanel() {
  const bench = useBench();
  const tab = bench.area.value;
  const list = useRef<HTMLDivElement>(null);
  if (tab === "") return null;
  void bench.look.value;
  const a = nowIn(bench);
  const off = (t: AreaTab) => (t === "links" && bench.info.value?.links === 0 ? "The run has no links." : t === "counters" && bench.info.value?.samples === 0 ? "The run has no counters." : t === "flame" ? bench.missing("calltree") : "");
  const key = (e: KeyboardEvent) => {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const can = areaTabs.filter((t) => off(t.tab) === "");
    const next = can[(can.findIndex((t) => t.tab === tab) + by + can.length) % can.length]!;
    bench.area.value = next.tab;
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <section class="area" aria-label="Selected area">
      <header class="area-head">
        <div class="area-tabs" role="tablist" aria-label="Selected area" ref={list} onKeyDown={key}>
          {areaTabs.map((t) => (
            <button
              type="button" role="tab" key={t.tab} id={`area-${t.tab}`} class="plain area-tab" aria-selected={tab === t.tab} aria-controls="area-body" tabIndex={tab === t.tab ? 0 : -1}
              disabled={off(t.tab) !== ""} title={off(t.tab) || undefined} onClick={() => (bench.area.value = t.tab)}
            >{t.title}</button>
          ))}
        </div>
        <span class="muted area-words">{formatRange(a.time.begin, a.time.end)}{a.locations.length > 0 ? `, ${plural(a.locations.length, "location")} and below` : ""}{a.regions.length > 0 ? `, ${plural(a.regions.length, "region")}` : ""}</span>
        <span class="bar-space" />
        {tab !== "flame" && <button type="button" class="plain" title="The same question in the query panel, to change it" onClick={() => askQuery(bench, areaQuery(tab, nowIn(bench)))}>as SQL</button>}
        <button type="button" class="plain" title="Close (R)" aria-label="Close the area" onClick={() => (bench.area.value = "")}><Icon name="close" /></button>
      </header>
      <div class="area-body" id="area-body" role="tabpanel" aria-labelledby={`area-${tab}`}>
        <Guard what="The area">{tab === "flame" ? <Flame /> : <AreaRows key={tab} tab={tab} />}</Guard>
      </div>
    </section>
  );
}

function AreaRows({ tab }: { tab: AreaTab }) {
  const bench = useBench();
  const answer = useSignal<Answer | null>(null);
  const failure = useSignal<ApiError | null>(null);
  const chosen = useSignal(-1);
  useEffect(() => {
    let timer = 0;
    let abort = new AbortController();
    const stop = effect(() => {
      const run = bench.runID.value;
      const sql = areaQuery(tab, (void bench.look.value, nowIn(bench)));
      void bench.comebacks.value;
      clearTimeout(timer);
      if (run === "") return;
      timer = setTimeout(async () => {
        abort.abort();
        const mine = (abort = new AbortController());
        try {
          const a = await bench.api.ask(run, sql, mine.signal);
          if (abort !== mine) return;
          [answer.value, failure.value, chosen.value] = [a, null, -1];
        } catch (e) {
          if (abort !== mine || !(e instanceof ApiFailure) || e.detail.kind === "aborted") return;
          failure.value = e.detail;
          bench.reportGone(e);
        }
      }, answer.peek() === null ? 0 : settle) as unknown as number;
    });
    return () => {
      stop();
      clearTimeout(timer);
      abort.abort();
    };
  }, [tab]);
  const a = answer.value;
  if (failure.value) return <p class="query-failure" role="alert">{failure.value.error}{failure.value.hint && `; ${failure.value.hint}`}</p>;
  if (!a) return <p class="empty-note">Counting…</p>;
  if (a.rows.length === 0) return <p class="empty-note">The area has none of this kind.</p>;
  const unitOf = (i: number) => a.columns[i]!.unit || (times.has(a.columns[i]!.name) ? "ns" : "");
  const shown = a.columns.flatMap((c, i) => (unread.has(c.name) ? [] : [i]));
  const numeric = (i: number) => unitOf(i) !== "" || a.rows.slice(0, 50).some((r) => typeof r[i] === "number");
  const widths = columnWidths({ columns: shown.map((i) => ({ name: a.columns[i]!.name, unit: unitOf(i) })), rows: a.rows.map((r) => shown.map((i) => r[i]!)), locations: [], regions: [], offset: 0, total: a.rows.length, notes: [], empty: null });
  const template = { gridTemplateColumns: widths.join(" ") };
  const choose = (i: number) => {
    chosen.value = i;
    const place = placeOf(a.columns, a.rows[i]!);
    if (tab === "intervals" || tab === "links") {
      if (place.time) bench.store.zoom(windowAround(place.time, bench.store.wholeRun, bench.store.window), { gesture: "area" });
      if (place.time) bench.track.value = [{ ...place.time, location: place.locations ? Number(place.locations[0]!.slice(1)) : null }];
      return;
    }
    bench.choose({ ...(place.locations && { locations: place.locations }), ...(place.regions && { regions: place.regions }) });
  };
  return (
    <div class="twin area-rows" role="grid" aria-label={`${areaTabs.find((t) => t.tab === tab)!.title}, ${plural(a.rows.length, "row")}${a.more ? " of more" : ""}`} aria-rowcount={a.rows.length + 1} aria-colcount={shown.length}>
      <div class="twin-scroll"><div class="twin-inner" style={{ minWidth: `${leastWidth(widths)}px` }}>
        <div class="twin-head" role="row" style={template}>
          {shown.map((i) => <div role="columnheader" key={i} class={numeric(i) ? "number" : ""}><span class="query-name">{a.columns[i]!.name.replace("_", " ")}</span></div>)}
        </div>
        <ChoiceList
          id="area-row" class="twin-body" role="rowgroup" label="Rows" count={a.rows.length} rowHeight={rowHeight} onChoose={choose}
          row={(n, attributes) => (
            <div {...attributes} key={n} role="row" aria-rowindex={n + 2} aria-selected={chosen.value === n} class={`twin-row can ${attributes.class} ${chosen.value === n ? "chosen" : ""}`} style={template} onClick={() => choose(n)}>
              {shown.map((i) => {
                const v = a.rows[n]![i]!;
                return <div role="cell" key={i} class={numeric(i) ? "number" : "name"} title={middle(formatUnit(v, unitOf(i), true), 400)}>{numeric(i) ? formatUnit(v, unitOf(i)) : <bdi>{middle(String(v ?? "–"), 200)}</bdi>}</div>;
              })}
            </div>
          )}
        />
      </div></div>
      {a.more && <p class="muted area-more">the first {thousands(a.rows.length)}</p>}
    </div>
  );
}

const flameScene = signal<Scene | null>(null);

/** The call tree of the area, which zooms on its own. */
function Flame() {
  const bench = useBench();
  const panel = bench.flame.value;
  const view = bench.view("calltree");
  const Controls = bench.plug("calltree").Controls;
  if (!view) return null;
  return (
    <div class="area-flame panel" id={panel.id} tabIndex={0} aria-label="Flame graph of the area">
      <div class="area-controls">{Controls && <Controls panel={panel} scene={flameScene.value} />}</div>
      <div class="panel-body"><PictureHost key={bench.runID.value} panel={panel} view={view} onScene={(s) => (flameScene.value = s)} /></div>
      <Legend scene={flameScene.value} />
    </div>
  );
}
