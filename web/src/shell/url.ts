// The address of the page holds its whole state, so that a reload, a bookmark or
// a colleague on the same server gets the same picture. Keys are short words, only
// what differs from the default is written, and what cannot be read is left out.
//
//   run=ID                    the run
//   t=b-e,b-e                 the zooms, outermost first; ns
//   only=PATTERN              narrowed to these locations (repeated)
//   from=b&to=e               the brushed range; ns
//   locations=P&regions=P     the selection (repeated), as on the command line
//   v=timeline*1.7,moments@1.2~treemap,boxprofile
//                             rows of views, *width, @height of the row
//   0.show=max                option of panel 0, in order of v
//   table=0,2  max=1          panels shown as tables; the maximised one, or the open tab
//   panels=tabs               panels as tabs, or in a grid that scrolls
//   theme=dark palette=cividis region-colours=safe strip=moments
//   arrange=groups:k=3        order of locations in all panels, as on the command line
//   walk=1.why                the finding of the strip and the stop of its walk: who, why, if
//   story=2:NAME              a story that is kept with the run, and its stop
//   embed=VIEW                one panel alone

import { packIDs, unpackIDs } from "../api/ids";
import { everything, type Look, type Range } from "./selection";
import { newPanel, noPanels, panels, type Layout, type PanelRow } from "./layout";

export type Hues = "" | "safe";
export type ThemeChoice = "system" | "light" | "dark";

export interface PageState {
  run: string;
  look: Look;
  /** Null: the page chooses. */
  layout: Layout | null;
  theme: ThemeChoice;
  /** Colours of magnitudes for all views; "": each view's own. */
  palette: string;
  /** Colours of categories: "safe" for colour-blind readers; "": the usual ones. */
  hues: Hues;
  /** Order of locations in all panels; "": that of the tree. */
  arrange: string;
  /** The view of the strip over the panels. */
  minimap: string;
  /** The one view to show alone, or "". */
  embed: string;
  /** Times that the user marked; ns. */
  marks: number[];
  /** The finding of the strip, from 1, and the stop of its walk: "1.why"; "": none was chosen. */
  walk: string;
  /** The story that is told, with its stop: "2:NAME"; "": none. */
  story: string;
}

export function encodePage(s: PageState): string {
  const q = new URLSearchParams();
  const put = (key: string, value: string) => { if (value !== "") q.append(key, value); };
  put("embed", s.embed);
  put("run", s.run);
  put("t", s.look.trail.map((r) => `${r.begin}-${r.end}`).join(","));
  for (const p of packIDs(s.look.only)) put("only", p);
  if (s.look.time) {
    put("from", String(s.look.time.begin));
    put("to", String(s.look.time.end));
  }
  for (const p of packIDs(s.look.locations)) put("locations", p);
  for (const p of s.look.regions) put("regions", p);
  if (s.layout) encodeLayout(s.layout, put);
  if (s.theme !== "system") put("theme", s.theme);
  put("palette", s.palette);
  put("region-colours", s.hues);
  put("arrange", s.arrange);
  put("strip", s.minimap === "activity" ? "" : s.minimap);
  put("marks", s.marks.join(","));
  put("walk", s.walk);
  put("story", s.story);
  return readable(q.toString());
}

/** Leaves characters alone that an address may hold as they are. */
function readable(query: string): string {
  return query.replace(/%2C/g, ",").replace(/%7E/g, "~").replace(/%40/g, "@").replace(/%3A/g, ":").replace(/%2F/g, "/");
}

function encodeLayout(layout: Layout, put: (key: string, value: string) => void): void {
  put("v", layout.rows.map(encodeRow).join("~"));
  const all = panels(layout);
  all.forEach((p, i) => {
    for (const name of Object.keys(p.options).sort()) for (const v of p.options[name]) put(`${i}.${name}`, v);
  });
  put("table", all.flatMap((p, i) => (p.table ? [i] : [])).join(","));
  const max = all.findIndex((p) => p.id === layout.maximised);
  if (max >= 0) put("max", String(max));
  put("panels", layout.as ?? "");
}

