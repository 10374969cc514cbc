// Which runs a view of several takes: the page's own always, others by the option "with";
// of a comparison the sides by name, as --a and --b say them.

import type { OptionChange } from "../../shell/plug";

/** A side of a comparison, or "" for a run that is left out. */
export type Part = "A" | "B" | "";

interface Named {
  readonly id: string;
  readonly name: string;
}

type Options = Readonly<Record<string, readonly string[]>>;

/** The side of each run by id. The first of the list is the page's own: alone it is A. */
export function sidesOf(options: Options, runs: readonly Named[]): Record<string, Part> {
  const a = options["a"] ?? [];
  const b = options["b"] ?? [];
  const taken = options["with"] ?? [];
  const out: Record<string, Part> = {};
  runs.forEach((r, i) => {
    if (i > 0 && !taken.includes(r.id)) out[r.id] = "";
    else if (a.length > 0 ? a.includes(r.name) : i === 0) out[r.id] = "A";
    else if (b.length === 0 || b.includes(r.name)) out[r.id] = "B";
    else out[r.id] = "";
  });
  return out;
}

/** What putting a run on a side changes: who takes part, and both sides in full. A side that would have nobody gets all others: two runs change places. */
export function withSide(options: Options, runs: readonly Named[], id: string, part: Part): OptionChange[] {
  const sides = { ...sidesOf(options, runs), [id]: part };
  for (const [empty, full] of [["A", "B"], ["B", "A"]] as const) {
    if (runs.some((r) => sides[r.id] === empty)) continue;
    for (const r of runs) if (r.id !== id && sides[r.id] === full) sides[r.id] = empty;
  }
  const named = (p: Part) => runs.filter((r) => sides[r.id] === p).map((r) => r.name);
  return [
    { option: "with", values: runs.slice(1).filter((r) => sides[r.id] !== "").map((r) => r.id) },
    { option: "a", values: named("A") },
    { option: "b", values: named("B") },
  ];
}
