// Everything that can be done, once: the command palette lists it, the help shows
// its keys, the keyboard runs it.

import type { Workbench } from "./workbench";
import * as panel from "./layout";
import { formatInstant } from "./format";
import type { Range } from "./selection";
import { saveSnapshot } from "./snapshot";

export interface Command {
  id: string;
  title: string;
  group: "Move" | "Select" | "Panels" | "Page";
  /** Chords, see keys.ts. */
  keys: string[];
  /** Works while nothing is open. */
  always?: boolean;
  /** Holding the key repeats it as one gesture. */
  repeats?: boolean;
  run: (bench: Workbench) => void;
}

const zoomStep = 0.75;
const panStep = 0.15;

/** Where keys zoom: at the cursor where it shows a time, else in the middle. */
function centre(bench: Workbench): number {
  const w = bench.store.window;
  const t = bench.hover.value?.time;
  return t !== null && t !== undefined && t >= w.begin && t <= w.end ? t : (w.begin + w.end) / 2;
}

const held = { gesture: "keys" };

function fit(bench: Workbench): void {
  const range = bench.look.value.time ?? factRange(bench);
  if (!range) return bench.store.zoom(bench.store.wholeRun);
  const margin = (range.end - range.begin) * 0.02;
  bench.store.zoom({ begin: range.begin - margin, end: range.end + margin });
}

function factRange(bench: Workbench): Range | null {
  const fact = bench.pinned.value?.fact;
  return fact?.begin !== undefined && fact.end !== undefined && fact.end > fact.begin ? { begin: fact.begin, end: fact.end } : null;
}

function stepFound(bench: Workbench, by: -1 | 1): void {
  if (!bench.finder.found.value) return bench.say("No search yet: press / to search.");
  bench.finder.step(by).catch((e: unknown) => bench.reportGone(e));
}

/** Moves the brushed range, or else the window, by its own length. */
function step(bench: Workbench, by: -1 | 1): void {
  const { time } = bench.look.value;
  if (!time) return bench.store.panBy(by);
  const length = time.end - time.begin;
  const moved = { begin: time.begin + by * length, end: time.end + by * length };
  if (moved.end <= 0 || moved.begin >= bench.store.wholeRun.end) return bench.say("That is the end of the run.");
  bench.store.select({ time: moved });
  const w = bench.store.window;
  if (moved.begin < w.begin || moved.end > w.end) bench.store.zoom({ begin: w.begin + by * length, end: w.end + by * length });
}

function goToMark(bench: Workbench, by: -1 | 1): void {
  const w = bench.store.window;
  const at = (w.begin + w.end) / 2;
  const marks = [...bench.marks.value].sort((a, b) => a - b);
  const slack = (w.end - w.begin) / 1000;
  const to = by > 0 ? marks.find((m) => m > at + slack) : marks.reverse().find((m) => m < at - slack);
  if (to === undefined) return bench.say(bench.marks.value.length === 0 ? "No marks yet: M marks the time under the cursor." : "No further mark there.");
  bench.store.zoom({ begin: to - (w.end - w.begin) / 2, end: to + (w.end - w.begin) / 2 });
}

function mark(bench: Workbench): void {
  const w = bench.store.window;
  const at = Math.round(bench.look.value.time && !bench.hover.value ? bench.look.value.time.begin : centre(bench));
  const near = bench.marks.value.find((m) => Math.abs(m - at) < (w.end - w.begin) / 200);
  bench.marks.value = near === undefined ? [...bench.marks.value, at].sort((a, b) => a - b).slice(-100) : bench.marks.value.filter((m) => m !== near);
  bench.say(near === undefined ? `Marked ${formatInstant(at, w.end - w.begin)}.` : "Mark removed.");
}

function escape(bench: Workbench): void {
  if (bench.pinned.value) bench.pin(null);
  if (!bench.store.isEmpty) return bench.store.clear();
  if (bench.layout.value.maximised !== "" && bench.layout.value.as !== "tabs") bench.setLayout({ ...bench.layout.value, maximised: "" });
}

