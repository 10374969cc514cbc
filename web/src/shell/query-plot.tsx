// The answer of a query as a plot: bars where rows have names, points where a number
// stands over another. A bar or a point goes where its row lies.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Answer, Cell } from "../api/types";
import { formatUnit, middle, thousands } from "./format";

const noAmount = new Set(["location", "from_location", "to_location", "region_id", "rank", "from_rank", "to_rank", "lane", "row", "id", "depth", "parent", "counter"]);
const times = ["begin", "time", "from_time", "end", "to_time"];

const isNumber = (a: Answer, i: number): boolean => a.rows.some((r) => typeof r[i] === "number") && a.rows.every((r) => r[i] === null || typeof r[i] === "number");

/** The columns that hold numbers. */
export function numbersOf(a: Answer): number[] {
  return a.columns.map((_, i) => i).filter((i) => isNumber(a, i));
}

export function canPlot(a: Answer): boolean {
  return numbersOf(a).length > 0;
}

/** What is drawn: over which column, by which. Names stand below bars, numbers below points. */
export interface Axes {
  x: number;
  y: number;
  bars: boolean;
}

/** The axes that an answer suggests: amounts over time where rows have one, else amounts of names. */
export function suggested(a: Answer): Axes {
  const numbers = numbersOf(a);
  const name = (i: number) => a.columns[i].name.toLowerCase();
  // "time" is an instant where something happens somewhere, an amount among sums.
  const placed = a.columns.some((_, i) => name(i) === "location" || name(i) === "counter" || name(i) === "value");
  const isTime = (i: number) => times.includes(name(i)) && (name(i) !== "time" || placed);
  const time = numbers.find(isTime);
  const amounts = numbers.filter((i) => !noAmount.has(name(i)) && !isTime(i));
  const y = amounts.at(-1) ?? numbers.at(-1) ?? 0;
  if (time !== undefined && time !== y) return { x: time, y, bars: false };
  const text = a.columns.findIndex((_, i) => !numbers.includes(i));
  const label = text >= 0 ? text : numbers.find((i) => i !== y && noAmount.has(name(i)));
  if (label !== undefined) return { x: label, y, bars: true };
  const other = numbers.find((i) => i !== y);
  return other === undefined ? { x: y, y, bars: true } : { x: other, y, bars: false };
}

/** Round numbers between two, a handful. */
export function ticksBetween(low: number, high: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough)!;
  const out: number[] = [];
  for (let t = Math.ceil(low / step) * step; t <= high * (1 + 1e-12) && out.length < 12; t += step) out.push(t);
  return out;
}

interface Props {
  answer: Answer;
  chosen: number;
  onChoose: (row: number) => void;
}

export function QueryPlot({ answer: a, chosen, onChoose }: Props) {
  const axes = useSignal(suggested(a));
  useEffect(() => { axes.value = suggested(a); }, [a]);
  const at = axes.value.x < a.columns.length && axes.value.y < a.columns.length ? axes.value : suggested(a);
  const numbers = numbersOf(a);
  const pick = (label: string, value: number, among: number[], set: (i: number) => void) => (
    <label class="query-axis">{label} <select value={value} onChange={(e) => set(Number(e.currentTarget.value))}>{among.map((i) => <option key={i} value={i}>{a.columns[i].name}</option>)}</select></label>
  );
  const all = a.columns.map((_, i) => i);
  return (
    <div class="query-plot">
      <div class="query-axes">
        {pick("show", at.y, numbers, (y) => (axes.value = { ...at, y }))}
        {pick(at.bars ? "of each" : "over", at.x, all, (x) => (axes.value = { ...at, x, bars: !numbers.includes(x) || at.bars && noAmount.has(a.columns[x].name.toLowerCase()) }))}
      </div>
      {at.bars ? <Bars a={a} at={at} chosen={chosen} onChoose={onChoose} /> : <Points a={a} at={at} chosen={chosen} onChoose={onChoose} />}
    </div>
  );
}

interface PlotProps {
  a: Answer;
  at: Axes;
  chosen: number;
  onChoose: (row: number) => void;
}

const mostBars = 200;
const amount = (v: Cell): number => (typeof v === "number" ? v : 0);

