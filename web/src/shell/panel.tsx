// One panel: a head with its title and tools, below it the picture or its table.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ExportFormat, ViewInfo } from "../api/types";
import type { Scene } from "../scene/scene";
import { Guard } from "../widget/guard";
import { Icon } from "../widget/icon";
import { Menu, type MenuItem } from "../widget/menu";
import { Popover } from "../widget/popover";
import { TextField } from "../widget/text-field";
import { isCut, movedBy, movedValue, parseShift } from "./beside";
import { Against } from "./against";
import { copy, copyAddress } from "./command";
import { useBench } from "./context";
import { formatDuration, middle } from "./format";
import { isTime } from "./geometry";
import * as layout from "./layout";
import { NoteButton } from "./inspector";
import { Later } from "./lazy";
import { Legend } from "./legend";
import { learnEnd } from "./narrow";
import { changed, commandLine, withDefaults } from "./option";
import { OptionForm } from "./options";
import { PictureHost } from "./picture-host";
import { forAnotherRun } from "./plug";
import { requestOf } from "./request";
import { spokenTitle, titleBy, titleOf } from "./title";
import type { Workbench } from "./workbench";

export function Panel({ panel, alone }: { panel: layout.PanelState; alone?: boolean }) {
  const bench = useBench();
  const scene = useSignal<Scene | null>(null);
  // What the last view left behind says nothing about this one.
  useEffect(() => () => {
    scene.value = null;
    bench.setNotes(panel.id, []);
  }, [panel.view]);
  const view = bench.view(panel.view);
  const foreign = bench.isForeign(panel);
  const missing = view ? (bench.runs.value.find((r) => r.id === bench.runOf(panel))?.missing[panel.view] ?? "") : "";
  const focused = bench.focused.value === panel.id && !alone;
  const { Side, Bar } = bench.plug(panel.view);
  return (
    <section
      id={panel.id} class={`panel ${focused ? "panel-focused" : ""}`} tabIndex={0} aria-label={spokenTitle(bench, panel)}
      onFocusIn={() => (bench.focused.value = panel.id)} onPointerDown={() => (bench.focused.value = panel.id)}
    >
      <Head panel={panel} view={view} scene={scene.value} alone={alone} />
      {view && !missing && !panel.table && Bar && <div class="panel-bar"><Guard what={`The bar of ${panel.view}`}><Bar panel={panel} scene={scene.value} /></Guard></div>}
      <div class="panel-body">
        {!view ? (
          <Missing title={`There is no view “${panel.view}”`} hint="Choose another one in the panel's title." />
        ) : missing ? (
          <Missing title={missing} hint="Views for this run:" panel={panel} />
        ) : panel.table ? (
          <Later part="TableTwin" panel={panel} view={view} />
        ) : (
          <PictureHost key={`${panel.view} ${bench.runOf(panel)}`} panel={panel} view={view} onScene={(s) => { scene.value = s; bench.setNotes(panel.id, s.notes); learnEnd(panel, s); }} />
        )}
        {view && !missing && !panel.table && Side && <Guard what={`The side panel of ${panel.view}`}><Side panel={panel} scene={scene.value} /></Guard>}
      </div>
      {view && !missing && !panel.table && (
        <div key={panel.view} class={bench.plug(panel.view).longLegend ? "legend-slot legend-slot-long" : "legend-slot"}>
          <Legend scene={scene.value} plain={foreign} symbols={scene.value ? bench.plug(panel.view).symbols?.(scene.value) : []} />
        </div>
      )}
    </section>
  );
}

/** Why a panel is empty, and what it could show instead. */
function Missing({ title, hint, panel }: { title: string; hint: string; panel?: layout.PanelState }) {
  const bench = useBench();
  const shown = new Set(layout.panels(bench.layout.value).map((p) => p.view));
  const first = layout.panels(bench.overview()).map((p) => p.view);
  const offers = panel ? [...first, ...bench.available.value.map((v) => v.name)].filter((v, i, all) => !shown.has(v) && all.indexOf(v) === i).slice(0, 3) : [];
  return (
    <div class="empty-state">
      <p class="empty-what">{title}</p><p class="empty-hint">{hint}</p>
      {panel && <p class="empty-offers">{offers.map((v) => <button type="button" key={v} onClick={() => bench.setView(panel.id, v)}>{bench.view(v)?.title ?? v}</button>)}</p>}
    </div>
  );
}

/** Buttons for what the notes of a picture name as a flag. */
function NoteButtons({ notes, panel, view }: { notes: readonly string[]; panel: string; view: ViewInfo }) {
  return <>{notes.slice(0, 4).map((n) => <NoteButton key={n} note={n} panel={panel} view={view} />)}</>;
}

interface HeadProps {
  panel: layout.PanelState;
  view: ViewInfo | undefined;
  scene: Scene | null;
  alone?: boolean;
}

