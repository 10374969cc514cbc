// Numbers as the page writes them, by a second program: what tests hold against the answers of the server. Written from the
// rules in the documentation, not from the page's code.

const digits = (x: number) => (Math.abs(x) >= 99.95 || x === 0 ? x.toFixed(0) : x.toFixed(Math.abs(x) >= 9.995 ? 1 : 2));

function scaled(x: number, units: [number, string][]): string {
  const [by, unit] = units.find(([by]) => Math.abs(x) < 999.5 * by) ?? units[units.length - 1]!;
  return `${digits(x / by)} ${unit}`.trim();
}

const sizes: [number, string][] = [[1, "B"], [1024, "KiB"], [1024 ** 2, "MiB"], [1024 ** 3, "GiB"], [1024 ** 4, "TiB"]];
const thousand: [number, string][] = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"]];

export const percent = (x: number) => (x !== 0 && Math.abs(x) < 0.0005 ? "< 0.1 %" : `${(x * 100).toFixed(1)} %`);
export const duration = (x: number) => (x === 0 ? "0 s" : Math.abs(x) >= 999.5e9 ? `${Math.round(x / 1e9).toLocaleString("en")} s` : scaled(x, [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]]));
export const count = (x: number) => (Math.abs(x) < 10_000 && Number.isInteger(x) ? x.toLocaleString("en") : scaled(x, thousand.slice(0, 4)));
const plain = (x: number) => (Number.isInteger(x) ? x.toLocaleString("en") : String(Number(x.toPrecision(4))));

/** A value of a column, as its cell says it. */
export function inUnit(x: number | string | null, unit: string): string {
  if (x === null) return "–";
  if (typeof x === "string") return x;
  switch (unit) {
    case "ns": return duration(x);
    case "bytes": return scaled(x, sizes);
    case "share": return percent(x);
    case "count": return count(x);
  }
  return plain(x);
}

/** The numbers of a text, with their units; digits that are part of a word are none. */
export function numbers(text: string): string[] {
  const unit = "%|ns|µs|ms|s|k|M|G|T|B|KiB|MiB|GiB|TiB";
  const found = text.matchAll(new RegExp(`(?<![\\w.#^/-])(<\\s)?[-−]?\\d[\\d,]*(?:\\.\\d+)?(?:\\s?(?:${unit})(?![\\w/^]))?(?![\\w.^]*[A-Za-z_^])`, "g"));
  return [...found].map((m) => m[0].replace("−", "-").replace(/,$/, "").replace(/^(.*\d)(%|ns|µs|ms|s)$/, "$1 $2").trim());
}

/** What a number is, in the unit that its text names. */
export function valueOf(number: string): number {
  const [, x, unit] = /^(?:< )?(-?[\d,.]+)\s?(.*)$/.exec(number.replace("−", "-"))!;
  const by = { "%": 0.01, ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, k: 1e3, M: 1e6, G: 1e9, T: 1e12, ...Object.fromEntries(sizes.map(([b, u]) => [u, b])) };
  return Number(x!.replaceAll(",", "")) * (unit === "" ? 1 : by[unit as keyof typeof by]);
}

/** What an answer says: its numbers, as the page may write them, and its words. */
export interface Known { forms: Set<string>; words: Set<string> }

/** Adds every number and every text of a value. */
export function learn(value: unknown, known: Known): Known {
  if (typeof value === "number") {
    const a = Math.abs(value);
    for (const x of a === value ? [value] : [value, a]) {
      for (const form of [percent(x), duration(x), scaled(x, sizes), count(x), x.toLocaleString("en"), plain(x), digits(x), `${digits(x)} %`, String(Number(x.toPrecision(3)))]) known.forms.add(form);
      known.forms.add(`${Math.round(x * 100)} %`);
      for (const places of [1, 2, 3]) known.forms.add(x.toFixed(places));
    }
  } else if (typeof value === "string") {
    known.words.add(value);
    for (const n of numbers(value)) known.forms.add(n);
    // Narrow cells write 21 for rank-21.
    for (const [, n] of value.matchAll(/(?:^|[/ ])[A-Za-z]+[-_](\d+)(?=\/|$)/g)) known.forms.add(n!);
  } else if (value !== null && typeof value === "object") {
    if (!Array.isArray(value)) for (const k of Object.keys(value)) for (const n of numbers(k)) known.forms.add(n);
    for (const v of Object.values(value)) learn(v, known);
  }
  return known;
}

export type Row = Record<string, unknown>;

/** The rows of an answer: objects that have a name among their values. */
export function rowsOf(value: unknown, out: Row[] = []): Row[] {
  if (value === null || typeof value !== "object") return out;
  if (!Array.isArray(value) && Object.values(value).some((v) => typeof v === "string" && v !== "")) out.push(value as Row);
  for (const v of Object.values(value)) rowsOf(v, out);
  return out;
}

/** The rows that a label may stand for: one of their names, or of the names along a path, is the label or a part of it. */
export function rowsNamed(rows: readonly Row[], label: string): Row[] {
  const parts = new Set([label, ...label.split(/: | · | > |, /)]);
  const named = (v: unknown) => typeof v === "string" && v !== "" && (parts.has(v) || v.split("/").some((x) => parts.has(x)));
  return rows.filter((r) => Object.values(r).some(named));
}
