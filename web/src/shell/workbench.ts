// The state of the page, as signals, and what can be done with it. Everything
// that the user can see follows from here; the components only draw it.

import { batch, computed, signal, type Signal } from "@preact/signals";
import { ApiFailure, type Api } from "../api/client";
import { idsOf } from "../api/ids";
import type { ApiError, Fact, IntervalHit, RegionRow, RunInfo, RunKind, RunState, Session, Theme, ViewInfo } from "../api/types";
import type { Painter } from "../scene/painter";
import type { Palette, Tint } from "../scene/palette";
import type { AreaTab } from "./area";
import { CauseFollower } from "./causes";
import { Chosen } from "./chosen";
import { cssColour } from "./colour";
import { firstScreen } from "./first-screen";
import { formatBytes, thousands } from "./format";
import { IntervalFinder } from "./found";
import * as panel from "./layout";
import { LocationBook } from "./names";
import { NoteBook } from "./notes";
import { forAnotherRun, type Choice, type ViewPlug } from "./plug";
import type { PageOptions } from "./option";
import type { TrackSpan } from "./query-track";
import { everything, firstLook, firstLookOfAll, looksNow, SelectionStore, type Look, type Range } from "./selection";
import { windowBeside } from "./beside";
import { choiceIn, sameRegions } from "./same-region";
import { bestOf } from "./shows";
import type { Hues, PageState, ThemeChoice } from "./url";

/** The point that all panels mark at once. */
export interface Hover {
  panel: string;
  time: number | null;
  location: number | null;
  region: number | null;
  /** Where the pointer is in a scene with rows and columns, for its cross-hair. */
  cell?: { x: number; y: number };
}

/** A fact with the panel it comes from. */
export interface ShownFact {
  fact: Fact;
  panel: string;
  view: string;
}

export interface Tip {
  x: number;
  y: number;
  title: string;
  lines: string[];
}

export type Overlay = "" | "help" | "commands" | "report" | "open" | "notes" | "stories" | "figure";

/** A request may name so many; more are better named by a group or a pattern. */
export const mostNamed = { locations: 10_000, regions: 250 };

export class Workbench {
  readonly session = signal<Session | null>(null);
  readonly views = signal<ViewInfo[]>([]);
  readonly runs = signal<RunState[]>([]);
  /** The run shown; "" is the home page. */
  readonly runID = signal("");
  /** The run that is being waited for; "" none. */
  readonly awaited = signal("");
  readonly info = signal<RunInfo | null>(null);
  readonly regions = signal<RegionRow[]>([]);

  readonly store = new SelectionStore();
  readonly look = signal<Look>(everything);
  /** Ids that are chosen among locations, with their place in the tree. */
  readonly chosen = signal(new Chosen([]));
  readonly marks = signal<number[]>([]);
  /** The finding of the strip and the stop of its walk, as the address has it. */
  readonly walk = signal("");
  /** The story that is told, with its stop: "2:NAME". */
  readonly story = signal("");
  /** Rows of an answer that are shown on the pictures. */
  readonly track = signal<TrackSpan[]>([]);
  /** Intervals found by words. */
  readonly finder: IntervalFinder;
  /** What is being searched for: pictures of names light up what has it. */
  readonly searched = signal("");
  /** Causes and effects of the interval that is chosen. */
  readonly follower: CauseFollower;
  /** Notes and workspaces of the run. */
  readonly notebook: NoteBook;

  readonly layout = signal<panel.Layout>(panel.noPanels);
  readonly focused = signal("");
  readonly embed = signal("");
  readonly theme = signal<ThemeChoice>("system");
  readonly systemDark = signal(false);
  readonly palette = signal("");
  /** Colours of categories: default, or those for colour-blind readers. */
  readonly hues = signal<Hues>("");
  /** Order of locations in all panels, as --arrange says it; "": that of the tree. */
  readonly arrange = signal("");
  /** What the strip over the panels shows: "activity" or "moments". */
  readonly minimap = signal("activity");
  readonly dark = computed(() => this.theme.value === "dark" || (this.theme.value === "system" && this.systemDark.value));

  readonly hover = signal<Hover | null>(null);
  readonly hoverFact = signal<ShownFact | null>(null);
  /** How long the pointer rests before facts are requested that the picture does not have, in ms: moving asks for nothing. */
  restDelay = 500;
  readonly pinned = signal<ShownFact | null>(null);