/** Narrows all pictures to the selected locations, or widens them again. */
export function narrow(bench: Workbench): void {
  const { locations, only } = bench.look.value;
  if (locations.length > 0) return bench.store.select({ only: [...locations], locations: [] });
  if (only.length > 0) return bench.store.select({ only: [] });
  bench.say("Select locations first, in the tree or in a picture.");
}

function pinSelected(bench: Workbench): void {
  const ids = bench.chosen.value.ids.slice(0, 20);
  if (ids.length === 0) return bench.say("Select locations first, in the tree or in a picture.");
  for (const id of ids) bench.pinRow(id);
}

function cycle(bench: Workbench, by: 1 | -1): void {
  const all = panel.panels(bench.layout.value);
  if (all.length === 0) return;
  const at = all.findIndex((p) => p.id === bench.focused.value);
  const next = all[(at + by + all.length) % all.length].id;
  if (bench.layout.value.maximised !== "" || bench.layout.value.as === "tabs") bench.openTab(next);
  bench.focused.value = next;
  requestAnimationFrame(() => document.getElementById(next)?.focus());
}

/** All on the screen, then rows that scroll, then tabs. */
function nextForm(bench: Workbench): void {
  const { as } = bench.layout.value;
  bench.setPanelsAs(as === undefined ? "scroll" : as === "scroll" ? "tabs" : undefined);
  bench.say({ fit: "All panels fit the screen.", scroll: "Panels keep their height, and scroll.", tabs: "A tab for each panel: Q and E go from one to the next." }[bench.layout.value.as ?? "fit"]);
}

function onFocused(f: (bench: Workbench, p: panel.PanelState) => void): (bench: Workbench) => void {
  return (bench) => {
    const p = bench.focusedPanel;
    if (p) f(bench, p);
  };
}

/** Picks the n-th view of the list for the focused panel. */
export function pickView(bench: Workbench, n: number): void {
  const v = bench.available.value[n];
  const p = bench.focusedPanel;
  if (!v) return bench.say(`There is no view ${n + 1}.`);
  if (p) bench.setView(p.id, v.name);
  else bench.addView(v.name);
}

