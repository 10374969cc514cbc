// The axes of a panel's picture, held against the answer to the same request: ticks stand where their values are, and
// axes end where the values of the answer do.

import { numbers, valueOf, type Row } from "./said";

export interface Table { columns: { name: string; title?: string; unit: string }[]; rows: (string | number | null)[][]; total: number }

interface Scale { kind: string; begin: number; end: number; label: string; rows: { from: number; to: number; label: string; location: number; count: number }[] }
export interface Text { text: string; x: number; y: number }
interface Layer { name: string; texts: Text[]; lines: [number, number, number, number][] }
export interface Panel {
  id: string;
  view: string;
  request: { view: string; options?: Record<string, string[]> };
  frames: { name: string; x: number; y: number; w: number; h: number; xScale: Scale; yScale: Scale }[];
  layers: Layer[];
  /** Legend and notes. */
  words: string[];
  /** What stands around the picture. */
  around: string;
  answer: { selection: { begin: number; end: number }; data: Row; notes: string[] };
  table: Table;
  /** Where gain and loss are told as shares: of those of all as one. */
  whole: Row | null;
}

/** Where on its axis a value lies, in pixels from the begin. */
function share(s: Scale, value: number): number {
  const at = s.kind === "log" ? Math.log : (x: number) => x;
  return (at(value) - at(s.begin)) / (at(s.end) - at(s.begin));
}

/** What is wrong with the numbers of axes: each stands at a tick, where its frame has that value. */
export function wrongTicks(p: Panel): string[] {
  const wrong: string[] = [];
  for (const layer of p.layers.filter((l) => l.name === "axis" && l.lines.length > 0)) {
    const [x0, y0, , y1] = layer.lines[0]!;
    const level = y0 === y1;
    const frame = p.frames.find((f) => (level ? Math.abs(f.x - x0) < 0.01 && Math.min(Math.abs(f.y + f.h - y0), Math.abs(f.y - 1 - y0)) < 0.01 : Math.abs(f.x - 1 - x0) < 0.01 && Math.abs(f.y - Math.min(y0, y1)) < 0.01));
    if (!frame) { wrong.push(`${p.view}: an axis without a frame`); continue; }
    const scale = level ? frame.xScale : frame.yScale;
    const from = /^from (.*)$/.exec(layer.texts.find((t) => t.text.startsWith("from "))?.text ?? "");
    for (const t of layer.texts) {
      const bare = t.text.replace(/^\+/, "").replace("−", "-");
      if (!/^-?\d[\d,.]*( \S+)?$/.test(bare)) {
        if (numbers(t.text.replace(/^from /, "")).length > 0 && !from && !scale.label.startsWith(t.text.slice(0, 4))) wrong.push(`${p.view}: "${t.text}" at an axis`);
        continue;
      }
      const value = valueOf(bare) + (from && t.text.startsWith("+") ? valueOf(from[1]!) : 0);
      const at = level ? frame.x + share(scale, value) * frame.w : frame.y + frame.h - share(scale, value) * frame.h;
      const tick = layer.lines.slice(1).some((l) => Math.abs((level ? l[0] : l[1]) - at) < 0.6 && (level ? l[0] === l[2] : l[1] === l[3]));
      if (!tick || Math.abs((level ? t.x : t.y) - at) > 40) wrong.push(`${p.view}: ${t.text} is not at its place on an axis from ${scale.begin} to ${scale.end}`);
    }
  }
  return wrong;
}

type Ends = [begin: number, end: number];
const greatest = (values: unknown) => (values as (number | null)[]).reduce<number>((most, v) => Math.max(most, v ?? 0), 0);
const column = (rows: unknown, field: string) => (rows as Row[]).map((r) => r[field]);

/** The call tree's own time: of all calls without a caller. */
function timeOfRoots(data: Row): Ends {
  return [0, column((data.nodes as Row[]).filter((n) => n.parent === null), "inclusive").reduce<number>((sum, x) => sum + (x as number), 0)];
}

/** Where axes of values begin and end, by the answer: of each view that has some, by the name of the frame. */
const endsOf: Record<string, Record<string, (data: Row, p: Panel) => Ends>> = {
  boxprofile: {
    main: (data, p) => {
      const values = boxesOf(data, p).flatMap((b) => ["q02", "q25", "q50", "q75", "q98"].map((q) => b[q] as number)).filter((v) => v > 0);
      // Quarters of a decade around what is drawn.
      return [10 ** (Math.floor(Math.log10(Math.min(...values)) * 4) / 4), 10 ** (Math.ceil(Math.log10(Math.max(...values)) * 4 + 0.01) / 4)];
    },
    calls: (data, p) => [0, greatest(column(boxesOf(data, p), "count"))],
  },
  steps: {
    steps: (data, p) => [0, greatest(rowLabels(p).some((l) => /step|#/i.test(l)) ? column(data.rows, "total") : meanTotals(data))],
    gpus: () => [0, 100], // percent
  },
  operators: { operators: (data) => [0, greatest([...column(data.rows, "device_self"), ...column(data.rows, "host_self")])] },
  calltree: { main: timeOfRoots, bars: timeOfRoots },
  profile: { bars: (data) => [0, greatest(column(data.rows, "exclusive"))] },
  requests: { tree: (data) => [Math.min(...(column(data.spans, "begin") as number[])), greatest((data.spans as { begin: number; duration: number }[]).map((x) => x.begin + x.duration))] },
  criticalpath: {
    path: (data) => [0, data.length as number],
    rows: (data) => [0, greatest(["mean", "p95"].flatMap((f) => column(data.by, f)))],
  },
};

const rowLabels = (p: Panel) => p.frames.flatMap((f) => f.yScale.rows).map((r) => r.label);

/** The mean length of a step on each location. */
function meanTotals(data: Row): number[] {
  const rows = data.rows as { path: string; total: number }[];
  return [...new Set(rows.map((r) => r.path))].map((path) => {
    const steps = rows.filter((r) => r.path === path);
    return steps.reduce((sum, x) => sum + x.total, 0) / steps.length;
  });
}

/** The boxes that a picture has rows for: those of its regions, of groups where it draws groups. */
function boxesOf(data: Row, p: Panel): Row[] {
  const drawn = new Set(rowLabels(p));
  const groups = (data.groups ?? []) as { boxes?: Row[] }[];
  const boxes = groups.some((g) => g.boxes?.length) ? groups.flatMap((g) => g.boxes ?? []) : (data.rows as Row[]);
  return boxes.filter((b) => drawn.has(b.region as string));
}

/** What is wrong with the ends of axes: one of time shows what was asked for, one of values ends where those of the answer do. */
export function wrongEnds(p: Panel): string[] {
  const wrong: string[] = [];
  for (const f of p.frames) {
    for (const s of [f.xScale, f.yScale].filter((x) => ["time", "linear", "log"].includes(x.kind))) {
      const rule = endsOf[p.view]?.[f.name];
      const { begin, end } = p.answer.selection;
      const truth: Ends | undefined = s.kind === "time" ? [begin, end] : rule?.(p.answer.data, p);
      if (!truth) wrong.push(`${p.view}: no rule for the axis of ${f.name}, from ${s.begin} to ${s.end}`);
      else if ([s.begin, s.end].some((x, i) => Math.abs(x - truth[i]!) > 1e-9 * Math.abs(truth[i]!))) wrong.push(`${p.view}: the axis of ${f.name} is from ${s.begin} to ${s.end}, by the answer from ${truth.join(" to ")}`);
    }
  }
  return wrong;
}
