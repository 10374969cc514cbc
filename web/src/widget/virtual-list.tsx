// A list of rows of one height that holds only those on screen in the page.
// Millions of rows are taller than browsers allow an element to be; beyond that
// the scroll bar's way is shared out among the rows.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const tallest = 8_000_000;

export interface VirtualListProps {
  count: number;
  rowHeight: number;
  /** What is drawn for row i. */
  row: (i: number) => ComponentChildren;
  /** Told which rows are on screen, to fetch them. */
  onRange?: (first: number, last: number) => void;
  /** A row to bring into sight when it changes; -1: none. */
  show?: number;
  class?: string;
  role?: string;
  label?: string;
  /** The row that keys act on, and its id: named to the reader of the screen while it is there. */
  active?: { row: number; id: string };
  /** Further attributes of the scrolling element. */
  attributes?: Record<string, unknown>;
}

/** Which rows are on screen when a list of this size is scrolled so far. */
export function rowsOnScreen(scrollTop: number, height: number, count: number, rowHeight: number): { first: number; last: number; top: number } {
  const full = count * rowHeight;
  const tall = Math.min(full, tallest);
  const share = full > tallest && tall > height ? (full - height) / (tall - height) : 1;
  const from = Math.min(Math.max(0, full - height), scrollTop * share);
  const first = Math.max(0, Math.floor(from / rowHeight));
  const last = Math.min(count, Math.ceil((from + height) / rowHeight) + 1);
  return { first, last, top: scrollTop - (from - first * rowHeight) };
}

export function VirtualList({ count, rowHeight, row, onRange, show = -1, class: cls = "", role, label, active, attributes }: VirtualListProps) {
  const host = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 0 });
  const measure = () => {
    const e = host.current;
    if (e) setView((v) => (v.top === e.scrollTop && v.height === e.clientHeight ? v : { top: e.scrollTop, height: e.clientHeight }));
  };
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(host.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const e = host.current;
    if (!e || show < 0) return;
    const full = count * rowHeight;
    const share = full > tallest ? (tallest - e.clientHeight) / (full - e.clientHeight) : 1;
    const at = show * rowHeight * share;
    if (at < e.scrollTop || at + rowHeight > e.scrollTop + e.clientHeight) e.scrollTop = at - e.clientHeight / 3;
    measure();
  }, [show]);
  const { first, last, top } = rowsOnScreen(view.top, view.height, count, rowHeight);
  useEffect(() => { onRange?.(first, last); }, [first, last, count]);
  const rows: ComponentChildren[] = [];
  for (let i = first; i < last; i++) rows.push(row(i));
  return (
    <div class={`virtual ${cls}`} ref={host} onScroll={measure} role={role as "list"} aria-label={label} aria-activedescendant={active && active.row >= first && active.row < last ? active.id : undefined} {...attributes}>
      <div class="virtual-space" style={{ height: `${Math.min(count * rowHeight, tallest)}px` }} role="presentation">
        <div class="virtual-rows" style={{ transform: `translateY(${top}px)` }} role="presentation">{rows}</div>
      </div>
    </div>
  );
}
