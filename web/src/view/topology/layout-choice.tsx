// Which layout places the locations: coordinates of the data, a ready-made one, a
// box to fill, the tree, or the text of the editor.

import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import { nameOf } from "./text";

export function LayoutChoice({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const value = panel.options.layout?.[0] ?? "";
  const topologies = bench.info.value?.topologies ?? [];
  const examples = bench.view("topology")?.examples ?? [];
  const n = bench.info.value?.rows || bench.info.value?.ranks || 1;
  const folded = topologies.length > 0 && isLongLine(topologies[0]!.dims, n);
  const own = /^(strict|text):/.test(value) ? nameOf(value) : "";
  const box = value.startsWith("fill:") ? value : `fill:${boxOf(n)}`;
  const set = (v: string) => bench.setOption(panel.id, "layout", v === "" ? [] : [v]);
  return (
    <select class="topology-choice" aria-label="Layout" title="What places the locations" value={own ? value : value || ""} onChange={(e) => set(e.currentTarget.value)}>
      {own && <option value={value}>{own}, edited</option>}
      {topologies.length === 0 && <option value="">block</option>}
      {folded && <option value="">rows</option>}
      {topologies.length > 0 && (
        <optgroup label="coordinates of the data">
          {topologies.map((t, i) => <option key={t.name} value={i === 0 && !folded ? "" : t.name}>{t.name || "coordinates"} {t.dims.join("×")}</option>)}
        </optgroup>
      )}
      <optgroup label="ready-made">
        {examples.filter((e) => !isFigure(e.name) && (topologies.length > 0 || e.name !== "block")).map((e) => <option key={e.name} value={e.name}>{e.name}</option>)}
        {!folded && <option value="rows">rows</option>}
        <option value="hierarchy">hierarchy</option>
        <option value={box}>{box}</option>
      </optgroup>
      <optgroup label="of the paper">
        {examples.filter((e) => isFigure(e.name)).map((e) => <option key={e.name} value={e.name}>{e.name}</option>)}
      </optgroup>
    </select>
  );
}

/** The three sides of a box that is filled; one that is too small grows upwards. */
export function BoxSides({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const value = panel.options.layout?.[0] ?? "";
  if (!value.startsWith("fill:")) return null;
  const n = bench.info.value?.rows || bench.info.value?.ranks || 1;
  const sides = sidesOf(value);
  return (
    <span class="topology-sides" role="group" aria-label="Sides of the box">
      {sides.map((side, a) => (
        <input
          key={a} type="number" min={1} max={1048576} step={1} value={side} aria-label={`Locations along ${"xyz"[a]}`} title={`Locations along ${"xyz"[a]}`}
          onChange={(e) => bench.setOption(panel.id, "layout", [`fill:${grown(sides, a, Math.round(Number(e.currentTarget.value)), n).join("x")}`])}
        />
      ))}
    </span>
  );
}

export function sidesOf(fill: string): [number, number, number] {
  const given = fill.slice("fill:".length).split(/[x×]/i).map((t) => Math.max(1, Math.round(Number(t)) || 1));
  return [given[0] ?? 1, given[1] ?? 1, given[2] ?? 1];
}

/** The sides with one changed, and another grown until the box holds n. */
export function grown(sides: readonly [number, number, number], axis: number, to: number, n: number): [number, number, number] {
  const out: [number, number, number] = [...sides];
  out[axis] = Math.min(Math.max(1, to || 1), 1 << 20);
  const last = axis === 2 ? 1 : 2;
  const rest = out.reduce((p, s, a) => (a === last ? p : p * s), 1);
  if (rest * out[last]! < n) out[last] = Math.ceil(n / rest);
  return out;
}

/** Coordinates that are one long line are not drawn so unless asked for; the server has the same rule. */
export function isLongLine(dims: readonly number[], n: number): boolean {
  return n > 32 && dims.filter((d) => d > 1).length === 1;
}

const isFigure = (name: string) => /^(figure|listing|4P|ScatterTest)/i.test(name);

/** A box of about equal sides that holds n. */
export function boxOf(n: number): string {
  const side = Math.max(1, Math.round(Math.cbrt(n)));
  let x = side;
  while (x > 1 && n % x !== 0) x--;
  if (x === 1) x = side;
  let y = Math.max(1, Math.round(Math.sqrt(n / x)));
  const best = y;
  while (y > 1 && (n / x) % y !== 0) y--;
  if (y === 1) y = best;
  return `${x}x${y}x${Math.ceil(n / x / y)}`;
}
