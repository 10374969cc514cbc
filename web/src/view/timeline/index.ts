// timeline: rows of locations over time. Its marks do not depend on the window's
// ends, so it moves under the hand; a click on a row's label opens or closes the
// group, a click on an interval chooses its location and keeps its facts.

import "./timeline.css";
import type { Row, Scene } from "../../scene/scene";
import { noID } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import type { RowsShown, Symbol, ViewPlug } from "../../shell/plug";

export const timeline: ViewPlug = {
  name: "timeline",
  follow: { time: "window", locations: "context", regions: "filter" },
  local: true,
  always: { depth: ["auto"] },
  titled: { option: "only", by: kinds },
  rowsShown: (scene) => readRows(scene.notes),
  choose: (fact) => (fact.locations?.length ? { locations: fact.locations.map((id) => `#${id}`) } : {}),
  chooseRow: toggleRow,
  symbols: timelineSymbols,
};

/** "Goroutines" for rows of one kind alone: it distinguishes two timelines of a run. */
export function kinds(only: string): string {
  const kind = /^kind:([a-z ]+)$/.exec(only)?.[1];
  return kind ? `${kind[0]!.toUpperCase()}${kind.slice(1)}s` : "";
}

/** Symbols that lie over the rows, where there are some. */
export function timelineSymbols(scene: Scene): Symbol[] {
  const has = (layer: string, kind: "line" | "point") => scene.layers.some((l) => l.name === layer && l.marks.some((m) => m.kind === kind && (m.kind === "line" ? m.x0 : m.kind === "point" ? m.x : []).length > 0));
  const out: Symbol[] = [];
  if (has("links", "line")) out.push({ sign: "↗", words: "link" });
  if (has("links", "point")) out.push({ sign: "✳", words: "links too dense to draw" });
  if (has("instants", "point")) out.push({ sign: "◆", words: "instant" });
  if (scene.layers.some((l) => l.name === "critical path")) out.push({ sign: "━", words: "critical path" });
  if (scene.frames[0]?.yScale.rows.some((r) => r.label.startsWith("↑ "))) out.push({ sign: "↑", words: "pinned" });
  return out;
}

/** The view says in its notes which rows it shows, where that is not all. */
export function readRows(notes: readonly string[]): RowsShown | null {
  for (const n of notes) {
    const m = /^rows ([\d,]+) to ([\d,]+) of ([\d,]+) are shown/.exec(n);
    if (!m) continue;
    const [first, last, total] = m.slice(1).map((x) => Number(x.replaceAll(",", "")));
    return { first: first - 1, last, total };
  }
  return null;
}

/** Opens a folded row, closes an open one; null for a row that is neither. */
export function toggleRow(row: Row, panel: PanelState): { option: string; values: string[] }[] | null {
  if (row.location === noID || !(row.open || row.folded)) return null;
  const id = `#${row.location}`;
  const [to, from] = row.folded ? ["expand", "collapse"] : ["collapse", "expand"];
  const without = (panel.options[from] ?? []).filter((p) => p !== id);
  const withIt = [...(panel.options[to] ?? []).filter((p) => p !== id), id];
  return [{ option: from, values: without }, { option: to, values: withIt }];
}
