// Which things are shown, in which colour: the range filter and the slice, as
// internal/scene/space.go has them. They are applied here, without asking again.

import { none, type SpaceCamera, type SpaceFilter, type SpaceMark } from "../scene";

/** What the user set, as the options of the view are written; what is missing is as the scene has it. */
export interface SpaceChoice {
  camera?: string;
  min?: string;
  max?: string;
  slice?: string;
  point?: string;
  detail?: string;
  axes?: string;
}

export const usualCamera: SpaceCamera = { azimuth: 30, elevation: 20, zoom: 1, panX: 0, panY: 0 };

/** Reads azimuth,elevation,zoom[,panX,panY]; what cannot be read is as usual. */
export function parseCamera(text: string | undefined, usual = usualCamera): SpaceCamera {
  if (!text) return usual;
  const given = text.split(",").map((t) => (t.trim() === "" ? NaN : Number(t)));
  const pick = (i: number, otherwise: number, low: number, high: number) => (Number.isFinite(given[i]) ? Math.min(high, Math.max(low, given[i]!)) : otherwise);
  return {
    azimuth: pick(0, usual.azimuth, -1e6, 1e6), elevation: pick(1, usual.elevation, -90, 90), zoom: pick(2, usual.zoom, 0.05, 200),
    panX: pick(3, usual.panX, -100, 100), panY: pick(4, usual.panY, -100, 100),
  };
}

export function writeCamera(c: SpaceCamera): string {
  const round = (x: number, to: number) => Math.round(x * to) / to;
  const out = [round(((c.azimuth % 360) + 360) % 360, 10), round(c.elevation, 10), round(c.zoom, 1000)];
  if (c.panX !== 0 || c.panY !== 0) out.push(round(c.panX, 1000), round(c.panY, 1000));
  return out.join(",");
}

/** A limit of the range: a number, or a share of low … high such as 20%. Null: none. */
export function parseLimit(text: string | undefined, low: number, high: number): number | null {
  if (!text?.trim()) return null;
  const share = text.trim().endsWith("%");
  const v = Number(share ? text.trim().slice(0, -1) : text);
  if (!Number.isFinite(v)) return null;
  return share ? low + (v / 100) * (high - low) : v;
}

/** Reads "x=3,y=2:0.5"; parts that make no sense are left out. */
export function parseSlice(text: string | undefined): Pick<SpaceFilter, "slice" | "at" | "width"> {
  const out = { slice: [false, false, false], at: [0, 0, 0], width: [0, 0, 0] };
  for (const part of (text ?? "").split(",")) {
    const m = /^\s*([xyz])\s*=\s*([-+.\deE]+)(?::([-+.\deE]+))?\s*$/i.exec(part);
    const [v, w] = [Number(m?.[2]), Number(m?.[3] ?? 1)];
    if (!m || !Number.isFinite(v) || !(w > 0)) continue;
    const a = "xyz".indexOf(m[1]!.toLowerCase());
    [out.slice[a], out.at[a], out.width[a]] = [true, v, w];
  }
  return out;
}

export function writeSlice(f: Pick<SpaceFilter, "slice" | "at" | "width">): string {
  return ["x", "y", "z"].flatMap((name, a) => (f.slice[a] ? [`${name}=${short(f.at[a]!)}${f.width[a] === 1 ? "" : `:${short(f.width[a]!)}`}`] : [])).join(",");
}

function short(v: number): string {
  return String(Number(v.toPrecision(6)));
}

/** The filter of a choice on a mark; what is not chosen is as the scene has it. */
export function filterOf(m: SpaceMark, c: SpaceChoice): SpaceFilter {
  const given = m.filter;
  const min = c.min === undefined && given.ranged ? given.min : parseLimit(c.min, m.low, m.high);
  const max = c.max === undefined && given.ranged ? given.max : parseLimit(c.max, m.low, m.high);
  const { slice, at, width } = c.slice === undefined ? given : parseSlice(c.slice);
  return { ranged: min !== null || max !== null, min: min ?? -Number.MAX_VALUE, max: max ?? Number.MAX_VALUE, slice, at, width };
}

export function inRange(f: SpaceFilter, v: number): boolean {
  if (!f.ranged) return true;
  return f.min <= f.max ? f.min <= v && v <= f.max : v > f.min || v < f.max;
}

export function inSlice(f: SpaceFilter, x: number, y: number, z: number): boolean {
  return inside(f, 0, x) && inside(f, 1, y) && inside(f, 2, z);
}

function inside(f: SpaceFilter, a: number, v: number): boolean {
  return !f.slice[a] || (f.at[a]! - f.width[a]! / 2 <= v && v < f.at[a]! + f.width[a]! / 2);
}

/** The colour of each thing as it is shown; `none`: hidden. One pass. */
export function looks(m: SpaceMark, f: SpaceFilter): Uint16Array {
  const n = m.px.length;
  const out = new Uint16Array(n);
  const [start, length] = m.ramp;
  const span = m.high > m.low ? (length - 1) / (m.high - m.low) : 0;
  const sliced = f.slice.some(Boolean);
  for (let i = 0; i < n; i++) {
    const v = m.value[i]!;
    if (v !== v || (f.ranged && (!Number.isFinite(v) || !inRange(f, v))) || (sliced && !inSlice(f, m.px[i]!, m.py[i]!, m.pz[i]!))) out[i] = none;
    else if (m.fill) out[i] = m.fill[i]!;
    else out[i] = start + Math.min(length - 1, Math.max(0, Math.round((v - m.low) * span)));
  }
  return out;
}

/** The mean value of what lies in the slice, whatever the range, and how many are shown. */
export function meanOf(m: SpaceMark, f: SpaceFilter): { mean: number; held: number; shown: number } {
  let sum = 0;
  let held = 0;
  let shown = 0;
  for (let i = 0; i < m.px.length; i++) {
    const v = m.value[i]!;
    const [x, y, z] = [m.px[i]!, m.py[i]!, m.pz[i]!];
    if (!Number.isFinite(v) || !Number.isFinite(x + y + z) || !inSlice(f, x, y, z)) continue;
    sum += v;
    held++;
    if (inRange(f, v)) shown++;
  }
  return { mean: sum / held, held, shown };
}
