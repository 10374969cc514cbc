// A slider from 0 to 1 over ranges, each of which is one picture: gain and loss are
// steps, constant along a range. Its buttons go from range to range.

import "./tick-slider.css";
import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";

/** One picture: past from, up to to. Gain and loss are shares. */
export interface Stretch { from: number; to: number; gain: number; loss: number; parts: number }

interface Props {
  label: string;
  value: number;
  /** Ascending and adjoining, up to 1; they begin after 0 where the list is cut. */
  stretches: readonly Stretch[];
  suggested?: number;
  /** Said where the list of stretches is cut. */
  cut?: string;
  set: (value: number) => void;
}

export function TickSlider({ label, value, stretches, suggested, cut, set }: Props) {
  const [draft, setDraft] = useState<number | null>(null);
  useEffect(() => setDraft(null), [value]);
  const shown = draft ?? value;
  const step = (by: -1 | 1) => set(nextPicture(stretches, shown, by));
  const text = said(label, stretches, shown);
  const begin = stretches[0]?.from ?? 0;
  return (
    <span class="tick-slider">
      <button type="button" class="plain" title={`The picture before this ${label}`} aria-label={`Smaller ${label}`} onClick={() => step(-1)}>‹</button>
      <span class="tick-slider-track">
        <svg class="tick-slider-curve" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
          {begin > 0 && <rect class="cut" x="0" y="0" width={begin} height="1" />}
          {suggested !== undefined && <line class="suggested" x1={suggested} x2={suggested} y1="0" y2="1" vector-effect="non-scaling-stroke" />}
          <line class="now" x1={shown} x2={shown} y1="0" y2="1" vector-effect="non-scaling-stroke" />
          <polyline class="gain" points={steps(stretches, "gain")} vector-effect="non-scaling-stroke" />
          <polyline class="loss" points={steps(stretches, "loss")} vector-effect="non-scaling-stroke" />
        </svg>
        <input
          type="range" min="0" max="1" step="any" value={shown} aria-label={`${label} = ${shown.toPrecision(3)}`} title={cut ? `${text}; ${cut}` : text}
          onInput={(e) => { const v = Number(e.currentTarget.value); setDraft(v); set(v); }}
        />
        <svg class="tick-slider-ticks" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
          {spread(stretches.map((s) => s.from).filter((x) => x > 0)).map((t) => <line key={t} x1={t} x2={t} y1="0" y2="1" vector-effect="non-scaling-stroke" />)}
        </svg>
      </span>
      <button type="button" class="plain" title={`The picture after this ${label}`} aria-label={`Larger ${label}`} onClick={() => step(1)}>›</button>
      <output title={cut}>{text.split(/(?<=,) /).map((part, i) => <Fragment key={part}>{i > 0 && " "}<span>{part}</span></Fragment>)}</output>
      {suggested !== undefined && (
        <button type="button" class="plain" title={`Nearest to all the gain at none of the loss: ${label} = ${suggested.toPrecision(4)}`} onClick={() => set(suggested)}>{`balanced ${suggested.toPrecision(2)}`}</button>
      )}
    </span>
  );
}

/** The range that holds a value, if it is listed. */
export function stretchAt(stretches: readonly Stretch[], value: number): Stretch | undefined {
  let low = 0, high = stretches.length; // the first that does not end before value
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stretches[middle]!.to < value) low = middle + 1;
    else high = middle;
  }
  const s = stretches[low];
  return s && s.from < value ? s : undefined;
}

/** What the picture of a value gains and loses, in words. */
export function said(label: string, stretches: readonly Stretch[], value: number): string {
  const name = `${label} ${Number(value.toPrecision(3))}`;
  if (value <= 0) return `${name}, all detail`;
  if (value >= 1) return `${name}, all drawn as one`;
  const s = stretchAt(stretches, value);
  if (s) return `${name}, gain ${percent(s.gain)}, loss ${percent(s.loss)}, ${s.parts} ${s.parts === 1 ? "part" : "parts"}`;
  return stretches.length > 0 ? `${name}, finer than is listed` : name;
}

/** Steps of a share in a box of one by one. */
export function steps(stretches: readonly Stretch[], of: "gain" | "loss"): string {
  return stretches.map((s) => { const y = 1 - Math.max(0, Math.min(1, s[of])); return `${s.from},${y} ${s.to},${y}`; }).join(" ");
}

/** A share as the notes of a picture write it: ties go to the even digit. */
export function percent(share: number): string {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  const x = share * 100, tie = Math.floor(x * 10);
  if (x * 10 - tie === 0.5 && tie % 2 === 0) return `${(tie / 10).toFixed(1)} %`;
  return `${x.toFixed(1)} %`;
}

/** The middle of the range next to the one that holds value; past the last one the end of the slider. */
export function nextPicture(stretches: readonly Stretch[], value: number, by: -1 | 1): number {
  let k = stretches.findIndex((s) => value <= s.to);
  if (k < 0) k = stretches.length;
  const here = stretches[k];
  // Before the first range of a list that is cut, and at 0, the next one is the first.
  const next = stretches[k + (by > 0 && here && value <= here.from ? 0 : by)];
  return next ? (next.from + next.to) / 2 : by < 0 ? 0 : 1;
}

/** At most a few hundred ticks: more would be a bar. */
export function spread(ticks: readonly number[], most = 300): number[] {
  const out: number[] = [];
  for (const t of ticks) if (out.length === 0 || t - (out[out.length - 1] ?? 0) >= 1 / most) out.push(t);
  return out;
}
