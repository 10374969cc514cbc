// A slider from 0 to 1 with a tick at every value where something changes. Its
// buttons step from stretch to stretch, each step being another picture.

import "./tick-slider.css";
import { useEffect, useState } from "preact/hooks";

interface Props {
  label: string;
  value: number;
  /** Ascending, between 0 and 1. */
  ticks: readonly number[];
  suggested?: number;
  set: (value: number) => void;
}

export function TickSlider({ label, value, ticks, suggested, set }: Props) {
  const [draft, setDraft] = useState<number | null>(null);
  useEffect(() => setDraft(null), [value]);
  const shown = draft ?? value;
  const step = (by: -1 | 1) => set(nextPicture(ticks, shown, by));
  return (
    <span class="tick-slider">
      <button type="button" class="plain" title={`The picture before this ${label}`} aria-label={`Smaller ${label}`} onClick={() => step(-1)}>‹</button>
      <span class="tick-slider-track">
        <input
          type="range" min="0" max="1" step="any" value={shown} aria-label={`${label} = ${shown.toPrecision(3)}`} title={`${label} = ${shown.toPrecision(4)}`}
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
