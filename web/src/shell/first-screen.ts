// The first screen of a run: which views answer the questions that people have about
// such a run, in rows. Views that the run has no data for give way to the next of the list.

import type { RunInfo, RunKind } from "../api/types";
import { newPanel, noPanels, type Layout, type PanelRow, type PanelState } from "./layout";

type Place = readonly [view: string, weight: number, options?: PanelState["options"]];

interface Screen {
  /** What the run is, for people. */
  readonly title: string;
  /** Rows of views with their shares of the width; a view that is missing leaves its place to the others. */
  readonly rows: readonly (readonly Place[])[];
  /** Shares of the height. */
  readonly heights: readonly number[];
  /** Further views at the end of each row, on screens with room for them: the others are not enlarged. */
  readonly wide: readonly (readonly Place[])[];
}

/** The screens, in the order of the menu. */
export const screens: Readonly<Record<RunKind, Screen>> = {
  ranks: { title: "a parallel run", rows: [[["timeline", 1.7], ["moments", 1]], [["treemap", 1], ["boxprofile", 1]]], heights: [1.2, 1], wide: [[["profile", 0.9]], [["commmatrix", 0.8], ["calltree", 1]]] },
  gpu: { title: "a GPU job", rows: [[["steps", 1.2], ["operators", 1]], [["timeline", 1]]], heights: [1, 1.25], wide: [[["criticalpath", 0.8]], [["calltree", 0.6]]] },
  requests: { title: "requests of services", rows: [[["requests", 1.2], ["criticalpath", 1]], [["services", 1.25], ["timeline", 1]]], heights: [1, 1], wide: [[["histogram", 0.9]], [["boxprofile", 1]]] },
  go: {
    title: "a Go program", heights: [1, 1.2], wide: [[["kaleidoscope", 0.4]], [["groups", 0.7]]],
    rows: [[["timeline", 1, { only: ["kind:processor"], depth: ["0"] }]], [["timeline", 1.5, { only: ["kind:goroutine"] }], ["calltree", 1, { only: ["kind:goroutine"] }]]],
  },
  threads: { title: "one process", rows: [[["timeline", 1]], [["calltree", 1.2], ["boxprofile", 1]]], heights: [1.2, 1], wide: [[], [["profile", 1], ["kaleidoscope", 0.7]]] },
  profile: { title: "a profile", rows: [[["calltree", 1]], [["profile", 1], ["treemap", 1]]], heights: [1.2, 1], wide: [[["callmatrix", 0.7]], [["boxprofile", 1]]] },
  moments: { title: "recorded moments", rows: [[["moments", 1.5], ["treemap", 1]], [["profile", 1], ["commmatrix", 1]]], heights: [1.2, 1], wide: [[["topology", 0.9]], [["boxprofile", 0.8]]] },
  other: { title: "counters", rows: [[["timeline", 1]]], heights: [1], wide: [] },
};

/** A profile without call paths: columns and bars of its regions, and how locations differ. */
const flatProfile: Screen = { title: "a flat profile", rows: [[["profile", 1]], [["boxprofile", 1.3], ["treemap", 1]]], heights: [1.3, 1], wide: [[], [["groups", 1]]] };

/** What takes the place of a screen that has too little to show. */
const instead = ["timeline", "calltree", "profile", "boxprofile", "histogram", "moments", "treemap", "commmatrix", "activity"];

/** Views of several runs say nothing of one. */
const ofRuns = ["compare", "scaling", "history"];

const ofPaths = ["calltree", "callmatrix"];

const amongMany = ["treemap", "groups", "commmatrix", "boxprofile", "topology", "landscape"];

/** Facts of a run that decide on panels beside its kind. */
export type RunSize = Partial<Pick<RunInfo, "locations" | "path_depth" | "depth">>;

export function firstScreen(kind: RunKind, held: readonly string[], { locations = 3, path_depth = 0, depth = 2 }: RunSize = {}, wide = false): Layout {
  const { rows, heights, wide: further } = kind === "profile" && (!held.includes("calltree") || path_depth === 1) ? flatProfile : screens[kind];
  // One location alone, or with the one that it lies in, has nothing to be compared with; a tree of one level is a profile.
  const flat = path_depth === 1 || (path_depth === 0 && depth === 1);
  const available = held.filter((v) => !(locations <= 2 && amongMany.includes(v)) && !(flat && ofPaths.includes(v)));
  const out: PanelRow[] = [];
  rows.forEach((row, i) => {
    const there = [...row, ...(wide ? (further[i] ?? []) : [])].filter(([view]) => available.includes(view));
    if (there.length > 0) out.push({ weight: heights[i], panels: there.map(([view, weight, options]) => newPanel(view, options, weight)) });
  });
  const shown = new Set(out.flatMap((r) => r.panels.map((p) => p.view)));
  for (const view of [...instead, ...available]) {
    if (shown.size >= 2 || out.length >= 2) break;
    if (["findings", "answer"].includes(view) || ofRuns.includes(view) || shown.has(view) || !available.includes(view)) continue;
    shown.add(view);
    out.push({ weight: 1, panels: [newPanel(view)] });
  }
  return out.length === 0 ? noPanels : { rows: out, maximised: "" };
}

/** The kind whose first screen a layout is; null where the user made it. */
export function screenOf(layout: Layout, kinds: readonly RunKind[], held: readonly string[], size?: RunSize): RunKind | null {
  return kinds.find((k) => [false, true].some((wide) => sameViews(firstScreen(k, held, size, wide), layout))) ?? null;
}

/** Whether two layouts have the same views at the same places. */
export function sameViews(a: Layout, b: Layout): boolean {
  const views = (l: Layout) => l.rows.map((r) => r.panels.map((p) => p.view).join(",")).join("~");
  return views(a) === views(b);
}

/** The other screens that a run has most of the views for. */
export function otherScreens(kind: RunKind, available: readonly string[]): RunKind[] {
  return (Object.keys(screens) as RunKind[]).filter((k) => {
    const views = screens[k].rows.flat().map(([v]) => v);
    return k !== kind && k !== "other" && views.filter((v) => available.includes(v)).length >= 2 && available.includes(views[0]);
  });
}
