// What the editor of layouts offers where the caret stands.

import type { Example, Option } from "../../api/types";

/** What a run and the language have names for. */
export interface Vocabulary {
  /** Names that are given, and functions, whose text is a call. */
  words: readonly Example[];
  metadata: readonly string[];
  atomics: readonly string[];
  counters: readonly string[];
  regions: readonly string[];
  metrics: readonly string[];
  /** Options of the view: what a UI block may set. */
  options: readonly Option[];
}

export interface Word {
  name: string;
  note: string;
  /** What is written in its place. */
  insert: string;
}

/** Words for the text between two places. */
export interface Offer {
  from: number;
  to: number;
  words: Word[];
}

/** How many are shown. */
const most = 30;

const required = ["x", "y", "z", "color", "restrictDim"];

/** What can be written at a place of the text; null: nothing, or only what stands there. Asked for, it need not have a letter yet. */
export function offerAt(text: string, caret: number, known: Vocabulary, asked = false): Offer | null {
  const begin = text.lastIndexOf("\n", caret - 1) + 1;
  const line = text.slice(begin, caret);
  const above = text.slice(0, begin);
  const opened = [...above.matchAll(/^#?[ \t]*(BEGIN|END)_(VIZ|UI)\b/gm)].at(-1);
  if (!opened || opened[1] === "END") return null;
  if (opened[2] === "UI") return offerOfUI(line, caret, known, asked);
  if (line.includes("#")) return null;
  const key = /metadata\(\s*["']?([^()"']*)$/i.exec(line);
  if (key) return offerOf(caret, key[1]!, known.metadata.map((name) => ({ name, note: "number of a location", insert: name })), true);
  const typed = /[A-Za-z_][\w.]*$/.exec(line)?.[0] ?? "";
  if (typed === "" && (!asked || /[\w.]$/.test(line))) return null;
  const block = above.slice(above.lastIndexOf("BEGIN_VIZ"));
  const set = namesSet(block);
  const before = line.slice(0, line.length - typed.length);
  if (!/[=+\-*/^(,<>!&|]\s*$/.test(before) && !/[=+\-*/^(,<>!&|]\s*$/.test(before.trim() === "" ? block.trimEnd() : "")) {
    return offerOf(caret, typed, required.filter((n) => !set.some((s) => s.toLowerCase() === n.toLowerCase())).map((name) => ({ name, note: name === "color" || name === "restrictDim" ? "may be set" : "must be set", insert: `${name}=` })));
  }
  return offerOf(caret, typed, [
    ...set.map((name) => ({ name, note: "set above", insert: name })),
    ...known.words.filter((w) => w.name !== "restrictDim" && !set.includes(w.name)).map((w) => ({ name: w.text || w.name, note: w.note, insert: w.text === "" ? w.name : w.text.endsWith("()") ? w.text : `${w.name}(` })),
  ]);
}

/** Names that the lines above set, the last first. */
function namesSet(block: string): string[] {
  const out: string[] = [];
  for (const m of block.replace(/#.*/g, "").split("\n").slice(1).join("\n").matchAll(/(?:^|[\s,])([A-Za-z_]\w*)\s*=(?!=)/g)) {
    if (!out.includes(m[1]!)) out.unshift(m[1]!);
  }
  return out;
}

/** A line of a UI block: KEY=VALUE. */
function offerOfUI(line: string, caret: number, known: Vocabulary, asked: boolean): Offer | null {
  const m = /^#?\s*([\w.]*)\s*(=?)\s*(.*)$/.exec(line);
  if (!m) return null;
  const [, key, equals, value] = m as unknown as [string, string, string, string];
  if (!equals) {
    if (key === "" && !asked) return null;
    const names = known.options.filter((o) => /^event\d$/.test(o.name) || controls.includes(o.name)).map((o) => ({ name: o.name, note: o.title, insert: `${o.name}=` }));
    return offerOf(caret, key, [...names, ...[0, 1, 2, 3].map((k) => ({ name: `event${k}.name`, note: "its name in legends", insert: `event${k}.name=` }))]);
  }
  if (!/^event\d$/.test(key)) {
    const choices = known.options.find((o) => o.name === key)?.choices ?? [];
    return offerOf(caret, value, choices.map((name) => ({ name, note: "", insert: name })));
  }
  const kind = /^(metadata|atomic|counter):(.*)$/.exec(value);
  if (kind) {
    const names = { metadata: known.metadata, atomic: known.atomics, counter: known.counters }[kind[1] as "metadata" | "atomic" | "counter"];
    return offerOf(caret, kind[2]!, names.map((name) => ({ name, note: kind[1]!, insert: name })), true);
  }
  const region = known.regions.filter((r) => value.startsWith(`${r}:`)).sort((a, b) => b.length - a.length)[0];
  if (region !== undefined) return offerOf(caret, value.slice(region.length + 1), known.metrics.map((name) => ({ name, note: "metric", insert: name })));
  if (value === "" && !asked) return null;
  return offerOf(caret, value, known.regions.map((name) => ({ name, note: "region", insert: `${name}:exclusive` })), true);
}

/** Options that a UI block may set besides events, as internal/analysis/formula lists them. */
const controls = ["min", "max", "range", "slice", "shape", "point", "detail", "axes", "key", "traffic", "cores", "numbering", "palette", "camera"];

/** The words that begin as typed; where a name is known by its middle, also those that hold it. */
function offerOf(caret: number, typed: string, words: Word[], within = false): Offer | null {
  const t = typed.toLowerCase();
  const begins = words.filter((w) => w.name.toLowerCase().startsWith(t));
  const holds = within && t !== "" ? words.filter((w) => !begins.includes(w) && w.name.toLowerCase().includes(t)) : [];
  const all = [...begins, ...holds].slice(0, most);
  if (all.length === 0 || all.length === 1 && all[0]!.insert === typed) return null;
  return { from: caret - typed.length, to: caret, words: all };
}