function encodeRow(r: PanelRow): string {
  const list = r.panels.map((p) => p.view + (p.weight === 1 ? "" : `*${p.weight}`)).join(",");
  return r.weight === 1 ? list : `${list}@${r.weight}`;
}

export function decodePage(query: string): PageState {
  const q = new URLSearchParams(query);
  const theme = q.get("theme");
  return {
    run: q.get("run") ?? "",
    look: {
      ...everything,
      trail: (q.get("t") ?? "").split(",").flatMap(parseRange),
      only: unpackIDs(q.getAll("only").filter((x) => x !== "")),
      time: parseRange(`${q.get("from") ?? ""}-${q.get("to") ?? ""}`)[0] ?? null,
      locations: unpackIDs(q.getAll("locations").filter((x) => x !== "")),
      regions: q.getAll("regions").filter((x) => x !== ""),
    },
    layout: decodeLayout(q),
    theme: theme === "light" || theme === "dark" ? theme : "system",
    palette: q.get("palette") ?? "",
    hues: (q.get("region-colours") ?? q.get("hues")) === "safe" ? "safe" : "",
    arrange: /^groups(:|$)/.test(q.get("arrange") ?? "") ? q.get("arrange")! : "",
    minimap: q.get("strip") === "moments" ? "moments" : "activity",
    embed: viewName(q.get("embed") ?? ""),
    marks: (q.get("marks") ?? "").split(",").filter((x) => /^\d+$/.test(x)).map(Number).slice(0, 100),
    walk: /^[1-9]\d{0,2}\.(who|why|if)$/.test(q.get("walk") ?? "") ? q.get("walk")! : "",
    story: /^[1-9]\d?:.{1,200}$/.test(q.get("story") ?? "") ? q.get("story")! : "",
  };
}

function parseRange(text: string): Range[] {
  const m = /^(\d{1,18})-(\d{1,18})$/.exec(text);
  if (!m) return [];
  const [begin, end] = [Number(m[1]), Number(m[2])];
  return end > begin ? [{ begin, end }] : [];
}

/** Names of views are one lower-case word; anything else is left out. */
function viewName(text: string): string {
  return /^[a-z][a-z0-9-]{0,40}$/.test(text) ? text : "";
}

function decodeLayout(q: URLSearchParams): Layout | null {
  const v = q.get("v");
  if (!v) return null;
  const tables = new Set((q.get("table") ?? "").split(","));
  const options = decodeOptions(q);
  let n = 0;
  const rows: PanelRow[] = [];
  for (const text of v.split("~").slice(0, 20)) {
    const [list, height] = text.split("@");
    const row = list.split(",").slice(0, 20).flatMap((item) => {
      const [name, width] = item.split("*");
      if (viewName(name) === "") return [];
      const i = n++;
      return [{ ...newPanel(name, options.get(i) ?? {}, weight(width)), table: tables.has(String(i)) }];
    });
    if (row.length > 0) rows.push({ panels: row, weight: weight(height) });
  }
  if (rows.length === 0) return null;
  const all = panels({ ...noPanels, rows });
  const as = q.get("panels");
  return { rows, maximised: q.has("max") ? (all[Number(q.get("max"))]?.id ?? "") : "", ...(as === "tabs" || as === "scroll" ? { as } : {}) };
}

function weight(text: string | undefined): number {
  const x = Number(text);
  return text !== undefined && x > 0.01 && x < 100 ? x : 1;
}

/** Present names of options, by those that addresses of the release before have. */
const renamed: Record<string, string> = { stretch: "value-scale", worth: "min-change", alike: "similarity" };

function decodeOptions(q: URLSearchParams): Map<number, Record<string, string[]>> {
  const out = new Map<number, Record<string, string[]>>();
  for (const [key, value] of q) {
    const m = /^(\d{1,3})\.([a-z][a-z0-9-]*)$/.exec(key);
    if (!m) continue;
    const of = out.get(Number(m[1])) ?? {};
    (of[renamed[m[2]] ?? m[2]] ??= []).push(value);
    out.set(Number(m[1]), of);
  }
  return out;
}
