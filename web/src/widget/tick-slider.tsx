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
  set: (value: number) => void;
}

export function TickSlider({ label, value, ticks, suggested, curve, set }: Props) {
  const [draft, setDraft] = useState<number | null>(null);
  useEffect(() => setDraft(null), [value]);
  const shown = draft ?? value;
  const step = (by: -1 | 1) => set(nextPicture(ticks, shown, by));
  return (
    <span class="tick-slider">
      <button type="button" class="plain" title={`The picture before this ${label}`} aria-label={`Smaller ${label}`} onClick={() => step(-1)}>‹</button>
      <span class="tick-slider-track">
        {curve && (
          <svg class="tick-slider-curve" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
            <polyline class="gain" points={points(curve.p, curve.gain)} vector-effect="non-scaling-stroke" />
            <polyline class="loss" points={points(curve.p, curve.loss)} vector-effect="non-scaling-stroke" />
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
      <output>{label} {shown.toPrecision(3)}</output>
      {suggested !== undefined && (
        <button type="button" class="plain" title={`Nearest to all the gain at none of the loss: ${label} = ${suggested.toPrecision(4)}`} onClick={() => set(suggested)}>best</button>
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
  const i = Math.max(0, Math.min(curve.p.length - 1, Math.round(value * (curve.p.length - 1))));
  const percent = (x: number | undefined) => `${((x ?? 0) * 100).toFixed(1)} %`;
  return `: gain ${percent(curve.gain[i])}, loss ${percent(curve.loss[i])}`;
}

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
