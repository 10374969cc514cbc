// Names of one list, shortened so that those that differ still do: the rules of internal/scene/apart.go, in
// characters. An ellipsis stands for any text, so a form is taken where no other name of the list could be meant by it.

import { foldings, outside } from "./fold";

/**
 * What a name may be written as: itself, its foldings, and the most folded one with its arguments whole: that is
 * number whole, or -1 where it has no arguments.
 */
function formsOf(name: string): { forms: string[]; whole: number } {
  const folded = foldings(name);
  const last = folded[folded.length - 1] ?? "";
  const stem = last.includes("…") ? last.slice(0, last.indexOf("…")) : "";
  const at = stem === "" ? -1 : outside(name).lastIndexOf(stem);
  const forms = at > 0 ? [name, ...folded, name.slice(at)] : [name, ...folded];
  return { forms, whole: at > 0 ? forms.length - 1 : at };
}

/** The number of a name that is a word and a number. */
const numberAfterWord = (name: string) => /^(?:[^ #]+[ #]|[A-Za-z]+[-_])([0-9]+)$/.exec(name)?.[1] ?? "";

interface Attempt {
  /** The arguments of a name give way, not the name. */
  stem?: true;
  /** No number is cut. */
  numbers?: true;
  /** One of the two ends is a whole word. */
  words?: true;
  /** A part from within stands after the beginning, else the end does. */
  part?: true;
  /** Of names with arguments, forms without them. */
  folded?: true;
  /** The name and its arguments give way, each in its middle. */
  both?: true;
}

/** In the order of how well their forms are read. */
const attempts: readonly Attempt[] = [
  { stem: true, numbers: true, words: true }, { stem: true, numbers: true },
  { folded: true, numbers: true, words: true }, { folded: true, numbers: true },
  { both: true, numbers: true, words: true }, { both: true, numbers: true },
  { numbers: true, words: true }, { numbers: true },
  { part: true, numbers: true, words: true }, {}, { part: true },
];

const [mostApart, mostSearched, longest, farthest, fewest, leastHead, leastPart, leastStem] = [4096, 2048, 4096, 512, 5, 3, 4, 8];

export class Apart {
  private readonly readings: { text: string; name: string }[] = [];

  constructor(names: Iterable<string>) {
    const all = new Set(names);
    if (all.size > mostApart) return;
    for (const name of all) {
      for (const text of [...formsOf(name).forms, numberAfterWord(name)]) {
        if (text !== "") this.readings.push({ text: text.toLowerCase(), name });
      }
    }
  }

  /** The first form of a name that fits and is unique; "": there is none. */
  shorten(name: string, most: number): string {
    if (name.length > longest) return "";
    const { forms, whole: withArguments } = formsOf(name);
    const parts = forms.map((f) => Array.from(f));
    const whole = forms.findIndex((f, k) => parts[k]!.length <= most && (k === 0 || this.tells(f, name)));
    if (whole >= 0) return forms[whole]!;
    const number = numberAfterWord(name);
    if (number !== "" && number.length <= most && this.tells(number, name)) return number;
    for (const how of attempts) {
      if ((how.part || how.both) && this.readings.length > mostSearched) continue;
      for (let k = forms.length - 1; k >= 0; k--) {
        if (how.folded && (withArguments < 0 || k === withArguments || k === 0)) continue;
        if (how.both && k !== withArguments) continue;
        const keep = how.stem || how.both ? stemLength(forms[k]!) : 0;
        const form = new Cutter(parts[k]!, most, keep, how).first((t) => this.tells(t, name));
        if (form !== "") return form;
      }
    }
    return "";
  }

  /** Whether a form is of this name alone, capitals or not. */
  private tells(form: string, name: string): boolean {
    const parts = form.toLowerCase().split("…");
    return !this.readings.some((r) => r.name !== name && matches(r.text, parts));
  }
}

/** Whether a text is these parts with anything between them. */
function matches(text: string, parts: readonly string[]): boolean {
  if (parts.length === 1) return text === parts[0];
  if (!text.startsWith(parts[0]!)) return false;
  let at = parts[0]!.length;
  for (const part of parts.slice(1, -1)) {
    const i = text.indexOf(part, at);
    if (i < 0) return false;
    at = i + part.length;
  }
  const last = parts[parts.length - 1]!;
  return text.length - at >= last.length && text.endsWith(last);
}

/** How many characters of a name stand before its arguments; 0: it has none. */
function stemLength(form: string): number {
  const i = outside(form).search(/[<([]/);
  return i <= 0 ? 0 : Array.from(form.slice(0, i)).length + 1;
}

const isDigit = (c: string | undefined) => c !== undefined && /^[0-9]$/.test(c);
const isWord = (c: string | undefined) => c !== undefined && /^[\p{L}\p{Nd}]/u.test(c);

const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "<": ">", "{": "}" };

/** Makes forms of a text that fill a room. */
class Cutter {
  constructor(private readonly chars: readonly string[], private readonly room: number, private readonly keep: number, private readonly how: Attempt) {}

  first(take: (t: string) => boolean): string {
    if (this.how.both) return this.stemAndEnd(take);
    if (!this.how.part) return this.middle(take);
    const head = Math.max(Math.min(Math.floor((this.room - 2) / 3), this.chars.length), 0);
    return (head >= leastHead ? this.within(head, take) : "") || this.within(0, take);
  }

  /** Cuts the middle of a text, the evenest ends first. */
  private middle(take: (t: string) => boolean): string {
    const n = this.chars.length;
    const even = Math.min(Math.ceil((this.room - 1) / 2), Math.ceil(n / 2));
    for (let off = 0; off <= 2 * n; off++) {
      const i = off % 2 === 0 ? even - off / 2 : even + (off + 1) / 2;
      if (i < 0 || i >= n || i < this.keep || i > this.room - 1) continue;
      const j = Math.max(n - (this.room - 1 - i), i + 1);
      if (i + n - j < fewest || !this.careful(i, j)) continue;
      const t = this.text(0, i) + "…" + this.text(j, n);
      if (take(t)) return t;
    }
    return "";
  }

  /** Cuts the name in its middle and keeps the end of its arguments, as little of it as makes it unique. */
  private stemAndEnd(take: (t: string) => boolean): string {
    const [c, n, bracket] = [this.chars, this.chars.length, this.keep - 1];
    if (bracket < 1 || closing[c[bracket]!] !== c[n - 1]) return "";
    const end = c[bracket - 1] === " " ? bracket - 1 : bracket;
    for (let from = n - 2; from > bracket + 1; from--) {
      if (isWord(c[from])) continue;
      const rest = c.slice(end, bracket + 1).join("") + "…" + c.slice(from).join("");
      const room = this.room - Array.from(rest).length;
      if (Math.min(room, end) < leastStem) return "";
      const how: Attempt = this.how.words ? { numbers: true, words: true } : { numbers: true };
      const stem = new Cutter(c.slice(0, end), room, 0, how).middle((t) => take(t + rest));
      if (stem !== "") return stem + rest;
    }
    return "";
  }

  /** Whether a text may be cut after the first part and before the last. */
  private careful(i: number, j: number): boolean {
    if (this.chars[i - 1] === "…" || this.chars[j] === "…") return false; // beside another ellipsis
    if (this.how.numbers && (this.inNumber(i) || this.inNumber(j))) return false;
    return !this.how.words || (i > 0 && !this.inWord(i)) || (j < this.chars.length && !this.inWord(j));
  }

  /** A part of a text after so much of its beginning. */
  private within(head: number, take: (t: string) => boolean): string {
    const n = this.chars.length;
    const room = this.room - 2 - head;
    if (this.how.numbers && this.inNumber(head)) return "";
    for (let from = head + 1; from < Math.min(n, farthest); from++) {
      if (this.how.words && (!isWord(this.chars[from]) || this.inWord(from))) continue;
      let to = Math.min(from + Math.max(room, 0), n);
      while (this.how.numbers && to > from && this.inNumber(to)) to--;
      if (to - from < 2 || head + to - from < leastPart || to === n) continue;
      const t = this.text(0, head) + "…" + this.text(from, to) + "…";
      if (take(t)) return t;
    }
    return "";
  }

  /** A part without spaces at its ends, which stand beside an ellipsis. */
  private text(from: number, to: number): string {
    return this.chars.slice(from, to).join("").replace(/^ +| +$/g, "");
  }

  /** Whether a place is in a number, or between those of "1.6.1". */
  private inNumber(i: number): boolean {
    const c = this.chars;
    if (i <= 0 || i >= c.length) return false;
    if (isDigit(c[i - 1])) return isDigit(c[i]) || (c[i] === "." && isDigit(c[i + 1]));
    return c[i - 1] === "." && isDigit(c[i]) && isDigit(c[i - 2]);
  }

  /** Whether a place is between two letters or digits. */
  private inWord(i: number): boolean {
    return i > 0 && i < this.chars.length && isWord(this.chars[i - 1]) && isWord(this.chars[i]);
  }
}
