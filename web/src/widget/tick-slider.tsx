// A slider from 0 to 1 with a tick at every value where something changes. Its
// buttons step from stretch to stretch, each step being another picture.

import "./tick-slider.css";
import { useEffect, useState } from "preact/hooks";

export interface Curve { p: number[]; gain: number[]; loss: number[] }

interface Props {
  label: string;
  value: number;
  /** Ascending, between 0 and 1. */
  ticks: readonly number[];
  suggested?: number;
  /** What is gained and lost along the slider, as shares. */
  curve?: Curve;
  /** Over the whole width, high enough to read the curve. */
  wide?: boolean;
  set: (value: number) => void;
}

export function TickSlider({ label, value, ticks, suggested, curve, wide, set }: Props) {
  const [draft, setDraft] = useState<number | null>(null);
  useEffect(() => setDraft(null), [value]);
  const shown = draft ?? value;
  const step = (by: -1 | 1) => set(nextPicture(ticks, shown, by));
  return (
    <span class={wide ? "tick-slider tick-slider-wide" : "tick-slider"}>
      <button type="button" class="plain" title={`The picture before this ${label}`} aria-label={`Smaller ${label}`} onClick={() => step(-1)}>‹</button>
      <span class="tick-slider-track">
        {(curve || wide) && (
          <svg class="tick-slider-curve" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
            {wide && suggested !== undefined && <line class="suggested" x1={suggested} x2={suggested} y1="0" y2="1" vector-effect="non-scaling-stroke" />}
            {wide && <line class="now" x1={shown} x2={shown} y1="0" y2="1" vector-effect="non-scaling-stroke" />}
            {curve && <polyline class="gain" points={points(curve.p, curve.gain)} vector-effect="non-scaling-stroke" />}
            {curve && <polyline class="loss" points={points(curve.p, curve.loss)} vector-effect="non-scaling-stroke" />}
          </svg>
        )}
        <input
          type="range" min="0" max="1" step="any" value={shown} aria-label={`${label} = ${shown.toPrecision(3)}`} title={`${label} = ${shown.toPrecision(4)}${curve ? gainAndLoss(curve, shown) : ""}`}
          onInput={(e) => { const v = Number(e.currentTarget.value); setDraft(v); set(v); }}
        />
        <svg class="tick-slider-ticks" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
          {spread(ticks).map((t) => <line key={t} x1={t} x2={t} y1="0" y2="1" vector-effect="non-scaling-stroke" />)}
        </svg>
      </span>
      <button type="button" class="plain" title={`The picture after this ${label}`} aria-label={`Larger ${label}`} onClick={() => step(1)}>›</button>
      <output>{label} {shown.toPrecision(3)}{wide && curve && <>, <span class="gain">gain {percent(at(curve, "gain", shown))}</span>, <span class="loss">loss {percent(at(curve, "loss", shown))}</span></>}</output>
      {suggested !== undefined && (
        <button type="button" class="plain" title={`Nearest to all the gain at none of the loss: ${label} = ${suggested.toPrecision(4)}`} onClick={() => set(suggested)}>{wide ? `suggested ${suggested.toPrecision(2)}` : "best"}</button>
      )}
    </span>
  );
}

/** A curve of shares in a box of one by one. */
function points(p: readonly number[], share: readonly number[]): string {
  return p.map((x, i) => `${x},${1 - Math.max(0, Math.min(1, share[i] ?? 0))}`).join(" ");
}

/** What is gained and lost at a value, in words. */
export function gainAndLoss(curve: Curve, value: number): string {
  return `: gain ${percent(at(curve, "gain", value))}, loss ${percent(at(curve, "loss", value))}`;
}

/** The share at the place of the curve nearest to a value; places need not be evenly spaced. */
export function at(curve: Curve, of: "gain" | "loss", value: number): number {
  let best = 0;
  for (let i = 1; i < curve.p.length; i++) if (Math.abs((curve.p[i] ?? 0) - value) < Math.abs((curve.p[best] ?? 0) - value)) best = i;
  return curve[of][best] ?? 0;
}

const percent = (share: number) => (share > 0 && share < 0.0005 ? "< 0.1 %" : `${(share * 100).toFixed(1)} %`);

/** The middle of the stretch between ticks next to the one that holds value. */
export function nextPicture(ticks: readonly number[], value: number, by: -1 | 1): number {
  const edges = [0, ...ticks, 1];
  let k = 0;
  while (k + 2 < edges.length && (edges[k + 1] ?? 1) < value) k++;
  const at = k + by;
  if (at < 0) return 0;
  if (at > edges.length - 2) return 1;
  return ((edges[at] ?? 0) + (edges[at + 1] ?? 1)) / 2;
}

/** At most a few hundred ticks: more would be a bar. */
export function spread(ticks: readonly number[], most = 300): number[] {
  const out: number[] = [];
  for (const t of ticks) if (out.length === 0 || t - (out[out.length - 1] ?? 0) >= 1 / most) out.push(t);
  return out;
}
