// Which layout places the locations: one that the run suggests, coordinates of the data,
// a ready-made one, a box to fill, the tree, or the text of the editor.

import { useBench } from "../../shell/context";
import type { Scene } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import { nameOf } from "./text";

export function LayoutChoice({ panel, scene }: { panel: PanelState; scene: Scene | null }) {
  const bench = useBench();
  const value = panel.options.layout?.[0] ?? "";
  const topologies = bench.info.value?.topologies ?? [];
  const examples = bench.view("topology")?.examples ?? [];
  const n = bench.info.value?.rows || bench.info.value?.ranks || 1;
  const proposed = proposalsOf(scene);
  const known = new Set(proposed.map((p) => p.layout));
  const own = /^(strict|text):/.test(value) ? nameOf(value) : "";
  const box = value.startsWith("fill:") ? value : `fill:${boxOf(n)}`;
  const first = proposed[0]?.layout ?? "";
  const set = (v: string) => bench.setOption(panel.id, "layout", v === first ? [] : [v]);
  const others = topologies.filter((t) => !known.has(t.name));
  return (
    <select class="topology-choice" aria-label="Layout" title="Layout of the locations" value={value || first} onChange={(e) => set(e.currentTarget.value)}>
      {own && <option value={value}>{own}, edited</option>}
      {proposed.length === 0 && <option value="">layout</option>}
      {proposed.length > 0 && (
        <optgroup label="proposed for this run">
          {proposed.map((p) => <option key={p.layout} value={p.layout}>{p.label}</option>)}
        </optgroup>
      )}
      {others.length > 0 && (
        <optgroup label="coordinates of the data">
          {others.map((t) => <option key={t.name} value={t.name}>{t.name || "coordinates"} {t.dims.join("×")}</option>)}
        </optgroup>
      )}
      <optgroup label="ready-made">
        {examples.filter((e) => !isFigure(e.name)).map((e) => <option key={e.name} value={e.name}>{e.name}</option>)}
        <option value="hierarchy">hierarchy</option>
        <option value={box}>{box}</option>
      </optgroup>
      <optgroup label="of the paper">
        {examples.filter((e) => isFigure(e.name)).map((e) => <option key={e.name} value={e.name}>{e.name}</option>)}
      </optgroup>
    </select>
  );
}

/** The layouts that the run suggests, the one that it opens with first. */
export function proposalsOf(scene: Scene | null): { layout: string; label: string }[] {
  return (scene?.terms ?? []).filter((t) => t.name === "layout").map((t) => ({ layout: t.text, label: t.label }));
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
