// Numbers for people: three significant digits and always a unit. The same
// rules as internal/view/format.go, so that page and pictures read alike.

import { foldings } from "./fold";

/** What stands for a name that is empty. */
export const noName = "(no name)";

/** Three significant digits without an exponent. */
function digits(x: number): string {
  const a = Math.abs(x);
  if (a >= 99.95 || a === 0) return x.toFixed(0);
  return x.toFixed(a >= 9.995 ? 1 : 2);
}

/** Nanoseconds with a unit: "1.24 ms". */
export function formatDuration(ns: number): string {
  const a = Math.abs(ns);
  if (a === 0) return "0 s";
  if (a < 999.5) return digits(ns) + " ns";
  if (a < 999.5e3) return digits(ns / 1e3) + " µs";
  if (a < 999.5e6) return digits(ns / 1e6) + " ms";
  if (a < 999.5e9) return digits(ns / 1e9) + " s";
  return thousands(ns / 1e9) + " s";
}

/** A whole number with commas. */
export function thousands(n: number): string {
  const s = Math.abs(n).toFixed(0);
  return (n < 0 ? "-" : "") + s.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count: "3.10 M". */
export function formatCount(n: number): string {
  const a = Math.abs(n);
  if (a < 10000 && Number.isInteger(n)) return thousands(n);
  if (a < 999.5) return digits(n);
  if (a < 999.5e3) return digits(n / 1e3) + " k";
  if (a < 999.5e6) return digits(n / 1e6) + " M";
  return digits(n / 1e9) + " G";
}

/** A size in bytes. */
export function formatBytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (Math.abs(n) >= 999.5 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return digits(n) + " " + units[i];
}

/** A share as a percentage; what rounds to nothing but is something is said to be below what the digits tell. */
export function formatShare(x: number): string {
  if (x !== 0 && Math.abs(x) < 0.0005) return x > 0 ? "< 0.1 %" : "> -0.1 %";
  return (x * 100).toFixed(1) + " %";
}

/** A value by the unit of its column; exact gives every digit. */
export function formatUnit(value: string | number | null, unit: string, exact = false): string {
  if (value === null) return "–";
  if (typeof value === "string") return value;
  if (exact) return unit === "share" ? String(value) : exactNumber(value) + (unit === "ns" ? " ns" : unit === "bytes" ? " B" : "");
  switch (unit) {
    case "ns": return formatDuration(value);
    case "bytes": return formatBytes(value);
    case "share": return formatShare(value);
    case "count": return formatCount(value);
  }
  if (unit !== "") return `${formatCount(value)} ${unit}`; // the metric's own word, such as samples
  return Number.isInteger(value) ? thousands(value) : value.toPrecision(4).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

function exactNumber(x: number): string {
  return Number.isInteger(x) ? thousands(x) : String(x);
}

/**
 * A range of times in the unit of its end, with as many decimals as the range's
 * length needs: "2.0–2.2 s", "1,204.3–1,204.5 s".
 */
export function formatRange(begin: number, end: number): string {
  const a = Math.max(Math.abs(begin), Math.abs(end));
  const [scale, unit] = a < 999.5 ? [1, "ns"] : a < 999.5e3 ? [1e3, "µs"] : a < 999.5e6 ? [1e6, "ms"] : [1e9, "s"];
  const span = Math.abs(end - begin) / scale;
  const decimals = span > 0 ? Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(span)))) : 0;
  const exactDecimals = Math.round(Math.log10(scale));
  let [from, to] = [begin, end].map((ns) => fixed(ns / scale, Math.min(decimals, exactDecimals)));
  while (from.includes(".") && from.endsWith("0") && to.endsWith("0")) [from, to] = [from.slice(0, -1), to.slice(0, -1)];
  return `${from.replace(/\.$/, "")}–${to.replace(/\.$/, "")} ${unit}`;
}

/**
 * What a picture shows, with the time that is on the screen: the page asks for more than that, so that a
 * move is drawn at once. "": without any.
 */
export function describeShown(description: string, range: string): string {
  return description.replace(/ from \S+ \S+ to \S+ \S+(?=:)/, range === "" ? "" : `, ${range}`);
}

function fixed(x: number, decimals: number): string {
  const [whole, rest] = Math.abs(x).toFixed(decimals).split(".");
  return (x < 0 ? "-" : "") + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
}

/** A point in time, with the digits that a window of that length can tell apart. */
export function formatInstant(t: number, span: number): string {
  const [from, to] = formatRange(t, t + span / 10).split("–");
  return `${from} ${to.split(" ")[1]}`;
}

/** Shortens a text: a name by what many have in common, all else, and what is still too long, in the middle. Cuts between characters, never inside one. */
export function middle(whole: string, most: number): string {
  let text = whole;
  if (text.length <= most) return text;
  for (const form of foldings(text)) {
    text = form;
    if (text.length <= most) return text;
  }
  return cutMiddle(text, most);
}

/** How many characters of a name have room in so many pixels. */
export const charsIn = (pixels: number) => Math.max(8, Math.floor(pixels / 7.6));

/** Cuts the middle of a text that is too long. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const chars = Array.from(text.length > 20000 ? text.slice(0, 10000) + text.slice(-10000) : text);
  if (chars.length <= most) return chars.join("");
  const head = Math.ceil((most - 1) / 2);
  return chars.slice(0, head).join("") + "…" + chars.slice(chars.length - (most - 1 - head)).join("");
}

/** "1 location", "3 locations". */
export function plural(n: number, one: string, many = one + "s"): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}
