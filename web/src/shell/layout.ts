// The panels of the workbench: rows of panels with weights. Pure functions that
// give a new layout; the shell keeps the current one.

export interface PanelState {
  /** Stable while the page lives; never in the address. */
  readonly id: string;
  readonly view: string;
  /** What the user set, by option name; several values only for patterns. */
  readonly options: Readonly<Record<string, readonly string[]>>;
  /** The table twin is shown instead of the picture. */
  readonly table: boolean;
  /** Share of the row's width. */
  readonly weight: number;
}

export interface PanelRow {
  readonly panels: readonly PanelState[];
  /** Share of the height. */
  readonly weight: number;
}

export interface Layout {
  readonly rows: readonly PanelRow[];
  /** The one panel that fills the grid, or the tab that is open; "": none. */
  readonly maximised: string;
  /** Rows with a height of their own that scroll, or a tab for each panel; else all fit the screen. */
  readonly as?: PanelsAs;
}

export type PanelsAs = "scroll" | "tabs";

/** The panel that is shown alone: the open tab, or the one that is maximised. */
export function shownAlone(layout: Layout): PanelState | undefined {
  return findPanel(layout, layout.maximised) ?? (layout.as === "tabs" ? panels(layout)[0] : undefined);
}

/** Panels in another form; undefined: all fit the screen. */
export function panelsAs(layout: Layout, as: PanelsAs | undefined, focused: string): Layout {
  return { rows: layout.rows, maximised: as === "tabs" ? (findPanel(layout, focused)?.id ?? "") : "", ...(as && { as }) };
}

/** Gives panels the ids of those that stand in their places and show the same view: the page draws them anew, and does not build them anew. */
export function adopt(layout: Layout, before: Layout): Layout {
  const ids = new Map<string, string>();
  const rows = layout.rows.map((r, i) => ({
    ...r,
    panels: r.panels.map((p, k) => {
      const old = before.rows[i]?.panels[k];
      if (old?.view !== p.view) return p;
      ids.set(p.id, old.id);
      return { ...p, id: old.id };
    }),
  }));
  return { ...layout, rows, maximised: ids.get(layout.maximised) ?? layout.maximised };
}

export const noPanels: Layout = { rows: [], maximised: "" };

let last = 0;

export function newPanel(view: string, options: PanelState["options"] = {}, weight = 1): PanelState {
  return { id: `panel-${++last}`, view, options, table: false, weight };
}

export function panels(layout: Layout): PanelState[] {
  return layout.rows.flatMap((r) => r.panels);
}

export function findPanel(layout: Layout, id: string): PanelState | undefined {
  return panels(layout).find((p) => p.id === id);
}

/** Where a panel stands: row and place in it, or null. */
export function placeOf(layout: Layout, id: string): { row: number; column: number } | null {
  for (let row = 0; row < layout.rows.length; row++) {
    const column = layout.rows[row].panels.findIndex((p) => p.id === id);
    if (column >= 0) return { row, column };
  }
  return null;
}

export function changePanel(layout: Layout, id: string, change: Partial<Omit<PanelState, "id">>): Layout {
  const rows = layout.rows.map((r) =>
    r.panels.some((p) => p.id === id) ? { ...r, panels: r.panels.map((p) => (p.id === id ? { ...p, ...change } : p)) } : r);
  return { ...layout, rows };
}

/** Sets one option; no values take it back to its default. */
export function setOption(layout: Layout, id: string, name: string, values: readonly string[]): Layout {
  const panel = findPanel(layout, id);
  if (!panel) return layout;
  const options = { ...panel.options };
  if (values.length > 0) options[name] = values;
  else delete options[name];
  return changePanel(layout, id, { options });
}

/** Puts a panel beside or below another; at the end where there is none. */
export function addPanel(layout: Layout, panel: PanelState, beside?: string, where: "right" | "below" = "below"): Layout {
  const at = beside === undefined ? null : placeOf(layout, beside);
  const maximised = layout.as === "tabs" ? panel.id : "";
  if (at === null) return { ...layout, rows: [...layout.rows, { panels: [panel], weight: 1 }], maximised };
  const rows = [...layout.rows];
  if (where === "below") {
    rows.splice(at.row + 1, 0, { panels: [panel], weight: rows[at.row].weight });
  } else {
    const row = [...rows[at.row].panels];
    row.splice(at.column + 1, 0, { ...panel, weight: row[at.column].weight });
    rows[at.row] = { ...rows[at.row], panels: row };
  }
  return { ...layout, rows, maximised };
}

/** Adds a panel where there is room: in the last row of fewer than two, else below. */
export function appendPanel(layout: Layout, panel: PanelState): Layout {
  const lastRow = layout.rows[layout.rows.length - 1];
  if (!lastRow || lastRow.panels.length >= 2) return addPanel(layout, panel);
  return addPanel(layout, panel, lastRow.panels[lastRow.panels.length - 1].id, "right");
}

export function closePanel(layout: Layout, id: string): Layout {
  const rows = layout.rows
    .map((r) => ({ ...r, panels: r.panels.filter((p) => p.id !== id) }))
    .filter((r) => r.panels.length > 0);
  if (layout.maximised !== id) return { ...layout, rows };
  const all = panels(layout);
  const at = all.findIndex((p) => p.id === id);
  return { ...layout, rows, maximised: layout.as === "tabs" ? ((all[at + 1] ?? all[at - 1])?.id ?? "") : "" };
}

