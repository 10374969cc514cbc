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
  const shapes = / \[[0-9×]+\](?: \[[0-9×]+\])*$/.exec(now)?.[0] ?? "";
  if (shapes !== "" && shapes !== now) {
    const operator = now.slice(0, now.length - shapes.length);
    return [operator, ...foldings(operator)].map((form) => form + " […]" + count);
  }
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
    if (parts.length < 2 || !/^[a-z0-9_]+$/.test(parts[0]!) || !/[A-Z(]/.test(now.slice(parts[0]!.length))) break; // a host or a file begins with its distinguishing part
    add(now.slice(parts[0]!.length + 1));
  }
  add(now.replace(/^P?MPI_/, "")); // what all calls of a library begin with
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
export function outside(s: string): string {
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
