// Which runs a view of several takes: the page's own always, others by the option "with";
// of a comparison the sides by name, as --a and --b say them.

import type { OptionChange } from "../../shell/plug";

/** A side of a comparison, or "" for a run that is left out. */
export type Part = "A" | "B" | "";

interface Named {
  readonly id: string;
  readonly name: string;
  readonly size?: number;
  readonly keys?: Readonly<Record<string, string>>;
}

type Options = Readonly<Record<string, readonly string[]>>;

/** The side of each run by id. The first of the list is the page's own: alone it is A. */
export function sidesOf(options: Options, runs: readonly Named[]): Record<string, Part> {
  const a = options["a"] ?? [];
  const b = options["b"] ?? [];
  const taken = options["with"] ?? [];
  const by = a.length + b.length === 0 ? options["by"]?.[0] : undefined;
  const out: Record<string, Part> = {};
  runs.forEach((r, i) => {
    if (i > 0 && !taken.includes(r.id)) out[r.id] = "";
    else if (by) out[r.id] = valueOf(r, by) === valueOf(runs[0], by) ? "A" : "B";
    else if (a.length > 0 ? a.includes(r.name) : i === 0) out[r.id] = "A";
    else if (b.length === 0 || b.includes(r.name)) out[r.id] = "B";
    else out[r.id] = "";
  });
  return out;
}

/** The value that a run has of a key; "" where it has none. */
export function valueOf(r: Named, key: string): string {
  return r.keys?.[key] ?? (key === "ranks" && r.size ? String(r.size) : "");
}

/** The keys that a table of runs has columns for, in which they differ: ranks first. */
export function keysOf(runs: readonly Named[]): string[] {
  const all = new Set(runs.flatMap((r) => Object.keys(r.keys ?? {})));
  all.delete("ranks");
  return ["ranks", ...[...all].sort()].filter((k) => new Set(runs.map((r) => valueOf(r, k))).size > 1);
}

/** What grouping by a key changes: sides by hand end. Once more ends the grouping. */
export function groupedBy(options: Options, key: string): OptionChange[] {
  const now = options["by"]?.[0] === key && !options["a"]?.length && !options["b"]?.length;
  return [{ option: "a", values: [] }, { option: "b", values: [] }, { option: "by", values: now ? [] : [key] }];
}

/** The runs and both sides after a run is moved to a side. A side without runs gets all others: two runs change places. */
export function withSide(options: Options, runs: readonly Named[], id: string, part: Part): OptionChange[] {
  const sides = { ...sidesOf(options, runs), [id]: part };
  for (const [empty, full] of [["A", "B"], ["B", "A"]] as const) {
    if (runs.some((r) => sides[r.id] === empty)) continue;
    for (const r of runs) if (r.id !== id && sides[r.id] === full) sides[r.id] = empty;
  }
  const named = (p: Part) => runs.filter((r) => sides[r.id] === p).map((r) => r.name);
  return [
    { option: "by", values: [] },
    { option: "with", values: runs.slice(1).filter((r) => sides[r.id] !== "").map((r) => r.id) },
    { option: "a", values: named("A") },
    { option: "b", values: named("B") },
  ];
}
