// The life of the page beside what the user does: reading the address, writing
// it, waiting for imports, noticing that the server went away and came back.

import { batch, effect } from "@preact/signals";
import type { RunState } from "../api/types";
import { decodePage, encodePage, type PageState } from "./url";
import { adopt, newPanel, type Layout } from "./layout";
import type { Workbench } from "./workbench";

const importPoll = 250;
const comebackPoll = 1500;
const livePoll = 1000;

/** Connects the workbench with the server and the address. */
export async function start(bench: Workbench): Promise<void> {
  const state = decodePage(location.search);
  bench.theme.value = state.theme;
  bench.palette.value = state.palette;
  bench.hues.value = state.hues;
  bench.arrange.value = state.arrange;
  bench.minimap.value = state.minimap;
  bench.embed.value = state.embed;
  followSystemTheme(bench);
  followWidth(bench);
  window.addEventListener("popstate", () => void goTo(bench, decodePage(location.search)));
  waitForComeback(bench);
  try {
    const [session, views, runs] = await Promise.all([bench.api.session(), bench.api.views(), bench.api.runs()]);
    if (state.theme === "system" && session.theme !== "" && !location.search.includes("theme=")) bench.theme.value = session.theme;
    bench.views.value = views;
    bench.runs.value = runs;
    bench.session.value = session;
    await open(bench, state);
  } catch (e) {
    bench.report(e);
  }
  writeAddress(bench);
  watchLive(bench);
}

/** Shows a state of the browser's history; of the same run without asking for it again. */
async function goTo(bench: Workbench, state: PageState): Promise<void> {
  if (state.run !== bench.runID.value || state.run === "") return open(bench, state);
  batch(() => {
    bench.theme.value = state.theme;
    bench.palette.value = state.palette;
    bench.hues.value = state.hues;
    bench.arrange.value = state.arrange;
    bench.minimap.value = state.minimap;
    bench.marks.value = state.marks;
    bench.walk.value = state.walk;
    bench.story.value = state.story;
    bench.store.restore(state.look);
    if (state.layout) bench.setLayout(adopt(state.layout, bench.layout.value));
  });
}

/** Shows a saved state of the run that is open, as a step that undo goes back over. */
export function goToQuery(bench: Workbench, query: string): void {
  const state = decodePage(query);
  batch(() => {
    if (state.layout) bench.setLayout(adopt(state.layout, bench.layout.value));
    bench.setArrange(state.arrange);
    bench.minimap.value = state.minimap;
    bench.marks.value = state.marks;
    bench.setWalk(state.walk);
    bench.store.restore(state.look);
  });
}

/** The state of the page, as its address has it. */
export function pageState(bench: Workbench): PageState {
  return {
    run: bench.runID.value, look: bench.look.value, layout: bench.runID.value === "" ? null : bench.layout.value,
    theme: bench.theme.value, palette: bench.palette.value, hues: bench.hues.value, arrange: bench.arrange.value, minimap: bench.minimap.value, embed: bench.embed.value, marks: bench.marks.value, walk: bench.walk.value, story: bench.story.value,
  };
}

/** Shows what a state names: its run, the only run, or the home page. */
async function open(bench: Workbench, state: PageState): Promise<void> {
  const runs = bench.runs.value;
  const wanted = runs.find((r) => r.id === state.run) ?? (state.run === "" && runs.length > 0 ? runs[0] : undefined);
  if (state.embed !== "") state = { ...state, layout: state.layout ?? embedded(state) };
  // An address that says nothing leaves the first look to the run.
  const first = state.run === "" && state.layout === null && state.embed === "" && state.look.trail.length === 0;
  if (wanted && first) state = { ...state, layout: besideEachOther(bench) };
  if (!wanted) {
    if (state.run !== "") bench.say(`The run “${state.run.slice(0, 80)}” is not open here.`);
    return bench.goHome();
  }
  await follow(bench, wanted, state, first);
}

/** Runs that the command line named to be compared, side by side; null where it did not. */
function besideEachOther(bench: Workbench): Layout | null {
  const ready = bench.runs.value.filter((r) => r.state === "ready");
  if (!bench.session.value?.beside || ready.length < 2 || ready[0].id !== bench.runs.value[0].id) return null;
  const layout = bench.sideBySide(ready.map((r) => r.id));
  if (layout.rows.length === 0) return null;
  return layout;
}

function embedded(state: PageState) {
  const query = new URLSearchParams(location.search);
  const options: Record<string, string[]> = {};
  for (const [key, value] of query) if (key.startsWith("0.")) (options[key.slice(2)] ??= []).push(value);
  return { rows: [{ weight: 1, panels: [newPanel(state.embed, options)] }], maximised: "" };
}