  /** What each panel's picture says about itself, by panel. */
  readonly notes = signal<Readonly<Record<string, readonly string[]>>>({});
  /** Why a panel's picture is not the one asked for, by panel. */
  readonly failures = signal<Readonly<Record<string, ApiError | null>>>({});
  /** The view whose reading is explained; "": that of the focused panel. */
  readonly howTo = signal("");
  /** A few words beside the cursor. */
  readonly tip = signal<Tip | null>(null);

  readonly overlay = signal<Overlay>("");
  /** The query panel is open. */
  readonly asking = signal(false);
  /** The text on the selected area below the pictures; "": none. */
  readonly area = signal<AreaTab | "">("");
  /** The flame graph of the area: a panel that is not in the layout. */
  readonly flame = signal<panel.PanelState>({ ...panel.newPanel("calltree"), id: "area-flame" });
  /** Widths of the columns at the sides, in pixels; negative: hidden, as wide as before. */
  readonly left = signal(size("left", Math.min(320, Math.max(196, (globalThis.innerWidth ?? 1280) * 0.13))));
  readonly right = signal(size("right", Math.min(460, Math.max(264, (globalThis.innerWidth ?? 1280) * 0.22))));
  /** The screen is narrow: one panel at a time, the sides as drawers. */
  readonly narrow = signal(false);
  /** The drawer that is open on a narrow screen. */
  readonly drawer = signal<"" | "left" | "right">("");
  /** Short words at the bottom, for things done without a picture of them. */
  readonly toast = signal("");
  /** Why nothing works just now; null when all is well. */
  readonly trouble = signal<ApiError | null>(null);
  /** What the server keeps for the next picture, in words; empty until it says so. */
  readonly kept = signal("");
  /** The address says what is shown: for tests. */
  addressWritten = false;
  /** Counts how often the server came back, so that pictures ask again. */
  readonly comebacks = signal(0);

  book: LocationBook;
  /** Chosen locations whose places are being asked for. */
  private placing: Chosen | null = null;
  private toastTimer = 0;
  private memoryTimer = 0;

  constructor(readonly api: Api, readonly plugs: readonly ViewPlug[], readonly colours: Palette, readonly newPainter: (host: HTMLElement) => Painter) {
    this.book = new LocationBook(api, "");
    this.finder = new IntervalFinder({ api, store: this.store, run: () => this.runID.peek(), say: (words) => this.say(words), track: (spans) => (this.track.value = spans), shown: (hit) => { this.follower.show(hit); this.fly(hit); } });
    this.follower = new CauseFollower(this);
    this.notebook = new NoteBook(api, (e) => this.report(e));
    api.onKept?.((used, most) => (this.kept.value = `${formatBytes(used)} of ${formatBytes(most)} kept`));
    this.store.subscribe((look) => {
      this.look.value = look;
      void this.placeChosen(look);
    });
  }

  readonly run = computed(() => this.runs.value.find((r) => r.id === this.runID.value) ?? null);
  readonly themeName = computed<Theme>(() => (this.dark.value ? "dark" : "light"));
  /** The table of colours that pictures are drawn with. */
  readonly tint = computed<Tint>(() => (this.hues.value === "safe" ? `${this.themeName.value}Safe` : this.themeName.value));
  /** Views that the run has data for. */
  readonly available = computed(() => this.views.value.filter((v) => !this.missing(v.name)));

  view(name: string): ViewInfo | undefined {
    return this.views.value.find((v) => v.name === name);
  }

  plug(name: string): ViewPlug {
    return this.plugs.find((p) => p.name === name) ?? { name };
  }

  /** Why a view makes no sense for this run, or "". */
  missing(view: string): string {
    return this.run.value?.missing[view] ?? "";
  }

  /** The run that a panel shows: another one that is open, else that of the page. */
  runOf(p: panel.PanelState): string {
    const own = p.options.run?.[0];
    return own !== undefined && this.runs.value.some((r) => r.id === own && r.state === "ready") ? own : this.runID.value;
  }

  /** A panel of another run: the selection's ids mean nothing there, but it shows the same time. */
  isForeign(p: panel.PanelState): boolean {
    return this.runOf(p) !== this.runID.value;
  }

