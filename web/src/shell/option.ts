// The values of a view's options: set, effective, and sent.

import { packIDs } from "../api/ids";
import type { Option, ViewInfo } from "../api/types";

export type OptionValues = Readonly<Record<string, readonly string[]>>;

/** The control for an option. */
export type ControlKind = "select" | "slider" | "number" | "switch" | "patterns" | "text";

export function controlOf(o: Option): ControlKind {
  switch (o.kind) {
    case "choice": return "select";
    case "switch": return "switch";
    case "patterns": return "patterns";
    case "integer": return "number";
    case "number": return (o.max ?? 0) > (o.min ?? 0) ? "slider" : "number";
  }
  return "text";
}

/** The value shown for an option of one value. */
export function valueOf(o: Option, set: OptionValues): string {
  return set[o.name]?.[0] ?? o.default;
}

/** What is to be kept for a value that the user gave: nothing for the default. */
export function keptValues(o: Option, values: readonly string[]): string[] {
  if (o.kind === "patterns") return [...new Set(values.map((v) => v.trim()).filter((v) => v !== ""))];
  const v = values[0] ?? "";
  return v === o.default || (v === "" && o.kind !== "text") ? [] : [v];
}

/** Why a value does not fit, or "". The server checks too; this only saves the way. */
export function problemOf(o: Option, value: string): string {
  if (value === o.default && value !== "") return ""; // which may be a word, such as auto
  if (o.kind === "integer" && !/^-?\d{1,9}$/.test(value) && !(o.word && value === o.word)) return `want a whole number${o.word ? ` or ${o.word}` : ""}`;
  if (o.kind === "number") {
    const x = Number(value);
    if (value.trim() === "" || !Number.isFinite(x)) return "want a number";
    if ((o.max ?? 0) > (o.min ?? 0) && (x < o.min! || x > o.max!)) return `want a number from ${o.min} to ${o.max}`;
  }
  if (o.kind === "choice" && !o.choices?.includes(o.open ? value.split(":")[0] : value)) return `want one of ${o.choices?.join(", ")}`;
  return "";
}

/** Options whose values are patterns of regions. */
export const ofRegions = new Set(["caller", "hide", "keep", "busy", "idle"]);

/** Options below their headings, in the order of the form. */
export function inGroups(options: readonly Option[]): [group: string, options: Option[]][] {
  const groups = new Map<string, Option[]>(groupOrder.map((g) => [g, []]));
  for (const o of options) groups.set(o.group, [...(groups.get(o.group) ?? []), o]);
  return [...groups].filter(([, list]) => list.length > 0);
}

const groupOrder = ["Rows", "Values", "Colour", "Links", "Counters", "Form", "Comparison", "Files"];

/** A view whose options have other defaults in the page. */
export function withDefaults(view: ViewInfo, always: OptionValues = {}): ViewInfo {
  return { ...view, options: view.options.map((o) => (always[o.name]?.length ? { ...o, default: always[o.name]![0]! } : o)) };
}

/** Options that differ from the view's own, for the panel's head. */
export function changed(view: ViewInfo | undefined, set: OptionValues, regionName: (id: number) => string | undefined = () => undefined): { option: Option; text: string }[] {
  const named = (option: Option, value: string) => (ofRegions.has(option.name) && /^#\d+$/.test(value) ? (regionName(Number(value.slice(1))) ?? value) : value);
  return (view?.options ?? []).flatMap((option) => {
    const values = set[option.name];
    if (!values?.length || option.name === "scroll") return [];
    if (option.kind === "switch") return [{ option, text: values[0] === "true" ? option.title : `${option.title}: no` }];
    const text = values.length > 1 ? `${option.title}: ${values.length}` : `${option.title}: ${named(option, values[0])}`;
    return [{ option, text }];
  });
}

/** Options that the whole page has one value of. */
export interface PageOptions {
  /** Colours of magnitudes; "": each view's own. */
  palette: string;
  /** Order of locations; "": that of the tree. */
  arrange: string;
  /** Locations that are selected: lines of counters below rows are theirs, where there are such lines. */
  chosen?: readonly string[];
  /** Part of a name that is searched for. */
  find?: string;
}

/** The options to send: those that are set and that the view has, with the page's options if the view has them. */
export function optionsFor(view: ViewInfo | undefined, set: OptionValues, page: PageOptions): Record<string, string[]> {
  const out: Record<string, string[]> = {};
  for (const o of view?.options ?? []) {
    const values = set[o.name];
    if (values?.length) out[o.name] = [...values];
    else if (o.name === "find" && page.find) out[o.name] = [page.find];
    else if ((o.name === "palette" || o.name === "arrange") && page[o.name] !== "" && problemOf(o, page[o.name]) === "") out[o.name] = [page[o.name]];
  }
  if (out.counters && page.chosen?.length && view?.options.some((o) => o.name === "counters-of")) out["counters-of"] ??= packIDs(page.chosen);
  // Not an option but sent like one: the runs that the view compares with, by id.
  if (view && set.with?.length) out.with = [...set.with];
  return out;
}

/** The same picture from the command line. */
export function commandLine(source: string, view: string, options: Record<string, string[]>, spec: { from?: string | number; to?: string | number; locations?: string[]; regions?: string[] }): string {
  const words = ["parallax", "view", view, source];
  if (spec.from !== undefined) words.push("--from", `${spec.from}ns`);
  if (spec.to !== undefined) words.push("--to", `${spec.to}ns`);
  for (const p of packIDs(spec.locations ?? [])) words.push("--locations", p);
  for (const p of spec.regions ?? []) words.push("--regions", p);
  for (const [name, values] of Object.entries(options)) for (const v of values) words.push(name === "with" ? `--run=${v}=SOURCE` : `--${name}=${v}`);
  words.push("-o", `${view}.svg`);
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