/** Waits until a run is ready, then shows it; the home page shows the progress. */
export async function follow(bench: Workbench, run: RunState, state: PageState | null, first = state === null): Promise<void> {
  bench.awaited.value = run.id;
  for (;;) {
    const now = bench.runs.value.find((r) => r.id === run.id);
    if (!now || now.state === "failed" || bench.awaited.value !== run.id) return;
    if (now.state === "ready") break;
    await new Promise((f) => setTimeout(f, importPoll));
    try {
      bench.runs.value = await bench.api.runs();
    } catch (e) {
      bench.report(e);
    }
  }
  await bench.show(run.id, state, first);
  bench.awaited.value = "";
}

/** Below this there is no room for panels beside each other. */
const narrowWidth = "(max-width: 899px)";

function followWidth(bench: Workbench): void {
  const media = matchMedia(narrowWidth);
  bench.narrow.value = media.matches;
  media.addEventListener("change", () => (bench.narrow.value = media.matches));
}

function followSystemTheme(bench: Workbench): void {
  const media = matchMedia("(prefers-color-scheme: dark)");
  bench.systemDark.value = media.matches;
  media.addEventListener("change", () => (bench.systemDark.value = media.matches));
  effect(() => {
    document.documentElement.dataset.theme = bench.themeName.value;
  });
}

/**
 * Keeps the address equal to the state. Every choice is a step of the browser's
 * history, as it is one of undo; what a gesture or the theme changes is none.
 */
function writeAddress(bench: Workbench): void {
  let shownRun = bench.runID.value;
  let steps = bench.store.steps;
  let timer = 0;
  const write = (url: string) => {
    const there = url === (location.search === "" ? location.pathname : location.search); // the history went there by itself
    if (!there && bench.store.steps !== steps) history.pushState(null, "", url);
    else if (!there) history.replaceState(null, "", url);
    steps = bench.store.steps;
    bench.addressWritten = true;
  };
  effect(() => {
    const state = pageState(bench);
    const query = encodePage(state);
    const url = query === "" ? location.pathname : `?${query}`;
    clearTimeout(timer);
    bench.addressWritten = state.run !== shownRun;
    if (state.run !== shownRun) {
      shownRun = state.run;
      steps = bench.store.steps;
      if (url !== location.search) history.pushState(null, "", url);
    } else {
      // Browsers limit how often an address may change; a pan changes it every frame.
      timer = setTimeout(() => write(url), 150) as unknown as number;
    }
    document.title = bench.run.value ? `${bench.run.value.name} · Parallax` : "Parallax";
  });
}

/** Runs that grow are asked for again and again, as long as the page is visible. */
function watchLive(bench: Workbench): void {
  let busy = false;
  setInterval(async () => {
    if (busy || document.hidden || bench.trouble.peek() || bench.awaited.peek() !== "" || !bench.runs.peek().some((r) => r.live)) return;
    busy = true;
    try {
      const before = bench.runs.peek();
      const runs = await bench.api.runs();
      const changed = runs.filter((r) => r.live && r.state === "ready" && before.some((b) => b.id === r.id && b.generation !== "" && b.generation !== r.generation));
      if (changed.length === 0 && runs.length === before.length && !runs.some((r, i) => r.state !== before[i]!.state)) return;
      bench.runs.value = runs;
      const shown = changed.find((r) => r.id === bench.runID.peek());
      if (shown) await bench.renew(before.find((b) => b.id === shown.id)!, shown);
      else if (changed.length > 0) bench.comebacks.value++;
    } catch (e) {
      bench.report(e);
    } finally {
      busy = false;
    }
  }, livePoll);
}

/** While the server is gone, asks until it answers, then lets all pictures ask again. */
function waitForComeback(bench: Workbench): void {
  let timer = 0;
  effect(() => {
    const gone = bench.trouble.value;
    clearInterval(timer);
    if (gone === null || gone.kind !== "unreachable") return;
    timer = setInterval(() => void comeback(bench), comebackPoll) as unknown as number;
  });
}

async function comeback(bench: Workbench): Promise<void> {
  try {
    const runs = await bench.api.runs();
    bench.runs.value = runs;
    bench.trouble.value = null;
    if (bench.views.value.length === 0) return location.reload();
    if (bench.runID.value !== "" && !runs.some((r) => r.id === bench.runID.value)) {
      bench.say(`The server is back, but “${bench.runID.value}” is not open there any more.`);
      return bench.goHome();
    }
    bench.comebacks.value++;
  } catch (e) {
    const kind = (e as { detail?: { kind?: string } }).detail?.kind;
    if (kind === "forbidden") bench.report(e);
  }
}