  /** Whether any panel shows another run than the page's own, so that each must say which. */
  readonly hasForeign = computed(() => panel.panels(this.layout.value).some((p) => this.isForeign(p)));

  /** Lengths of runs that are shown beside the page's own, by id; ns. */
  private readonly ends = signal<Readonly<Record<string, number>>>({});
  private readonly asked = new Set<string>();

  /** The length of a run; 0 until it is known. */
  endOf(id: string): number {
    if (id === this.runID.value) return this.info.value?.end ?? 0;
    if (!this.asked.has(id)) {
      this.asked.add(id);
      this.api.info(id).then((info) => (this.ends.value = { ...this.ends.peek(), [id]: info.end }), () => this.asked.delete(id));
    }
    return this.ends.value[id] ?? 0;
  }

  /** Regions of runs beside the page's own, by id of the run. */
  private readonly foreignRegions = signal<Readonly<Record<string, readonly RegionRow[]>>>({});
  private readonly askedRegions = new Map<string, Promise<void>>();

  /** The regions of a run; none until they are known. */
  regionsOf(id: string): readonly RegionRow[] {
    if (id === this.runID.value) return this.regions.value;
    if (!this.askedRegions.has(id)) {
      this.askedRegions.set(id, this.api.regions(id).then((rows) => void (this.foreignRegions.value = { ...this.foreignRegions.peek(), [id]: rows }), () => void this.askedRegions.delete(id)));
    }
    return this.foreignRegions.value[id] ?? [];
  }

  /** The regions that are chosen, in the run of a panel, by their names; none where it has none of them. */
  regionsFor(p: panel.PanelState): readonly string[] {
    const chosen = this.look.value.regions;
    if (chosen.length === 0 || !this.isForeign(p)) return chosen;
    return choiceIn(chosen, this.regions.value, this.regionsOf(this.runOf(p))) ?? [];
  }

  /** What a fact of another run chooses in the page's own: its regions. */
  async fromForeign(p: panel.PanelState, fact: Fact): Promise<Choice> {
    this.regionsOf(this.runOf(p));
    await this.askedRegions.get(this.runOf(p)); // a first click must not be lost
    const ids = sameRegions(fact.regions ?? [], this.regionsOf(this.runOf(p)), this.regions.value);
    return ids.length > 0 ? { regions: ids.map((id) => `#${id}`) } : {};
  }

  /** Opens two runs against each other: what changed, and their timelines one above the other. */
  openAgainst(names: readonly string[]): void {
    const found = names.map((n) => this.runs.value.find((r) => r.name === n && r.state === "ready"));
    const [a, b] = found;
    if (!a || !b) return this.say(`The runs ${names.join(" and ")} are not open here.`);
    const taken = [a.id, b.id].filter((id) => id !== this.runID.value);
    const show = (view: string) => this.view(view) !== undefined && !a.missing[view] && !b.missing[view];
    const rows: panel.PanelRow[] = [{ weight: 1.2, panels: [panel.newPanel("compare", { with: taken, a: [a.name], b: [b.name] })] }];
    if (show("timeline")) for (const id of [a.id, b.id]) rows.push({ weight: 0.8, panels: [panel.newPanel("timeline", id === this.runID.value ? {} : { run: [id] })] });
    // They take the place of runs that were beside each other before: what was clicked stays.
    const kept = this.layout.value.rows.filter((r) => r.panels.some((p) => p.view !== "timeline" && p.view !== "compare"));
    this.setLayout({ ...this.layout.value, rows: [...kept, ...rows], maximised: this.layout.value.as === "tabs" ? rows[0].panels[0].id : "" });
    this.focused.value = rows[0].panels[0].id;
  }

  /** What a panel of another run shows; null until its length is known. */
  beside(p: panel.PanelState): { window: Range; end: number } | null {
    const end = this.endOf(this.runOf(p));
    return end > 0 ? { window: windowBeside(this.look.value, p, this.sharedEnd, end), end } : null;
  }

  /** The end of the longest run on the page: all of them are drawn on this scale until one zooms. */
  get sharedEnd(): number {
    const others = panel.panels(this.layout.value).filter((p) => this.isForeign(p));
    return Math.max(this.store.wholeRun.end, ...others.map((p) => this.endOf(this.runOf(p))));
  }

