// boxprofile: a band a region. Regions that are chosen are marked in it and not
// thrown away; locations and time narrow what is counted. A click on a region's
// name keeps it on top, whatever the order, and a second one lets it go; with Ctrl
// it is hidden. The wheel zooms the axis of values.

import { noID, type Row, type Scene } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import type { OptionChange, ViewPlug } from "../../shell/plug";

export const boxprofile: ViewPlug = {
  name: "boxprofile",
  longLegend: true,
  follow: { time: "selection", locations: "filter", regions: "context" },
  choose: (fact) => ({
    ...(fact.locations?.length ? { locations: fact.locations.map((id) => `#${id}`) } : {}),
    ...(fact.regions?.length ? { regions: fact.regions.map((id) => `#${id}`) } : {}),
  }),
  chooseRow: (row, panel, add) => (add ? hideRow(row, panel) : keepRow(row, panel)),
  magnify: (_, factor, at, scene) => zoomValues(factor, at, scene ?? null),
};

/** Brings the values nearer that are under the pointer; all of them again when far enough out. */
export function zoomValues(factor: number, at: { x: number; y: number }, scene: Scene | null): OptionChange[] {
  const f = scene?.frames.find((x) => x.name === "main");
  if (!scene || !f || f.w <= 0) return [];
  const { kind, begin, end } = f.xScale;
  const to = (v: number) => (kind === "log" ? Math.log(v) : v);
  const from = (v: number) => (kind === "log" ? Math.exp(v) : v);
  const x = at.x * Math.max(1, Math.min(scene.width, scene.height)) + scene.width / 2;
  const middle = to(begin) + (to(end) - to(begin)) * Math.max(0, Math.min(1, (x - f.x) / f.w));
  const low = from(middle - (middle - to(begin)) / factor);
  const high = from(middle + (to(end) - middle) / factor);
  const least = kind === "log" ? 0.1 : 0;
  if (factor < 1 && (low <= least || high > 1e15)) return [{ option: "min", values: [] }, { option: "max", values: [] }];
  if (!(high - low >= 2)) return []; // values are whole nanoseconds
  return [{ option: "min", values: [String(Math.max(kind === "log" ? 1 : 0, Math.round(low)))] }, { option: "max", values: [String(Math.round(high))] }];
}

/** Leaves a region out. */
export function hideRow(row: Row, panel: PanelState): OptionChange[] | null {
  if (row.region === noID) return null;
  return [{ option: "hide", values: [...new Set([...(panel.options.hide ?? []), `#${row.region}`])] }];
}

/** Keeps a region on top, or lets it go. */
export function keepRow(row: Row, panel: PanelState): { option: string; values: string[] }[] | null {
  if (row.region === noID) return null;
  const id = `#${row.region}`;
  const kept = panel.options.keep ?? [];
  return [{ option: "keep", values: kept.includes(id) ? kept.filter((p) => p !== id) : [...kept, id] }];
}
