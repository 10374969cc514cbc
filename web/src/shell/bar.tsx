// The bar at the top: which run, search, views, export, theme, help.

import { Icon, type IconName } from "../widget/icon";
import { Menu, type MenuItem } from "../widget/menu";
import { clockFit } from "./clocks";
import { useBench } from "./context";
import { commands } from "./command";
import { otherScreens, sameViews, screenOf, screens } from "./first-screen";
import { formatDuration, middle, plural } from "./format";
import { exportItems } from "./panel";
import { Search } from "./search";
import { follow } from "./start";
import { titleOf } from "./title";
import type { Hues, ThemeChoice } from "./url";
import type { Workbench } from "./workbench";
import { placeOf } from "./place";

export function Bar() {
  const bench = useBench();
  const open = bench.runID.value !== "";
  return (
    <header class="bar">
      <button type="button" class="brand plain" title="Home: open another run" onClick={() => bench.goHome()}>
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M1 3h9v2H1zM4 7h11v2H4zM2 11h7v2H2z" fill="currentColor" /></svg>
        Parallax
      </button>
      {open && <RunMenu />}
      {open && <Search />}
      {open && <ViewAs />}
      {open && <Menu class="bar-button" title="Views and panels" label={<>Views<Icon name="down" /></>} items={() => viewMenu(bench)} />}
      <span class="bar-space" />
      {open && (
        <>
          <button type="button" class="plain" title="Undo a change of the selection or of the panels (Ctrl+Z)" aria-label="Undo" disabled={!canUndo(bench)} onClick={() => bench.store.undo()}><Icon name="undo" /></button>
          <button type="button" class="plain" title="Redo (Ctrl+Shift+Z)" aria-label="Redo" disabled={!canRedo(bench)} onClick={() => bench.store.redo()}><Icon name="redo" /></button>
          <span class="bar-rule" />
          <button type="button" class="plain" title="Notes and workspaces (Shift+M)" aria-label="Notes and workspaces" onClick={() => (bench.overlay.value = "notes")}><Icon name="pin" /></button>
          <Menu class="plain" title="Export" align="right" label={<Icon name="download" />} items={() => exportMenu(bench)} />
        </>
      )}
      <ThemeMenu />
      <button type="button" class="plain" title="Help and keys (?)" aria-label="Help and keys" onClick={() => (bench.overlay.value = "help")}><Icon name="help" /></button>
    </header>
  );
}

// Reading the look and the panels makes the buttons follow the history.
function canUndo(bench: Workbench): boolean {
  return bench.look.value !== undefined && bench.layout.value !== undefined && bench.store.canUndo;
}

function canRedo(bench: Workbench): boolean {
  return bench.look.value !== undefined && bench.layout.value !== undefined && bench.store.canRedo;
}

function RunMenu() {
  const bench = useBench();
  const run = bench.run.value;
  const info = bench.info.value;
  if (!run || !info) return null;
  const facts = [
    info.ranks > 0 ? plural(info.ranks, "rank") : plural(info.rows || info.locations, "location"),
    info.end > 0 ? formatDuration(info.end) : "a profile without time",
    placeOf(run.source),
  ].filter((f) => f !== "");
  const label = (
    <>
      <bdi class="name run-name">{middle(run.name, 48)}</bdi>
      <span class="muted run-facts">{facts.map((f) => <span key={f}>· {f}</span>)}</span>
      <Icon name="down" />
    </>
  );
  return <Menu named class="bar-button run-menu" title={`Run ${middle(run.name, 200)}: ${run.source}`} label={label} items={() => runItems(bench)} />;
}

function runItems(bench: Workbench): MenuItem[] {
  const runs = bench.runs.value.map((r): MenuItem => ({
    label: middle(r.name, 60), note: r.state === "ready" ? middle(r.source, 80) : r.state === "importing" ? `importing, ${(r.progress * 100).toFixed(0)} %` : r.error?.error,
    checked: r.id === bench.runID.value, off: r.state === "failed" ? r.error?.error : undefined, run: () => void follow(bench, r, null).catch((e: unknown) => bench.report(e)),
  }));
  return [
    ...runs,
    ...clockItems(bench),
    { label: "Import report", above: "", run: () => (bench.overlay.value = "report") },
    { label: "Open another run…", run: () => bench.goHome() },
  ];
}

function clockItems(bench: Workbench): MenuItem[] {
  const fitted = bench.info.value?.properties["clock alignment"];
  if (fitted) return [{ label: "Clocks are fitted", above: "", off: fitted }];
  const fit = clockFit(bench);
  return fit ? [{ label: fit.label, note: fit.note, above: "", off: fit.off || undefined, run: fit.run }] : [];
}