export const commands: Command[] = [
  { id: "zoom-in", title: "Zoom in", group: "Move", keys: ["KeyW"], repeats: true, run: (b) => b.store.zoomBy(zoomStep, centre(b), held) },
  { id: "zoom-out", title: "Zoom out", group: "Move", keys: ["KeyS"], repeats: true, run: (b) => b.store.zoomBy(1 / zoomStep, centre(b), held) },
  { id: "pan-left", title: "Move to earlier", group: "Move", keys: ["KeyA"], repeats: true, run: (b) => b.store.panBy(-panStep, held) },
  { id: "pan-right", title: "Move to later", group: "Move", keys: ["KeyD"], repeats: true, run: (b) => b.store.panBy(panStep, held) },
  { id: "fit", title: "Fit the selection, or the whole run", group: "Move", keys: ["KeyF"], run: fit },
  { id: "whole-run", title: "Show the whole run", group: "Move", keys: ["Shift+KeyF"], run: (b) => b.store.zoom(b.store.wholeRun) },
  { id: "previous", title: "Cause of the chosen interval; else the previous range of the same length", group: "Move", keys: ["BracketLeft", '"["'], run: (b) => { if (!b.follower.step(-1)) step(b, -1); } },
  { id: "next", title: "Effect of the chosen interval; else the next range of the same length", group: "Move", keys: ["BracketRight", '"]"'], run: (b) => { if (!b.follower.step(1)) step(b, 1); } },
  { id: "mark", title: "Mark this time, or remove the mark", group: "Move", keys: ["KeyM"], run: mark },
  { id: "previous-mark", title: "Previous mark", group: "Move", keys: ["Shift+BracketLeft"], run: (b) => goToMark(b, -1) },
  { id: "next-mark", title: "Next mark", group: "Move", keys: ["Shift+BracketRight"], run: (b) => goToMark(b, 1) },

  { id: "clear", title: "Clear the selection", group: "Select", keys: ["Escape"], run: escape },
  { id: "undo", title: "Undo", group: "Select", keys: ["Ctrl+KeyZ"], run: (b) => b.store.undo() },
  { id: "redo", title: "Redo", group: "Select", keys: ["Ctrl+Shift+KeyZ", "Ctrl+KeyY"], run: (b) => b.store.redo() },
  { id: "select-window", title: "Select the time on screen", group: "Select", keys: [], run: (b) => b.store.select({ time: b.store.window }) },
  { id: "contrast", title: "Contrast: why is the selection different?", group: "Select", keys: ["KeyC"], run: (b) => b.contrast() },
  { id: "narrow", title: "Show only the selected locations, or all again", group: "Select", keys: ["KeyO"], run: narrow },
  { id: "area", title: "Area: contents of the selected range, in tabs", group: "Select", keys: ["KeyR"], run: (b) => (b.area.value = b.area.value === "" ? "regions" : "") },
  { id: "flame", title: "Flame graph of the selection", group: "Select", keys: ["Shift+KeyR"], run: (b) => (b.area.value = b.area.value === "flame" ? "" : "flame") },
  { id: "pin", title: "Pin or unpin the rows of the selected locations", group: "Select", keys: ["KeyP"], run: pinSelected },
  { id: "arrange", title: "Order locations by similarity, or as in the tree", group: "Select", keys: ["KeyG"], run: (b) => b.setArrange(b.arrange.value === "" ? "groups" : "") },
  { id: "search", title: "Search locations, regions and intervals", group: "Select", keys: ['"/"', "Slash"], run: () => document.getElementById("search")?.focus() },
  { id: "next-found", title: "Next interval found", group: "Select", keys: ["KeyN"], repeats: true, run: (b) => stepFound(b, 1) },
  { id: "previous-found", title: "Previous interval found", group: "Select", keys: ["Shift+KeyN"], repeats: true, run: (b) => stepFound(b, -1) },

  { id: "table", title: "Show the panel as a table", group: "Panels", keys: ["KeyT"], run: onFocused((b, p) => b.setLayout(panel.changePanel(b.layout.value, p.id, { table: !p.table }))) },
  { id: "maximise", title: "Maximise the panel, or restore it", group: "Panels", keys: ["KeyZ"], run: onFocused((b, p) => b.setLayout(panel.toggleMaximised(b.layout.value, p.id))) },
  { id: "split-right", title: "Split the panel to the right", group: "Panels", keys: [], run: onFocused((b, p) => b.addView(p.view, "right", p.id)) },
  { id: "split-below", title: "Split the panel below", group: "Panels", keys: [], run: onFocused((b, p) => b.addView(p.view, "below", p.id)) },
  { id: "close-panel", title: "Close the panel", group: "Panels", keys: ["Shift+KeyX"], run: onFocused((b, p) => b.setLayout(panel.closePanel(b.layout.value, p.id))) },
  { id: "next-panel", title: "Next panel", group: "Panels", keys: ["KeyE"], run: (b) => cycle(b, 1) },
  { id: "previous-panel", title: "Previous panel", group: "Panels", keys: ["KeyQ"], run: (b) => cycle(b, -1) },
  { id: "panels-as", title: "Panels: all on the screen, in rows that scroll, or as tabs", group: "Panels", keys: ["KeyV"], run: nextForm },
  { id: "overview", title: "Standard panels: the first screen again", group: "Panels", keys: [], run: (b) => b.setLayout(b.overview()) },

  { id: "commands", title: "All commands", group: "Page", keys: ["Ctrl+Shift+KeyP"], always: true, run: (b) => (b.overlay.value = "commands") },
  { id: "help", title: "Help and keys", group: "Page", keys: ['"?"'], always: true, run: (b) => (b.overlay.value = "help") },
  { id: "query", title: "Query: run SQL", group: "Page", keys: ["Backquote"], run: (b) => (b.asking.value = !b.asking.value) },
  { id: "stories", title: "Stories of the run", group: "Page", keys: ["Shift+KeyY"], run: (b) => (b.overlay.value = "stories") },
  { id: "notes", title: "Notes and workspaces of the run", group: "Page", keys: ["Shift+KeyM"], run: (b) => (b.overlay.value = "notes") },
  { id: "figure", title: "Figure: export the panel for a paper, with a preview", group: "Page", keys: [], run: (b) => (b.overlay.value = "figure") },
  { id: "share", title: "Share: copy a read-only link, valid for a week", group: "Page", keys: [], run: (b) => void shareAddress(b) },
  { id: "snapshot", title: "Snapshot: save the screen as one file", group: "Page", keys: [], run: (b) => void saveSnapshot(b) },
  { id: "report", title: "Import report", group: "Page", keys: [], run: (b) => (b.overlay.value = "report") },
  { id: "left", title: "Show or hide locations and regions", group: "Page", keys: ["Ctrl+KeyB"], run: (b) => b.toggleSide("left") },
  { id: "right", title: "Show or hide the inspector", group: "Page", keys: ["KeyI"], run: (b) => b.toggleSide("right") },
  { id: "light", title: "Light theme", group: "Page", keys: [], always: true, run: (b) => (b.theme.value = "light") },
  { id: "dark", title: "Dark theme", group: "Page", keys: [], always: true, run: (b) => (b.theme.value = "dark") },
  { id: "system", title: "Theme of the system", group: "Page", keys: [], always: true, run: (b) => (b.theme.value = "system") },
  { id: "minimap", title: "Strip of the whole run: activity or moments", group: "Page", keys: [], run: (b) => (b.minimap.value = b.minimap.value === "activity" ? "moments" : "activity") },
  { id: "viridis", title: "Colours of magnitudes: viridis", group: "Page", keys: [], run: (b) => (b.palette.value = "") },
  { id: "cividis", title: "Colours of magnitudes: cividis", group: "Page", keys: [], run: (b) => (b.palette.value = "cividis") },
  { id: "usual-hues", title: "Colours of categories: default", group: "Page", keys: [], run: (b) => (b.hues.value = "") },
  { id: "safe-hues", title: "Colours of categories: for colour-blind readers", group: "Page", keys: [], run: (b) => (b.hues.value = "safe") },
  { id: "copy-link", title: "Copy the address of this page", group: "Page", keys: [], run: (b) => void copyAddress(b, location.href, "Address copied: it shows this picture again on this server.") },
  { id: "home", title: "Open another run", group: "Page", keys: [], always: true, run: (b) => b.goHome() },
];