function Head({ panel, view, scene, alone }: HeadProps) {
  const bench = useBench();
  const Controls = bench.plug(panel.view).Controls;
  const maximised = bench.layout.value.maximised === panel.id;
  const named = titleBy(bench, panel) === "" ? "" : bench.plug(panel.view).titled?.option;
  const set = (change: layout.Layout) => bench.setLayout(change);
  const notes = scene?.notes ?? [];
  return (
    <header class="panel-head" onDblClick={(e) => { if (e.target === e.currentTarget) set(layout.toggleMaximised(bench.layout.value, panel.id)); }}>
      {alone ? <h2 class="panel-title">{titleOf(bench, panel)}</h2> : (
        <Menu class="panel-title" title={`View of this panel: ${titleOf(bench, panel)}`} label={<>{titleOf(bench, panel)}<Icon name="down" /></>} items={() => viewItems(bench, panel)} />
      )}
      <span class="chips">
        {bench.isForeign(panel) && (
          <button type="button" class="chip" title="This panel shows another run: click for the page's own" onClick={() => bench.setOption(panel.id, "run", [])}>
            <bdi class="name">{middle(runName(bench, bench.runOf(panel)), 32)}</bdi><Icon name="close" />
          </button>
        )}
        {!bench.isForeign(panel) && bench.hasForeign.value && panel.options.with === undefined && (
          <span class="chip own" title="This panel shows the page's own run"><bdi class="name">{middle(runName(bench, bench.runOf(panel)), 32)}</bdi></span>
        )}
        {bench.isForeign(panel) && (movedBy(panel) !== 0 || (scene?.frames.some(isTime) ?? false)) && <Shift panel={panel} />}
        {bench.arrange.value !== "" && view?.options.some((o) => o.name === "arrange") && (
          <button type="button" class="chip" title={`${bench.arrange.value.startsWith("optimal") ? "Locations are grouped by the best cut of the tree" : "Similar locations are next to each other"}, in all panels (${bench.arrange.value}): click for the order of the tree`} onClick={() => bench.setArrange("")}>
            <span class="name">{bench.arrange.value.startsWith("optimal") ? "by the best cut" : "by groups"}</span><Icon name="close" />
          </button>
        )}
        {changed(view, panel.options, (id) => bench.region(id)?.name).filter(({ option }) => named !== option.name && !bench.plug(panel.view).shows?.includes(option.name)).map(({ option, text }) => (
          <button type="button" key={option.name} class="chip" title={`${text}: click for ${option.default || "the default"}`} onClick={() => bench.setOption(panel.id, option.name, [])}>
            <bdi class="name">{text}</bdi><Icon name="close" />
          </button>
        ))}
      </span>
      {notes.length > 0 && <span class="panel-note-box"><span class="panel-note" title={notes.join("\n")}>{notes[0]}</span></span>}
      {view && <NoteButtons notes={notes} panel={panel.id} view={view} />}
      {view && <span class="panel-controls"><Guard what="Settings for two runs"><Against panel={panel} /></Guard></span>}
      {Controls && <span class="panel-controls"><Guard what={`The controls of ${panel.view}`}><Controls panel={panel} scene={scene} /></Guard></span>}
      <span class="panel-tools">
        {view && view.options.length > 0 && (
          <Popover title={`Options of ${view.title}`} class="plain" align="right" label={<Icon name="options" />}>
            {() => (
              <OptionForm
                view={withDefaults(view, bench.plug(panel.view).always)} values={{ ...layout.findPanel(bench.layout.value, panel.id)?.options, ...(bench.arrange.value === "" ? {} : { arrange: [bench.arrange.value] }) }}
                set={(n, v) => (n === "arrange" ? bench.setArrange(v[0] ?? "") : bench.setOption(panel.id, n, v))}
              />
            )}
          </Popover>
        )}
        <button
          type="button" class="plain" aria-pressed={panel.table} title={panel.table ? "Show the picture (T)" : "Show as a table (T)"} aria-label="Table view"
          onClick={() => set(layout.changePanel(bench.layout.value, panel.id, { table: !panel.table }))}
        ><Icon name={panel.table ? "picture" : "table"} /></button>
        <Menu title="Export this panel" class="plain panel-export" align="right" label={<Icon name="download" />} items={() => [{ label: "Figure…", note: "size in mm, letter, caption, with a preview", run: () => { bench.focused.value = panel.id; bench.overlay.value = "figure"; } }, ...exportItems(bench, panel, scene)]} />
        {!alone && (
          <>
            <Menu title="More for this panel" class="plain" align="right" label={<Icon name="more" />} items={() => [
              { label: "Split to the right", run: () => bench.addView(panel.view, "right", panel.id) },
              { label: "Split below", run: () => bench.addView(panel.view, "below", panel.id) },
              ...bench.otherRuns.value.map((r, i): MenuItem => ({
                label: middle(r.name, 40), note: "the same view of this run, side by side", above: i === 0 ? "Compare with another run" : undefined,
                off: r.missing[panel.view] || undefined, run: () => bench.addView(panel.view, "right", panel.id, { ...forAnotherRun(bench.plug(panel.view), panel.options), run: [r.id] }),
              })),
              { label: "How to read this view", above: bench.otherRuns.value.length > 0 ? "This panel" : undefined, run: () => bench.showHowTo(panel.view) },
              { label: "Copy address of this panel alone", run: () => void copyAddress(bench, embedAddress(panel), "Address copied: it shows this panel alone, for an iframe.") },
            ]} />
            {bench.layout.value.as !== "tabs" && <button type="button" class="plain" title={maximised ? "Restore (Z)" : "Maximise (Z)"} aria-label={maximised ? "Restore" : "Maximise"} aria-pressed={maximised} onClick={() => set(layout.toggleMaximised(bench.layout.value, panel.id))}>
              <Icon name={maximised ? "restore" : "maximise"} />
            </button>}
            <button type="button" class="plain" title="Close (Shift+X)" aria-label="Close panel" onClick={() => set(layout.closePanel(bench.layout.value, panel.id))}><Icon name="close" /></button>
          </>
        )}
      </span>
    </header>
  );
}