/** What the run is looked at as: its first screen, or that of another kind. */
function ViewAs() {
  const bench = useBench();
  const kind = bench.info.value?.kind ?? "other";
  const held = bench.available.value.map((v) => v.name);
  const kinds = [kind, ...otherScreens(kind, held)];
  const now = screenOf(bench.layout.value, kinds, held, bench.info.value ?? {});
  const ready = bench.runs.value.filter((r) => r.state === "ready").map((r) => r.id);
  const side = ready.length > 1 ? bench.sideBySide([bench.runID.value, ...ready.filter((id) => id !== bench.runID.value)]) : null;
  const together = now === null && side !== null && sameViews(side, bench.layout.value);
  const items = () => [...(side && side.rows.length > 0 ? [{ label: ready.length > 2 ? "several runs" : "two runs", note: "side by side, largest change first", checked: together, run: () => bench.setLayout(side) }] : []), ...kinds.map((k): MenuItem => ({ label: screens[k].title, note: k === kind ? "what it holds" : undefined, checked: k === now, run: () => bench.setLayout(bench.overview(k)) }))];
  return <Menu named class="bar-button view-as" title="First screens: show this run as" label={<><span class="muted">as</span> {now ? screens[now].title : together ? (bench.runs.value.length > 2 ? "several runs" : "two runs") : "own panels"}<Icon name="down" /></>} items={items} />;
}

function viewMenu(bench: Workbench): MenuItem[] {
  const views = bench.views.value.map((v): MenuItem => {
    const n = bench.available.value.indexOf(v);
    return { label: v.title, note: v.summary, off: bench.missing(v.name) || undefined, hint: n >= 0 && n < 9 ? String(n + 1) : undefined, run: () => bench.reveal(v.name) };
  });
  const kind = bench.info.value?.kind ?? "other";
  const { as } = bench.layout.value;
  const forms: MenuItem[] = [
    { label: "All on the screen", checked: as === undefined, above: "Panels", hint: "V", run: () => bench.setPanelsAs(undefined) },
    { label: "Rows that scroll", note: "each as high as it needs to be read", checked: as === "scroll", run: () => bench.setPanelsAs("scroll") },
    { label: "Tabs", note: "one panel at a time", checked: as === "tabs", run: () => bench.setPanelsAs("tabs") },
  ];
  return [...forms, { label: "Standard panels", above: "First screen", note: `the first screen again, for ${screens[kind].title}`, run: () => bench.setLayout(bench.overview()) }, ...views.map((v, i) => (i === 0 ? { ...v, above: "Add or show a view" } : v))];
}

function exportMenu(bench: Workbench): MenuItem[] {
  const panel = bench.focusedPanel;
  const copy = commands.find((c) => c.id === "copy-link")!;
  const link: MenuItem = { label: "Copy address of this page", note: "shows the same panels and selection again", above: "The page", run: () => copy.run(bench) };
  const named = (id: string, label: string, note: string): MenuItem => ({ label, note, run: () => commands.find((c) => c.id === id)!.run(bench) });
  const page = [link, named("share", "Share", "copies a read-only link, valid for a week"), named("snapshot", "Snapshot", "the screen with its numbers, as one file")];
  if (!panel) return page;
  const items = exportItems(bench, panel, null);
  const figure = { ...named("figure", "Figure…", "for a paper or slides: size, letter, caption, with a preview"), above: `The panel in focus: ${titleOf(bench, panel)}` };
  return [figure, ...items, ...page];
}

function ThemeMenu() {
  const bench = useBench();
  const icons: Record<ThemeChoice, IconName> = { light: "sun", dark: "moon", system: "system" };
  const choice = (theme: ThemeChoice, label: string): MenuItem => ({ label, checked: bench.theme.value === theme, run: () => (bench.theme.value = theme) });
  const palette = (name: string, label: string, note: string): MenuItem => ({ label, note, checked: bench.palette.value === name, run: () => (bench.palette.value = name) });
  const hues = (name: Hues, label: string, note: string): MenuItem => ({ label, note, checked: bench.hues.value === name, run: () => (bench.hues.value = name) });
  return (
    <Menu
      class="plain" title="Theme and colours" align="right" label={<Icon name={icons[bench.theme.value]} />}
      items={() => [
        choice("system", "As the system"), choice("light", "Light"), choice("dark", "Dark"),
        { ...palette("", "Viridis", "colours of magnitudes"), above: "Magnitudes" }, palette("cividis", "Cividis", "the same for colour-blind readers"),
        { ...hues("", "Usual", "many shades, a family of them for each role"), above: "Regions and locations" }, hues("safe", "Safe", "fewer, distinct for colour-blind readers; more regions have names next to them"),
      ]}
    />
  );
}
