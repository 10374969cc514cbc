// The visible rows of a lazy tree of locations. Children are known by number only
// until they are on screen; then they are fetched a page at a time. A row is found
// by its place among the opened nodes, so a million closed children cost nothing.

import type { LocationRow } from "../api/types";

export const treePage = 128;

/** An opened node: how many children, and which of them are opened, by their place. */
interface Opened {
  row: LocationRow | null; // null: above the top
  count: number;
  pages: Map<number, LocationRow[]>;
  opened: Map<number, Opened>;
}

/** A row on screen. */
export interface TreeRow {
  /** Undefined while it is being fetched. */
  row: LocationRow | undefined;
  level: number;
  /** The node it hangs below, null at the top, and its place there. */
  parent: number | null;
  offset: number;
  open: boolean;
}

export class LocationTree {
  private top: Opened = { row: null, count: 0, pages: new Map(), opened: new Map() };
  private nodes = new Map<number | null, Opened>([[null, this.top]]);

  /** Takes a page of children in; the total decides how many rows there are. */
  learn(parent: number | null, offset: number, total: number, rows: LocationRow[]): void {
    const node = this.nodes.get(parent);
    if (!node) return;
    node.count = total;
    for (let i = 0; i < rows.length; i += treePage) node.pages.set(Math.floor((offset + i) / treePage), rows.slice(i, i + treePage));
  }

  isOpen(id: number): boolean {
    return this.nodes.has(id);
  }

  open(row: LocationRow, parent: number | null, offset: number): void {
    const above = this.nodes.get(parent);
    if (!above || row.children === 0 || this.nodes.has(row.id)) return;
    const node: Opened = { row, count: row.children, pages: new Map(), opened: new Map() };
    above.opened.set(offset, node);
    this.nodes.set(row.id, node);
  }

  close(id: number): void {
    const node = this.nodes.get(id);
    if (!node) return;
    for (const parent of this.nodes.values()) for (const [k, v] of parent.opened) if (v === node) parent.opened.delete(k);
    const forget = (n: Opened) => {
      this.nodes.delete(n.row!.id);
      n.opened.forEach(forget);
    };
    forget(node);
  }

  closeAll(): void {
    for (const id of [...this.nodes.keys()]) if (id !== null) this.close(id);
  }

  /** How many rows there are. O(opened nodes). */
  get length(): number {
    return lengthOf(this.top);
  }

  /** The i-th row. */
  at(i: number): TreeRow | null {
    return rowAt(this.top, i, 0);
  }

  /** The place of a child among the visible rows, or -1. */
  indexOf(parent: number | null, offset: number): number {
    return find(this.top, parent, offset, 0);
  }

  /** The page that a row is in, where it is not there yet. */
  wanting(r: TreeRow): { parent: number | null; page: number } | null {
    const node = this.nodes.get(r.parent);
    const page = Math.floor(r.offset / treePage);
    return node && !node.pages.has(page) ? { parent: r.parent, page } : null;
  }
}

/**
 * What is selected from one row to another: their ids, at most so many. Where rows between were never on screen, all ids
 * between those of the two: that is the same, since ids are in the order of the tree.
 */
export function idsBetween(tree: LocationTree, from: number, to: number, most: number): string[] {
  const [a, b] = [Math.min(from, to), Math.max(from, to)];
  const rows = Array.from({ length: Math.min(b - a + 1, most) }, (_, k) => tree.at(a + k)?.row?.id);
  if (rows.every((id) => id !== undefined)) return rows.map((id) => `#${id}`);
  const [first, last] = [tree.at(a)?.row?.id, tree.at(b)?.row?.id];
  if (first === undefined || last === undefined) return [];
  return Array.from({ length: Math.min(last - first + 1, most) }, (_, k) => `#${first + k}`);
}

function lengthOf(n: Opened): number {
  let sum = n.count;
  for (const c of n.opened.values()) sum += lengthOf(c);
  return sum;
}

function sorted(n: Opened): [number, Opened][] {
  return [...n.opened].sort(([a], [b]) => a - b);
}

function rowAt(n: Opened, i: number, level: number): TreeRow | null {
  let skipped = 0; // rows of opened children before
  for (const [offset, child] of sorted(n)) {
    if (i <= offset + skipped) break;
    const inside = i - (offset + skipped) - 1;
    const length = lengthOf(child);
    if (inside < length) return rowAt(child, inside, level + 1);
    skipped += length;
  }
  const offset = i - skipped;
  if (offset < 0 || offset >= n.count) return null;
  const row = n.pages.get(Math.floor(offset / treePage))?.[offset % treePage];
  return { row, level, parent: n.row?.id ?? null, offset, open: n.opened.has(offset) };
}

function find(n: Opened, parent: number | null, offset: number, before: number): number {
  let skipped = 0;
  for (const [at, child] of sorted(n)) {
    if ((n.row?.id ?? null) === parent && at >= offset) break;
    const hit = find(child, parent, offset, before + at + skipped + 1);
    if (hit >= 0) return hit;
    skipped += lengthOf(child);
  }
  return (n.row?.id ?? null) === parent && offset < n.count ? before + offset + skipped : -1;
}