/** By how much another run is moved against the page's own: typed here, or dragged along the axis. */
function Shift({ panel }: { panel: layout.PanelState }) {
  const bench = useBench();
  const moved = movedBy(panel);
  const beside = bench.beside(panel);
  const cut = beside !== null && isCut(bench.look.value, bench.sharedEnd, beside.window);
  const text = moved === 0 ? "" : `${moved < 0 ? "\u2212" : "+"}${formatDuration(Math.abs(moved))}`;
  return (
    <>
      <TextField
        class="shift" label="Move this run by this much time" placeholder="shift" value={text}
        title="Zoom is shared with the page's own run. Move this one against it: 20 ms or -1.5 s, or drag along its time axis (Shift in the picture)"
        set={(typed) => {
          const ns = typed.trim() === "" ? 0 : parseShift(typed.replace("\u2212", "-"));
          if (ns === null) bench.say("A shift is a length of time, such as 20 ms or -1.5 s.");
          else bench.setOption(panel.id, "moved", movedValue(ns));
          return ns !== null;
        }}
      />
      {cut && <span class="muted" title="This run does not reach over all the time that the page shows: the axis ends where the run does, on another scale.">another scale</span>}
    </>
  );
}

function viewItems(bench: Workbench, panel: layout.PanelState): MenuItem[] {
  return bench.views.value.map((v) => ({
    label: v.title, note: v.summary, checked: v.name === panel.view, off: bench.missing(v.name) || undefined, run: () => bench.setView(panel.id, v.name),
  }));
}

function runName(bench: Workbench, id: string): string {
  return bench.runs.value.find((r) => r.id === id)?.name ?? id;
}

const formats: { format: ExportFormat; label: string; note: string }[] = [
  { format: "svg", label: "SVG", note: "vector graphics, for papers" },
  { format: "png", label: "PNG", note: "pixels" },
  { format: "pdf", label: "PDF", note: "vector graphics, for printing" },
  { format: "jpg", label: "JPG", note: "pixels, where a PNG is not taken" },
  { format: "csv", label: "CSV", note: "the numbers, every row of the selection" },
  { format: "json", label: "JSON", note: "the numbers, with options and notes" },
];

export function exportItems(bench: Workbench, panel: layout.PanelState, scene: Scene | null): MenuItem[] {
  const host = document.getElementById(panel.id)?.querySelector(".panel-body");
  const request = requestOf(bench, panel, scene, Math.round(host?.clientWidth || 960), Math.round(host?.clientHeight || 540));
  const items: MenuItem[] = formats.map(({ format, label, note }) => ({
    label, note, href: bench.api.exportURL(bench.runOf(panel), request, format, bench.themeName.value, bench.hues.value), download: `${bench.runOf(panel)}-${panel.view}.${format}`,
  }));
  // A view with the option "all" gives what is drawn unless it is set: say so, and offer both.
  if (bench.view(panel.view)?.options.some((o) => o.name === "all")) {
    const at = items.findIndex((i) => i.label === "CSV");
    const all = { ...request, options: { ...request.options, all: "true" } };
    items[at].note = "the drawn numbers";
    items.splice(at + 1, 0, { label: "CSV, all", note: "every row of the selection", href: bench.api.exportURL(bench.runOf(panel), all, "csv", bench.themeName.value, bench.hues.value), download: `${bench.runOf(panel)}-${panel.view}-all.csv` });
  }
  const words = commandLine(bench.runs.value.find((r) => r.id === bench.runOf(panel))?.source ?? "", panel.view, request.options as Record<string, string[]>, request.selection ?? {});
  return [...items, { label: "Copy as command", note: "the same picture without a browser", run: () => void copy(bench, words, "Command copied.") }];
}

function embedAddress(panel: layout.PanelState): string {
  const query = new URLSearchParams(location.search);
  for (const key of [...query.keys()]) if (/^(v|max|table|\d+\..*)$/.test(key)) query.delete(key);
  query.set("embed", panel.view);
  for (const [name, values] of Object.entries(panel.options)) for (const v of values) query.append(`0.${name}`, v);
  return `${location.origin}${location.pathname}?${query}`;
}