  /** What the time axis of a panel shows, and the end of its run, which may lie before the window's: all runs are on one scale. */
  axisOf(p: panel.PanelState): { window: Range; end: number } {
    const own = { window: this.look.value.trail.length > 0 ? this.store.window : { begin: 0, end: this.sharedEnd }, end: this.store.wholeRun.end };
    return this.isForeign(p) ? (this.beside(p) ?? own) : own;
  }

  /** Further runs that can be looked at beside the page's own. */
  readonly otherRuns = computed(() => this.runs.value.filter((r) => r.id !== this.runID.value && r.state === "ready"));

  region(id: number): RegionRow | undefined {
    return this.regions.value[id]?.id === id ? this.regions.value[id] : this.regions.value.find((r) => r.id === id);
  }

  /** A palette index in the colours of the theme. */
  colour(index: number): string {
    return cssColour(this.colours, index, this.tint.value);
  }

  resizeSide(side: "left" | "right", by: number): void {
    const now = this[side].value;
    this[side].value = Math.min(innerWidth * 0.4, Math.max(160, Math.abs(now) + by));
    keep(side, this[side].value);
  }

  toggleSide(side: "left" | "right"): void {
    if (this.narrow.value) {
      this.drawer.value = this.drawer.value === side ? "" : side;
      return;
    }
    this[side].value = -this[side].value;
    keep(side, this[side].value);
  }

  /** Shows a run that is ready, as the address says or as it was left. */
  async show(id: string, state: PageState | null, first = state === null): Promise<void> {
    const [info, regions] = await Promise.all([this.api.info(id), this.api.regions(id)]);
    let look = first ? firstLook(info.core, info.windows) : state!.look;
    const beside = first && state?.layout ? panel.panels(state.layout).flatMap((p) => (p.view === "timeline" ? p.options["run"] ?? [] : [])) : [];
    if (beside.length > 0 && !info.core) {
      const others = await Promise.all(beside.map((other) => this.api.info(other)));
      look = firstLookOfAll([info, ...others].map((i) => i.windows));
    }
    batch(() => {
      this.runID.value = id;
      this.info.value = info;
      this.regions.value = regions;
      this.book = new LocationBook(this.api, id);
      this.chosen.value = new Chosen([]);
      this.pinned.value = null;
      this.hoverFact.value = null;
      this.marks.value = state?.marks ?? [];
      this.walk.value = state?.walk ?? "";
      this.story.value = state?.story ?? "";
      this.track.value = [];
      this.finder.clear();
      this.searched.value = "";
      this.flame.value = { ...this.flame.peek(), options: {} };
      this.arrange.value = state?.arrange ?? this.arrange.value.split(":")[0];
      this.layout.value = state?.layout ?? this.remembered() ?? this.overview();
      this.focused.value = panel.panels(this.layout.value)[0]?.id ?? "";
      this.store.reset(info.end, look);
    });
    if (this.embed.peek() === "") void this.notebook.open(id);
  }

  /** Whether the run has intervals that count; samples beside a profile do not. */
  private get timed(): boolean {
    return (this.info.value?.rows ?? 0) > 0;
  }

  /** Has the pictures that merge what is small show a region of this run. */
  flyRegion(region: string): void {
    for (const p of panel.panels(this.layout.value)) {
      if (!this.isForeign(p)) for (const c of this.plug(p.view).flyRegion?.(region, p, this.timed) ?? []) this.setOption(p.id, c.option, c.values);
    }
  }

  /** Has the pictures that draw single intervals show one of this run. */
  private fly(hit: IntervalHit): void {
    for (const p of panel.panels(this.layout.value)) {
      if (!this.isForeign(p)) for (const c of this.plug(p.view).fly?.(hit, p, this.timed) ?? []) this.setOption(p.id, c.option, c.values);
    }
  }

  /** Takes a newer state of the run shown: window and selection stay, pictures ask again. */
  async renew(before: RunState, now: RunState): Promise<void> {
    const looks = this.store.looks();
    const ids = (part: "locations" | "regions") => [...new Set(looks.flatMap((l) => idsOf(part === "locations" ? [...l.locations, ...l.only] : l.regions)))];
    const asked = { locations: ids("locations"), regions: ids("regions") };
    const [info, regions, moved] = await Promise.all([
      this.api.info(now.id), this.api.regions(now.id),
      asked.locations.length + asked.regions.length > 0 ? this.api.moved(now.id, before.generation, asked.locations, asked.regions).catch(() => null) : null,
    ]);
    if (this.runID.peek() !== now.id) return;
    batch(() => {
      this.info.value = info;
      this.regions.value = regions;
      this.book = new LocationBook(this.api, now.id);
      this.chosen.value = new Chosen([]);
      this.hoverFact.value = null;
      this.store.renew(info.end, looksNow(before.origin - now.origin, asked, moved));
      this.ends.value = {};
      this.asked.clear();
      this.foreignRegions.value = {};
      this.askedRegions.clear();
      this.comebacks.value++;
    });
  }

