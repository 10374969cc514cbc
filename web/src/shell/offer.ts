// What the run has for an option: names to choose from, so that users need not know how
// they are written.

import { signal } from "@preact/signals";
import type { Option } from "../api/types";
import { ofRegions } from "./option";
import type { Workbench } from "./workbench";

/** A value with a word of what it is. */
export interface Offer {
  value: string;
  note: string;
}

const mostOffered = 200;

/** Options whose values are locations. */
const ofLocations = new Set(["expand", "pin", "counters-of", "a", "b", "against"]);

/** Names of counters of the run, asked for once. */
const counters = signal<{ run: string; names: readonly string[] }>({ run: "", names: [] });

function counterNames(bench: Workbench): readonly string[] {
  const run = bench.runID.value;
  if (counters.value.run !== run) {
    counters.value = { run, names: [] };
    bench.api.bindings(run).then((b) => { if (bench.runID.peek() === run) counters.value = { run, names: b.counters }; }, (e: unknown) => bench.reportGone(e));
  }
  return counters.value.names;
}

function regionOffers(bench: Workbench): Offer[] {
  const roles = [...new Set(bench.regions.value.map((r) => r.role))].map((role) => ({ value: `role:${role}`, note: "all of this role" }));
  const categories = [...new Set(bench.regions.value.map((r) => r.category).filter((c) => c !== ""))].map((c) => ({ value: `category:${c}`, note: "all of this category" }));
  return [...roles, ...categories, ...bench.regions.value.map((r) => ({ value: r.name, note: r.category || r.role }))];
}

function locationOffers(bench: Workbench): Offer[] {
  const chosen = bench.look.value.locations.length > 0 ? bench.chosen.value.ids.slice(0, 20).map((id) => ({ value: `#${id}`, note: `selected: ${bench.book.get(id)?.name ?? id}` })) : [];
  return [...chosen, ...bench.book.known().map((l) => ({ value: l.name, note: l.kind })), ...((bench.info.value?.ranks ?? 0) > 0 ? [{ value: "rank:0-3", note: "ranks by number" }] : [])];
}

/** The words of a help text that are values: "region, role, busy or duration". */
export function wordsOf(help: string): string[] {
  const m = /: ((?:[a-z][a-z-]*(?:, | or )?){2,})(?:[;.(]|$)/.exec(help);
  return m ? m[1]!.split(/, | or /).filter((w) => w !== "") : [];
}

/** The choices for an option; empty if the value is free. */
export function offersFor(bench: Workbench, o: Option): Offer[] {
  const metrics = () => [
    { value: "exclusive", note: "time without callees" }, { value: "inclusive", note: "time with callees" }, { value: "calls", note: "number of calls" },
    ...(bench.info.value?.metrics.map((m) => ({ value: m.name, note: m.unit })) ?? []),
  ];
  const list: Offer[] = o.name === "metric" ? metrics()
    : o.name === "counters" ? [{ value: "*", note: "all" }, ...counterNames(bench).map((value) => ({ value, note: "" }))]
    : ofRegions.has(o.name) || o.name === "match" || o.name === "phase" || (o.name === "collapse" && !ofLocations.has(o.name) && o.help.includes("regions")) ? [...(o.name === "phase" ? [{ value: "auto", note: "found" }, { value: "slices:20", note: "equal parts" }] : []), ...regionOffers(bench)]
    : ofLocations.has(o.name) || o.name === "collapse" ? locationOffers(bench)
    : /^event\d$/.test(o.name) ? bench.regions.value.flatMap((r) => [{ value: `${r.name}:exclusive`, note: r.role }])
    : wordsOf(o.help).map((value) => ({ value, note: "" }));
  const seen = new Set<string>();
  return list.filter((x) => !seen.has(x.value) && seen.add(x.value)).slice(0, mostOffered);
}

/** A flag that a note names, as a button that sets it. */
export interface NoteAction {
  option: string;
  value: string;
  label: string;
}

/** The option that a note names without a value, which is the user's choice. */
export function optionOf(note: string, options: readonly Option[]): Option | null {
  for (const m of note.matchAll(/--([a-z][a-z0-9-]*)/g)) {
    const o = options.find((x) => x.name === m[1]);
    if (o) return o;
  }
  return null;
}

/** What a note of a view offers to do: "--group locations shows each" sets that option. */
export function actionOf(note: string, options: readonly Option[]): NoteAction | null {
  const m = /--([a-z][a-z0-9-]*)(?:[ =]([^\s;,]+))? ((?:shows|draws|compares|expands)[^;.]*)/.exec(note);
  if (m) {
    const o = options.find((x) => x.name === m[1]);
    if (o && m[2]) return { option: o.name, value: m[2], label: m[3]!.replace(/^([a-z]+)s/, "$1").replace(/ where .*/, "") };
  }
  const n = /(\d[\d,]*) links? too dense to draw/.exec(note);
  if (n && options.some((o) => o.name === "links")) return { option: "links", value: "all", label: "draw all links" };
  return null;
}
