// A bar for what scrolls by its own means and not by the browser's.

import { useRef } from "preact/hooks";

export interface ScrollBarProps {
  from: number;
  length: number;
  total: number;
  label: string;
  onScroll: (to: number) => void;
}

export function ScrollBar({ from, length, total, label, onScroll }: ScrollBarProps) {
  const bar = useRef<HTMLDivElement>(null);
  const least = Math.max(length / total, 0.04);
  const top = total > length ? (Math.min(from, total - length) / (total - length)) * (1 - least) : 0;
  const down = (e: PointerEvent) => {
    if (e.button !== 0) return;
    e.preventDefault();
    e.stopPropagation();
    const box = bar.current!.getBoundingClientRect();
    const thumb = top * box.height;
    // Beside the thumb: the thumb comes to the cursor; on it: it is dragged from where it was caught.
    const caught = e.clientY - box.top - thumb;
    const grip = caught >= 0 && caught <= least * box.height ? caught : (least * box.height) / 2;
    const go = (y: number) => onScroll(((y - box.top - grip) / (box.height * (1 - least))) * (total - length));
    bar.current!.setPointerCapture(e.pointerId);
    const move = (m: PointerEvent) => go(m.clientY);
    const up = () => {
      bar.current?.removeEventListener("pointermove", move);
      bar.current?.removeEventListener("pointerup", up);
    };
    bar.current!.addEventListener("pointermove", move);
    bar.current!.addEventListener("pointerup", up);
    go(e.clientY);
  };
  const key = (e: KeyboardEvent) => {
    const to = { ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + length, PageUp: from - length, Home: 0, End: total }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    onScroll(to);
  };
  return (
    <div
      class="scroll-bar" ref={bar} role="scrollbar" aria-label={label} aria-orientation="vertical" aria-valuemin={0} aria-valuemax={Math.max(0, total - length)} aria-valuenow={from} tabIndex={0}
      onPointerDown={down} onKeyDown={key} onDblClick={(e) => e.stopPropagation()}
    >
      <div class="scroll-thumb" style={{ top: `${top * 100}%`, height: `${least * 100}%` }} />
    </div>
  );
}