  goHome(): void {
    batch(() => {
      this.runID.value = "";
      this.info.value = null;
      this.layout.value = panel.noPanels;
      this.store.reset(0);
    });
  }

  /** Runs beside each other: a column a run. */
  sideBySide(ids: readonly string[]): panel.Layout {
    const runs = ids.flatMap((id) => this.runs.value.find((r) => r.id === id) ?? []);
    const lacks = (view: string) => runs.some((r) => r.missing[view]);
    return panel.sideBySide(runs, this.views.value.map((v) => v.name).filter((v) => !lacks(v)));
  }

  /** The first screen for what the run is, or for another kind. */
  overview(kind: RunKind = this.info.value?.kind ?? "other"): panel.Layout {
    return firstScreen(kind, this.available.value.map((v) => v.name), this.info.value ?? {}, hasRoom());
  }

  // Panels.

  /** Changes the panels, as a step that undo goes back over. */
  setLayout(layout: panel.Layout): void {
    const before = this.layout.peek();
    if (layout === before) return;
    const key = panel.changeKey(before, layout);
    if (!panel.onlyScrolls(key)) this.store.record({ key, undo: () => this.putLayout(before), redo: () => this.putLayout(layout) });
    this.putLayout(layout);
  }

  private putLayout(layout: panel.Layout): void {
    batch(() => {
      this.layout.value = layout;
      const all = panel.panels(layout);
      if (!all.some((p) => p.id === this.focused.value)) this.focused.value = all[0]?.id ?? "";
    });
    this.remember();
  }

  addView(view: string, where?: "right" | "below", beside?: string, options: panel.PanelState["options"] = {}): void {
    const p = panel.newPanel(view, options);
    this.setLayout(where ? panel.addPanel(this.layout.value, p, beside ?? this.focused.value, where) : panel.appendPanel(this.layout.value, p));
    this.focused.value = p.id;
  }

  /** Opens a tab, as a step that undo goes back over. */
  openTab(id: string): void {
    this.setLayout({ ...this.layout.value, maximised: id });
    this.focused.value = id;
  }

  /** Panels fit the screen, scroll, or are tabs. */
  setPanelsAs(as: panel.PanelsAs | undefined): void {
    if (this.layout.value.as !== as) this.setLayout(panel.panelsAs(this.layout.value, as, this.focused.value));
  }

  /** Shows a view: in a panel that has it already, else in a new one. */
  reveal(view: string, locations: readonly string[] = []): void {
    const there = bestOf(panel.panels(this.layout.value).filter((p) => p.view === view), locations);
    if (!there) return this.addView(view);
    if ((this.layout.value.maximised !== "" || this.layout.value.as === "tabs") && this.layout.value.maximised !== there.id) {
      this.setLayout({ ...this.layout.value, maximised: there.id });
    }
    this.focused.value = there.id;
  }

  /** Shows a region's place in its source file. */
  showSource(region: { file: string; line: number }): void {
    const options = { file: [region.file], ...(region.line > 0 ? { line: [`${region.line}`] } : {}) };
    const there = panel.panels(this.layout.value).find((p) => p.view === "source");
    if (!there) return this.addView("source", "right", undefined, options);
    this.setOption(there.id, "file", options.file);
    this.setOption(there.id, "line", options.line ?? []);
    this.reveal("source");
  }

  /** Opens the view that says why the selection is different; it follows the selection from then on. */
  contrast(): void {
    const why = this.missing("contrast");
    if (!this.view("contrast") || why) return this.say(why || "This program has no view of contrasts.");
    this.reveal("contrast");
    if (this.store.isEmpty) this.say("Nothing is selected: the largest difference is shown. Select locations or a time range to compare them.");
  }

