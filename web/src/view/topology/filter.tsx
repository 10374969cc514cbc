// Range, slices and their mean, shape and size: all applied in the page, on the
// places and values that it has.

import { useMemo } from "preact/hooks";
import { useBench } from "../../shell/context";
import { formatUnit, thousands } from "../../shell/format";
import type { PanelState } from "../../shell/layout";
import type { SpaceMark } from "../../scene/scene";
import { filterOf, meanOf, parseLimit, parseSlice, writeSlice } from "../../scene/space/look";

const shapes = ["points", "spheres", "bars", "mesh"];
const palettes = ["viridis", "cividis", "diverging"];

export function Filter({ panel, space }: { panel: PanelState; space: SpaceMark | null }) {
  const bench = useBench();
  const option = (name: string) => panel.options[name]?.[0];
  const set = (name: string, value: string) => bench.setOption(panel.id, name, value === "" ? [] : [value]);
  // The layout may have a shape of its own.
  const shape = option("shape") ?? shapes[space?.form ?? 0];
  const choice = { min: option("min"), max: option("max"), slice: option("slice") };
  const held = useMemo(() => (space ? meanOf(space, filterOf(space, choice)) : null), [space, choice.min, choice.max, choice.slice]);
  if (!space || !held) return <p class="quiet">The picture is being made.</p>;
  const unit = (v: number) => formatUnit(v, space.unit);
  const share = (text: string | undefined, otherwise: number) => {
    const v = parseLimit(text, space.low, space.high);
    return v === null || !(space.high > space.low) ? otherwise : Math.round(((v - space.low) / (space.high - space.low)) * 1000) / 10;
  };
  const first = space.filter; // as the layout's file says
  const begin = (v: number, otherwise: number) => (first.ranged && Math.abs(v) < Number.MAX_VALUE ? share(String(v), otherwise) : otherwise);
  const [low, high] = [share(choice.min, begin(first.min, 0)), share(choice.max, begin(first.max, 100))];
  const at = (percent: number) => unit(space.low + (percent / 100) * (space.high - space.low));
  return (
    <div class="topology-filter">
      <h3>Range</h3>
      <Slide label="min" value={low} min={0} max={100} step={0.5} text={at(low)} set={(v) => set("min", v <= 0 && !first.ranged ? "" : `${v}%`)} />
      <Slide label="max" value={high} min={0} max={100} step={0.5} text={at(high)} set={(v) => set("max", v >= 100 && !first.ranged ? "" : `${v}%`)} />
      <p class="quiet">
        {low > high ? `only values outside: above ${at(low)} or below ${at(high)}; ` : ""}
        {thousands(held.shown)} of {thousands(held.held)} locations shown
      </p>
      <label><input type="checkbox" checked={option("range") !== undefined} onChange={(e) => set("range", e.currentTarget.checked ? `${space.low},${space.high}` : "")} /> lock the colours to {unit(space.low)} – {unit(space.high)}</label>
      <h3>Slice</h3>
      {[0, 1, 2].map((a) => <Axis key={a} axis={a} space={space} text={choice.slice ?? writeSlice(first)} set={(v) => bench.setOption(panel.id, "slice", v === "" && writeSlice(first) === "" ? [] : [v])} />)}
      <p class="topology-mean" role="status">mean of {thousands(held.held)} {held.held === 1 ? "location" : "locations"}: <b>{held.held > 0 ? unit(held.mean) : "none"}</b></p>
      <h3>Shape</h3>
      <div class="topology-shapes" role="radiogroup" aria-label="Shape">
        {shapes.map((s) => (
          <label key={s}><input type="radio" name={`${panel.id}-shape`} checked={shape === s} onChange={() => set("shape", s)} /> {s}</label>
        ))}
      </div>
      <Slide label="size" value={Number(option("point") ?? 1)} min={0.1} max={5} step={0.1} text={`× ${option("point") ?? 1}`} set={(v) => set("point", v === 1 ? "" : String(v))} />
      {shape === "spheres" && <Slide label="detail" value={Number(option("detail") ?? (space.detail || 3))} min={2} max={6} step={1} text={option("detail") ?? String(space.detail || 3)} set={(v) => set("detail", v === 3 ? "" : String(v))} />}
      <h3>Colours and axes</h3>
      <label><input type="checkbox" checked={(option("axes") ?? "shown") === "shown"} onChange={(e) => set("axes", e.currentTarget.checked ? "" : "hidden")} /> axes</label>
      <label><input type="checkbox" checked={(option("key") ?? "shown") === "shown"} onChange={(e) => set("key", e.currentTarget.checked ? "" : "hidden")} /> scale of colours</label>
      <label><input type="checkbox" checked={option("traffic") === "shown"} onChange={(e) => set("traffic", e.currentTarget.checked ? "shown" : "")} /> messages between locations</label>
      <label class="topology-slide"><span>colours</span>
        <select aria-label="Scale of colours" value={option("palette") ?? "viridis"} onChange={(e) => set("palette", e.currentTarget.value === "viridis" ? "" : e.currentTarget.value)}>
          {palettes.map((p) => <option key={p} value={p}>{p}</option>)}
        </select>
      </label>
      <button type="button" class="chip" title="As at first" onClick={() => bench.setOption(panel.id, "camera", [])}>reset camera</button>
    </div>
  );
}

interface SlideProps {
  label: string;
  value: number;
  min: number;
  max: number;
  step: number | "any";
  text: string;
  disabled?: boolean;
  set: (v: number) => void;
}

function Slide({ label, value, min, max, step, text, disabled, set }: SlideProps) {
  return (
    <label class="topology-slide">
      <span>{label}</span>
      <input type="range" aria-label={label} aria-valuetext={text} min={min} max={max} step={step} value={value} disabled={disabled} onInput={(e) => set(Number(e.currentTarget.value))} />
      <output>{text}</output>
    </label>
  );
}

/** One axis of the slice; a slice is a unit wide, or a twentieth of an axis shorter than that would show. */
function Axis({ axis, space, text, set }: { axis: number; space: SpaceMark; text: string | undefined; set: (text: string) => void }) {
  const now = parseSlice(text);
  const { label, ...ends } = space.axes[axis]!;
  const width = ends.end - ends.begin > 4 ? 1 : Math.max((ends.end - ends.begin) / 20, 1e-9);
  // The box is a little larger than what it holds.
  const [begin, end] = width === 1 ? [Math.ceil(ends.begin), Math.floor(ends.end)] : [ends.begin, ends.end];
  const change = (on: boolean, value: number) => {
    const next = { slice: [...now.slice], at: [...now.at], width: [...now.width] };
    [next.slice[axis], next.at[axis], next.width[axis]] = [on, value, width];
    set(writeSlice(next));
  };
  const on = now.slice[axis]!;
  const middle = width === 1 ? Math.round((begin + end) / 2) : (begin + end) / 2;
  const value = on ? now.at[axis]! : middle;
  return (
    <div class="topology-axis">
      <input type="checkbox" checked={on} aria-label={`Slice along ${label || "xyz"[axis]}`} disabled={!(end > begin)} onChange={(e) => change(e.currentTarget.checked, value)} />
      <Slide label={label || "xyz"[axis]!} value={value} min={begin} max={end} step={width === 1 ? 1 : "any"} text={on ? String(Number(value.toPrecision(4))) : "all"} disabled={!(end > begin)} set={(v) => change(true, v)} />
    </div>
  );
}
