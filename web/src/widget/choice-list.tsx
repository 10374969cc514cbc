// A virtual list that is one stop of the Tab key: arrows move a cursor along its
// rows, Enter and Space choose the row under it.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { VirtualList } from "./virtual-list";

export interface ChoiceListProps {
  id: string;
  count: number;
  rowHeight: number;
  role: "listbox" | "rowgroup";
  label: string;
  class?: string;
  /** Draws a row; rows carry the attributes that they are given. */
  row: (i: number, attributes: RowAttributes) => ComponentChildren;
  onChoose: (i: number, add: boolean) => void;
  onRange?: (first: number, last: number) => void;
}

export interface RowAttributes {
  id: string;
  class: string;
  onPointerDown: () => void;
}

/** Where a key takes the cursor; -1: it is not a key that moves. */
export function moveCursor(key: string, at: number, count: number, page = 15): number {
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: count - 1 }[key];
  return to === undefined ? -1 : Math.max(0, Math.min(count - 1, to));
}

export function ChoiceList({ id, count, rowHeight, role, label, class: cls = "", row, onChoose, onRange }: ChoiceListProps) {
  const cursor = useSignal(0);
  const show = useSignal(-1);
  const at = Math.min(cursor.value, Math.max(0, count - 1));
  const key = (e: KeyboardEvent) => {
    const to = moveCursor(e.key, at, count);
    if (to >= 0) {
      cursor.value = to;
      show.value = to;
    } else if (e.key === "Enter" || e.key === " ") onChoose(at, e.ctrlKey || e.metaKey);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <VirtualList
      class={`choices ${cls}`} role={role} label={label} count={count} rowHeight={rowHeight} show={show.value} onRange={onRange}
      active={role === "listbox" ? { row: at, id: `${id}-${at}` } : undefined} attributes={{ tabIndex: 0, onKeyDown: key, "aria-multiselectable": role === "listbox" ? true : undefined }}
      row={(i) => row(i, { id: `${id}-${i}`, class: i === at ? "cursor" : "", onPointerDown: () => (cursor.value = i) })}
    />
  );
}
