// Many locations by their ids in few words. The selection holds a pattern an id
// ("#7"), which is easy to add to and to take from; in addresses, requests and command
// lines they are one pattern: "#3,7-20".

/** Ids that patterns of the form #7 name. */
export function idsOf(patterns: readonly string[]): number[] {
  return patterns.flatMap((p) => (/^#\d+$/.test(p) ? [Number(p.slice(1))] : []));
}

/** Tells whether all patterns name a single id. */
export function onlyIDs(patterns: readonly string[]): boolean {
  return patterns.every((p) => /^#\d+$/.test(p));
}

/** Joins ids to one pattern, in their order; where they follow each other, to ranges. */
export function packIDs(patterns: readonly string[]): string[] {
  const ids = idsOf(patterns);
  if (ids.length < 2) return [...patterns];
  const items: string[] = [];
  for (let i = 0; i < ids.length; ) {
    let k = i;
    while (k + 1 < ids.length && ids[k + 1] === ids[k]! + 1) k++;
    items.push(k === i ? String(ids[i]) : `${ids[i]}-${ids[k]}`);
    i = k + 1;
  }
  return [`#${items.join(",")}`, ...patterns.filter((p) => !/^#\d+$/.test(p))];
}

/** The most ids that a list from outside may name. */
const mostListed = 100_000;

/** Takes lists of ids apart; patterns of other forms stay, and so do lists that are none. */
export function unpackIDs(patterns: readonly string[]): string[] {
  return patterns.flatMap((p) => (/^#\d+(-\d+)?(,\d+(-\d+)?)*$/.test(p) ? listed(p) : [p]));
}

function listed(p: string): string[] {
  const out: string[] = [];
  for (const item of p.slice(1).split(",")) {
    const [first, last] = item.split("-").map(Number);
    const end = last ?? first!;
    if (end < first! || out.length + end - first! >= mostListed) return [p];
    for (let id = first!; id <= end; id++) out.push(`#${id}`);
  }
  return out;
}