  setView(id: string, view: string): void {
    const { run, moved } = panel.findPanel(this.layout.value, id)?.options ?? {}; // another view of the same run
    this.setLayout(panel.changePanel(this.layout.value, id, { view, options: { ...(run && { run }), ...(moved && { moved }) }, table: false }));
  }

  /** A panel by its id, that of the area too. */
  panelOf(id: string): panel.PanelState | undefined {
    return id === this.flame.value.id ? this.flame.value : panel.findPanel(this.layout.value, id);
  }

  setOption(id: string, name: string, values: readonly string[]): void {
    if (id === this.flame.peek().id) {
      const options = { ...this.flame.peek().options, [name]: values };
      if (values.length === 0) delete options[name];
      this.flame.value = { ...this.flame.peek(), options };
      return;
    }
    this.setLayout(panel.setOption(this.layout.value, id, name, values));
  }

  /** The options that all panels share. A panel of another run has its own groups: what names this run's means nothing there. */
  pageOptions(p: panel.PanelState): PageOptions {
    const arrange = this.arrange.value;
    const foreign = this.isForeign(p);
    return { palette: this.palette.value, arrange: foreign ? arrange.split(":")[0] : arrange, chosen: foreign ? [] : this.look.value.locations, find: this.searched.value };
  }

  /** Orders the locations of all panels, as a step that undo goes back over. */
  setArrange(value: string): void {
    const before = this.arrange.peek();
    const after = value === "tree" ? "" : value;
    if (after === before) return;
    this.put(this.arrange, after);
  }

  /** Goes to a stop of a finding's walk, as a step that undo goes back over. */
  setWalk(value: string): void {
    if (value !== this.walk.peek()) this.put(this.walk, value);
  }

  /** Goes to a stop of a story; "" ends it. */
  setStory(value: string): void {
    if (value !== this.story.peek()) this.put(this.story, value);
  }

  /** Sets a value, as a step that undo goes back over. */
  private put(to: Signal<string>, after: string): void {
    const before = to.peek();
    this.store.record({ key: "", undo: () => (to.value = before), redo: () => (to.value = after) });
    to.value = after;
  }

  /** The panel of the timeline: the focused one, or the first. */
  get timelinePanel(): panel.PanelState | undefined {
    const all = panel.panels(this.layout.value).filter((p) => p.view === "timeline" && !this.isForeign(p));
    return all.find((p) => p.id === this.focused.value) ?? all[0];
  }

  isPinned(location: number): boolean {
    return this.timelinePanel?.options.pin?.includes(`#${location}`) ?? false;
  }

  /** Keeps the row of a location at the top of the timeline, or lets it go. */
  pinRow(location: number): void {
    const p = this.timelinePanel;
    if (!p) return this.say("Rows are pinned in a timeline: open one.");
    const [old, id] = [p.options.pin ?? [], `#${location}`];
    this.setOption(p.id, "pin", old.includes(id) ? old.filter((x) => x !== id) : [...old, id]);
  }

  get focusedPanel(): panel.PanelState | undefined {
    return panel.findPanel(this.layout.value, this.focused.value);
  }

  // Selecting.

  /** Takes a choice into the selection; added with Ctrl, else instead of what was there. */
  choose(choice: Choice, add = false): void {
    choice = this.bounded(choice);
    if (!add) return this.store.select(choice);
    const { locations, regions } = this.store.look;
    const join = (old: readonly string[], more: readonly string[] | undefined) => {
      if (!more) return [...old];
      const [had, added] = [new Set(old), new Set(more)];
      return more.every((x) => had.has(x)) ? old.filter((x) => !added.has(x)) : [...new Set([...old, ...more])];
    };
    this.store.select({ ...choice, locations: join(locations, choice.locations), regions: join(regions, choice.regions) });
  }

  private bounded(choice: Choice): Choice {
    const out = { ...choice };
    for (const part of ["locations", "regions"] as const) {
      const list = out[part];
      if (!list || list.length <= mostNamed[part]) continue;
      out[part] = list.slice(0, mostNamed[part]);
      this.say(`Only the first ${thousands(mostNamed[part])} ${part} are selected: choose a group, or search for a pattern, to have more.`);
    }
    return out;
  }

  setNotes(panelID: string, notes: readonly string[]): void {
    const now = this.notes.peek();
    if ((now[panelID] ?? []).join("\n") !== notes.join("\n")) this.notes.value = { ...now, [panelID]: notes };
  }