export function toggleMaximised(layout: Layout, id: string): Layout {
  if (layout.as === "tabs") return layout; // one panel fills the screen already
  return { ...layout, maximised: layout.maximised === id ? "" : id };
}

/** Moves weight from one neighbour to the next; both keep a tenth of their sum. */
export function shift(a: number, b: number, share: number): [number, number] {
  const sum = a + b;
  const first = Math.min(0.9 * sum, Math.max(0.1 * sum, a + share * sum));
  return [round(first), round(sum - first)];
}

function round(x: number): number {
  return Math.round(x * 1000) / 1000;
}

/** What a change is about: two of the same key in a row are one move of the hand; "": a step of its own. */
export function changeKey(before: Layout, after: Layout): string {
  const [a, b] = [panels(before), panels(after)];
  if (a.length !== b.length || before.maximised !== after.maximised || before.as !== after.as || before.rows.length !== after.rows.length) return "";
  if (a.some((p, i) => p.id !== b[i].id || p.view !== b[i].view || p.table !== b[i].table)) return "";
  const changed = b.flatMap((p, i) => [...new Set([...Object.keys(a[i].options), ...Object.keys(p.options)])]
    .filter((name) => a[i].options[name] !== p.options[name]).map((name) => `${p.id} ${name}`));
  return changed.length === 0 ? "weights" : changed.join(",");
}

/** Scrolling is looking around, not a change that anybody undoes. */
export function onlyScrolls(key: string): boolean {
  return key !== "" && key.split(",").every((x) => x.endsWith(" scroll"));
}

export function resizeRow(layout: Layout, row: number, share: number): Layout {
  const rows = [...layout.rows];
  if (row < 0 || row + 1 >= rows.length) return layout;
  const [a, b] = shift(rows[row].weight, rows[row + 1].weight, share);
  rows[row] = { ...rows[row], weight: a };
  rows[row + 1] = { ...rows[row + 1], weight: b };
  return { ...layout, rows };
}

export function resizeColumn(layout: Layout, row: number, column: number, share: number): Layout {
  const list = layout.rows[row]?.panels;
  if (!list || column < 0 || column + 1 >= list.length) return layout;
  const [a, b] = shift(list[column].weight, list[column + 1].weight, share);
  return changePanel(changePanel(layout, list[column].id, { weight: a }), list[column + 1].id, { weight: b });
}

/** The most runs that have room beside each other. */
const mostBeside = 4;

/** A run of a set, as the first screen needs to know it. */
export interface Sized {
  readonly id: string;
  readonly name: string;
  /** Ranks; 0: not known. */
  readonly size: number;
}

/** How many sizes a model of a call path takes. */
const sizesOfModels = 5;

/**
 * Runs beside each other, the verdict first: what changed, with intervals, and the call tree in both widths; of runs of several sizes how they scale, and
 * what changed from the smallest to the largest. Below it when what happened, two runs one above the other on one time scale. The first run is the page's own.
 */
export function sideBySide(runs: readonly Sized[], available: readonly string[]): Layout {
  const ids = runs.map((r) => r.id);
  const others = ids.slice(1);
  const has = (v: string) => available.includes(v);
  const sizes = [...new Set(runs.map((r) => r.size))].sort((a, b) => a - b);
  const scales = sizes.length > 1 && sizes[0] > 0 && has("scaling");
  const rows: PanelRow[] = [];
  let shown = ids.slice(0, has("compare") ? 2 : mostBeside);
  if (scales) {
    const of = (size: number) => runs.filter((r) => r.size === size);
    const [least, most] = [of(sizes[0]), of(sizes[sizes.length - 1])];
    shown = [ids[0], (ids[0] === most[0].id ? least : most)[0].id];
    const factors = newPanel("scaling", { with: others }, 1.2);
    const ends = has("compare") ? [newPanel("compare", { with: others, a: least.map((r) => r.name), b: most.map((r) => r.name) })] : [];
    if (sizes.length >= sizesOfModels) {
      // Curves take the place of a second timeline.
      const when = ["timeline", "profile"].find(has);
      rows.push({ weight: 1.3, panels: [factors, newPanel("scaling", { with: others, picture: ["models"] })] });
      rows.push({ weight: 1, panels: [...ends, ...(when ? [newPanel(when, most[0].id === ids[0] ? {} : { run: [most[0].id] })] : [])] });
      return { rows: rows.filter((r) => r.panels.length > 0), maximised: "" };
    }
    rows.push({ weight: 1.3, panels: [factors, ...ends] });
  } else if (has("compare")) {
    const second = runs.length > 2 && has("history") ? newPanel("history", { with: others }) : newPanel("compare", { with: others, picture: ["tree"] });
    rows.push({ weight: 1.3, panels: [newPanel("compare", { with: others }), second] });
  }
  const below = ["timeline", "profile", "boxprofile", "calltree"].filter(has).slice(0, rows.length > 0 ? 1 : 2);
  for (const view of below) {
    const each = shown.map((id) => newPanel(view, id === ids[0] ? {} : { run: [id] }));
    if (rows.length > 0 && view === "timeline") for (const p of each) rows.push({ weight: 0.7, panels: [p] });
    else rows.push({ weight: 1, panels: each });
  }
  return { rows, maximised: "" };
}
