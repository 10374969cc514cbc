// Shorter forms of the names of functions and files, by the cases of
// internal/scene/testdata/foldings.json: what is the same for many goes first.

/** How long a name may be to be looked at; one past it is cut as any text is. */
const longest = 4096;

/** Shorter and shorter forms of a name; none of a text of several words. */
export function foldings(s: string): string[] {
  if (s.length > longest) return [];
  const count = / \([0-9,]+\)$/.exec(s)?.[0] ?? "";
  const out: string[] = [];
  let now = s.slice(0, s.length - count.length);
  const add = (next: string) => {
    if (next === now || next === "") return;
    now = next;
    out.push(now + count);
  };
  let name = foldBrackets(now);
  const space = outside(name).lastIndexOf(" ");
  if (space >= 0) {
    if (!name.endsWith(")")) return [];
    name = name.slice(space + 1);
    if (name.startsWith("(") && !name.includes("::")) return []; // "thread 7 (python)" returns nothing
  }
  add(name);
  const head = outside(now).split("(")[0]!;
  if (head.includes("/")) add(now.slice(head.lastIndexOf("/") + 1));
  for (let i = outside(now).indexOf("::"); i >= 0 && i + 2 < now.length; i = outside(now).indexOf("::")) add(now.slice(i + 2));
  for (;;) {
    const parts = outside(now).split(".");
    if (parts.length < 2 || !/^[a-z0-9_]+$/.test(parts[0]!) || !/[A-Z(]/.test(now.slice(parts[0]!.length))) break; // a host or a file begins with what tells it apart
    add(now.slice(parts[0]!.length + 1));
  }
  return out;
}

const closing = (open: string) => (open === "<" ? ">" : ")");

/** What stands in <> and in () after a name, as an ellipsis. */
function foldBrackets(s: string): string {
  let out = "";
  for (let i = 0; i < s.length; i++) {
    const c = s[i]!;
    const end = (c === "<" || c === "(") && /[A-Za-z0-9_>]/.test(s[i - 1] ?? "") ? closedAt(s, i) : -1;
    if (end < 0) out += c;
    else {
      out += end === i + 1 ? c + closing(c) : c + "…" + closing(c);
      i = end;
    }
  }
  return out;
}

/** Where the bracket at a place is closed; -1: nowhere. */
function closedAt(s: string, at: number): number {
  const open = s[at]!;
  let depth = 0;
  for (let i = at; i < s.length; i++) {
    if (s[i] === open) depth++;
    else if (s[i] === closing(open) && !(s[i] === ">" && s[i - 1] === "-") && --depth === 0) return i;
  }
  return -1;
}

/** A text with what stands in brackets blotted out. */
function outside(s: string): string {
  let depth = 0;
  let out = "";
  for (const c of s.split("")) {
    if ("(<[{".includes(c)) out += ++depth > 1 ? "x" : c;
    else if (")>]}".includes(c)) {
      out += depth > 1 ? "x" : c;
      depth = Math.max(depth - 1, 0);
    } else out += depth > 0 ? "x" : c;
  }
  return out;
}

/** Names of a list in so many characters each, as far as folding goes; those that would become alike keep their arguments. */
export function foldedApart(names: Iterable<string>, most: number): Map<string, string> {
  const all = [...new Set(names)];
  const apart = (of: readonly string[], short: (name: string) => string) => {
    const by = new Map<string, string[]>();
    for (const name of of) {
      const form = short(name);
      const list = by.get(form);
      if (list) list.push(name);
      else by.set(form, [name]);
    }
    return by;
  };
  const out = new Map<string, string>();
  for (const [form, list] of apart(all, (name) => folded(name, most))) {
    if (list.length === 1) out.set(list[0]!, form);
    else for (const [bare, same] of apart(list, unqualified)) for (const name of same) out.set(name, same.length === 1 ? bare : name);
  }
  return out;
}

const folded = (name: string, most: number) => {
  const forms = name.length <= most ? [] : foldings(name);
  return forms.find((f) => f.length <= most) ?? forms[forms.length - 1] ?? name;
};

/** A function without what it returns and the namespaces it is in, with all its arguments. */
function unqualified(name: string): string {
  const flat = outside(name);
  const end = flat.search(/[<(]/);
  const head = name.slice(0, end < 0 ? name.length : end);
  return name.slice(/(?:.*(?: |::))?/.exec(head)![0].length);
}
