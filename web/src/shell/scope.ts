// Which parts of the selection a view takes as a filter, and which it shows as
// context with the rest dimmed. A view is never narrowed by what its own rows
// show: clicking rank 5 among the rows of all ranks must not throw the others away.

import { onlyIDs } from "../api/ids";
import type { SelectionSpec } from "../api/types";
import { noID, type Scene } from "../scene/scene";
import { windowOf, type Look } from "./selection";

export interface Follow {
  /** "window": the time axis shows the window and the brushed range is marked in it. */
  time: "window" | "selection" | "none";
  /** "context": all are shown and the chosen ones marked. */
  locations: "context" | "filter";
  regions: "context" | "filter";
}

export const filterAll: Follow = { time: "selection", locations: "filter", regions: "filter" };

/** The scope of a view without a folder, from its last scene: rows are context. */
export function followOf(scene: Scene | null, base: Partial<Follow> = {}): Follow {
  const rows = scene?.frames.flatMap((f) => [...f.yScale.rows, ...f.xScale.rows]) ?? [];
  const of = (id: "location" | "region") => (rows.some((r) => r[id] !== noID) ? "context" : "filter");
  return { time: "selection", locations: of("location"), regions: of("region"), ...base };
}

/** The selection that a view is asked for. Only ids can be marked in a picture; other patterns are left to the server. */
export function specFor(look: Look, follow: Follow): SelectionSpec {
  const spec: SelectionSpec = {};
  const range = follow.time === "none" ? null : follow.time === "window" ? windowOf(look) : (look.time ?? windowOf(look));
  if (range) {
    spec.from = range.begin;
    spec.to = range.end;
  }
  const locations = follow.locations === "context" && onlyIDs(look.locations) || look.locations.length === 0 ? look.only : look.locations;
  if (locations.length > 0) spec.locations = [...locations];
  const marked = follow.regions === "context" && onlyIDs(look.regions);
  if (look.regions.length > 0 && !marked) spec.regions = [...look.regions];
  return spec;
}

/** What is counted: the brushed range or the window, with everything chosen. */
export function countedSpec(look: Look): SelectionSpec {
  return specFor(look, filterAll);
}