export async function copy(bench: Workbench, text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    bench.say(done);
  } catch {
    bench.say("The browser does not let this page copy.");
  }
}

/** Copies an address of this page with the token that opens it elsewhere: in another browser, or for a colleague. */
export async function copyAddress(bench: Workbench, address: string, done: string): Promise<void> {
  try {
    await copy(bench, withToken(address, await bench.api.token()), done);
  } catch (e) {
    bench.report(e);
  }
}

/** Copies an address with a token of its own, which only looks. */
export async function shareAddress(bench: Workbench): Promise<void> {
  if (bench.session.value?.readOnly) return bench.say("This link is already read-only: share it as it is.");
  try {
    const { token, until } = await bench.api.share();
    await copy(bench, withToken(location.href, token), `Copied: a read-only link, valid until ${until.slice(0, 10)} or the end of this server.`);
  } catch (e) {
    bench.report(e);
  }
}

/** The token comes first, as in the printed address. */
export function withToken(address: string, token: string): string {
  const at = new URL(address);
  at.searchParams.delete("token");
  const rest = at.search.slice(1);
  return `${at.origin}${at.pathname}?token=${encodeURIComponent(token)}${rest === "" ? "" : `&${rest}`}`;
}

/** Commands that depend on the run: its views, its selection. */
export function viewCommands(bench: Workbench): Command[] {
  return bench.available.value.map((v, i) => ({
    id: `view-${v.name}`, title: `View: ${v.title}`, group: "Panels", keys: i < 9 ? [`Digit${i + 1}`] : [], run: (b) => b.reveal(v.name),
  }));
}