function Bars({ a, at, chosen, onChoose }: PlotProps) {
  const rows = a.rows.slice(0, mostBars);
  const most = Math.max(...rows.map((r) => Math.abs(amount(r[at.y]))), 0) || 1;
  const { unit } = a.columns[at.y];
  return (
    <div class="query-bars" role="list" aria-label={`${a.columns[at.y].name} of each ${a.columns[at.x].name}`}>
      {rows.map((r, i) => (
        <div role="listitem" key={i}><button type="button" class={`query-bar ${chosen === i ? "chosen" : ""}`} onClick={() => onChoose(i)} title={`${formatUnit(r[at.x], a.columns[at.x].unit, true)}: ${formatUnit(r[at.y], unit, true)}`}>
          <bdi class="query-bar-name">{middle(String(r[at.x] ?? "–"), 80)}</bdi>
          <span class="query-bar-room"><span class={amount(r[at.y]) < 0 ? "below" : ""} style={{ width: `${(100 * Math.abs(amount(r[at.y]))) / most}%` }} /></span>
          <span class="number">{formatUnit(r[at.y], unit)}</span>
        </button></div>
      ))}
      {a.rows.length > mostBars && <p class="muted">and {thousands(a.rows.length - mostBars)} more rows</p>}
    </div>
  );
}

const margin = { left: 84, right: 16, top: 8, bottom: 34 };
const dot = 3;

function Points({ a, at, chosen, onChoose }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const size = useSignal({ w: 600, h: 220 });
  useEffect(() => {
    const observer = new ResizeObserver(() => { if (host.current) size.value = { w: host.current.clientWidth, h: host.current.clientHeight }; });
    if (host.current) observer.observe(host.current);
    return () => observer.disconnect();
  }, []);
  const points = a.rows.map((r, i) => ({ i, x: r[at.x], y: r[at.y] })).filter((p): p is { i: number; x: number; y: number } => typeof p.x === "number" && typeof p.y === "number");
  const { w, h } = size.value;
  const span = (v: number[]) => { const [lo, hi] = v.reduce(([l, u], x) => [Math.min(l, x), Math.max(u, x)], [Infinity, -Infinity]); return hi > lo ? [lo, hi] : [lo - 1, lo + 1]; };
  const [x0, x1] = span(points.map((p) => p.x)), [y0, y1] = span([0, ...points.map((p) => p.y)]);
  const px = (x: number) => margin.left + ((x - x0) / (x1 - x0)) * Math.max(w - margin.left - margin.right, 1);
  const py = (y: number) => h - margin.bottom - ((y - y0) / (y1 - y0)) * Math.max(h - margin.top - margin.bottom, 1);
  const choose = (e: MouseEvent) => {
    const box = host.current!.getBoundingClientRect();
    const near = points.map((p) => ({ i: p.i, d: Math.hypot(px(p.x) - (e.clientX - box.left), py(p.y) - (e.clientY - box.top)) })).reduce((b, p) => (p.d < b.d ? p : b), { i: -1, d: 12 });
    if (near.i >= 0) onChoose(near.i);
  };
  const mark = points.find((p) => p.i === chosen);
  const [cx, cy] = [a.columns[at.x], a.columns[at.y]];
  return (
    <div class="query-points" ref={host} onClick={choose}>
      <svg width={w} height={h} role="img" aria-label={`${cy.name} over ${cx.name}, ${thousands(points.length)} points`}>
        {ticksBetween(y0, y1).map((t) => <g key={t}><line class="grid" x1={margin.left} x2={w - margin.right} y1={py(t)} y2={py(t)} /><text x={margin.left - 6} y={py(t) + 4} text-anchor="end">{formatUnit(t, cy.unit)}</text></g>)}
        {ticksBetween(x0, x1).map((t) => <text key={t} x={px(t)} y={h - margin.bottom + 15} text-anchor="middle">{formatUnit(t, cx.unit)}</text>)}
        <text class="axis" x={w - margin.right} y={h - 4} text-anchor="end">{cx.name}</text>
        <path d={points.map((p) => `M${(px(p.x) - dot / 2).toFixed(1)} ${(py(p.y) - dot / 2).toFixed(1)}h${dot}v${dot}h-${dot}z`).join("")} />
        {mark && <circle cx={px(mark.x)} cy={py(mark.y)} r={6} />}
      </svg>
    </div>
  );
}