  pin(fact: ShownFact | null): void {
    this.pinned.value = fact;
  }

  /** Opens the explanation of a view in the inspector. */
  showHowTo(view: string): void {
    this.howTo.value = view;
    if (this.narrow.value ? this.drawer.value !== "right" : this.right.value < 0) this.toggleSide("right");
  }

  say(words: string): void {
    clearTimeout(this.toastTimer);
    this.toast.value = words;
    this.toastTimer = setTimeout(() => (this.toast.value = ""), 4000) as unknown as number;
  }

  /** Reports a failure; one that means the server is gone is shown until it is back. */
  report(e: unknown): void {
    const detail: ApiError = e instanceof ApiFailure ? e.detail : { error: String(e), hint: "", kind: "internal" };
    if (detail.kind === "aborted" || detail.kind === "superseded") return;
    if (detail.kind === "unreachable" || detail.kind === "forbidden") this.trouble.value = detail;
    else this.say(detail.hint ? `${detail.error}: ${detail.hint}` : detail.error);
  }

  /** Reports only that the server is gone; what failed by the way is not worth words. */
  reportGone(e: unknown): void {
    const detail = (e as { detail?: ApiError }).detail;
    if (detail?.kind === "unreachable" || detail?.kind === "forbidden") this.trouble.value = detail;
  }

  private async placeChosen(look: Look): Promise<void> {
    const ids = idsOf(look.locations);
    const known = this.chosen.peek();
    if (known.isOf(ids) && (ids.length === 0 || known.rows !== null || known === this.placing)) return;
    const alone = new Chosen(ids);
    this.chosen.value = alone;
    if (ids.length === 0) return;
    this.placing = alone;
    try {
      const places = await this.api.places(this.runID.peek(), ids.map((id) => `#${id}`));
      if (this.chosen.peek() !== alone) return; // others are chosen by now
      this.book.learn(places.path);
      this.chosen.value = new Chosen(ids, places);
    } catch (e) {
      if (this.placing === alone) this.placing = null; // asked again with the next change
      this.report(e);
    }
  }

  // The layout is remembered in this browser, for runs that have the same views.

  private get memoryKey(): string {
    return "parallax.layout." + this.available.value.map((v) => v.name).join(",");
  }

  private remember(): void {
    if (this.embed.value !== "" || this.runID.value === "") return;
    clearTimeout(this.memoryTimer);
    this.memoryTimer = setTimeout(() => {
      try {
        localStorage.setItem(this.memoryKey, JSON.stringify(this.layout.value));
      } catch {
        // Storage may be full or forbidden; the address still holds the layout.
      }
    }, 500) as unknown as number;
  }

  private remembered(): panel.Layout | null {
    try {
      const l = JSON.parse(localStorage.getItem(this.memoryKey) ?? "null") as panel.Layout | null;
      if (!l?.rows) return null;
      const known = new Set(this.available.value.map((v) => v.name));
      // A panel of a run that is not open any more would show this one once more.
      const isOpen = (p: panel.PanelState) => !p.options?.run?.length || this.runs.value.some((r) => r.id === p.options.run![0]);
      const rows = l.rows.map((r) => ({
        weight: Number(r.weight) || 1,
        panels: r.panels.filter((p) => known.has(p.view) && isOpen(p)).map((p) => panel.newPanel(p.view, forAnotherRun(this.plug(p.view), p.options), Number(p.weight) || 1)),
      })).filter((r) => r.panels.length > 0);
      return rows.length > 0 ? { rows, maximised: "", ...(l.as === "tabs" || l.as === "scroll" ? { as: l.as } : {}) } : null;
    } catch {
      return null;
    }
  }
}

/** Widths that the user chose are kept in this browser. */
/** Whether the screen has room for more panels than usual, at their usual size. */
function hasRoom(): boolean {
  return (globalThis.innerWidth ?? 0) >= 2560 && (globalThis.innerHeight ?? 0) >= 1200;
}

function size(name: string, usual: number): number {
  try {
    return Number(localStorage.getItem(`parallax.${name}`)) || Math.round(usual);
  } catch {
    return Math.round(usual);
  }
}

function keep(name: string, value: number): void {
  try {
    localStorage.setItem(`parallax.${name}`, String(Math.round(value)));
  } catch {
    // Nothing is lost but the width.
  }
}
