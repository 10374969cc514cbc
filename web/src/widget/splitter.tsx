// A hairline between two things that can be dragged, or moved by arrow keys.

export interface SplitterProps {
  /** "x": left and right of it; "y": above and below. */
  along: "x" | "y";
  label: string;
  /** Where it stands, in percent of what it divides. */
  value: number;
  /** Told by how many pixels it moved since the last call. */
  onMove: (pixels: number) => void;
  /** A double click: back to the usual size. */
  onReset?: () => void;
}

export function Splitter({ along, label, value, onMove, onReset }: SplitterProps) {
  const down = (e: PointerEvent) => {
    if (e.button !== 0) return;
    e.preventDefault();
    const bar = e.currentTarget as HTMLElement;
    bar.setPointerCapture(e.pointerId);
    let last = along === "x" ? e.clientX : e.clientY;
    const move = (m: PointerEvent) => {
      const now = along === "x" ? m.clientX : m.clientY;
      if (now !== last) onMove(now - last);
      last = now;
    };
    const up = () => {
      bar.removeEventListener("pointermove", move);
      bar.removeEventListener("pointerup", up);
      bar.removeEventListener("pointercancel", up);
    };
    bar.addEventListener("pointermove", move);
    bar.addEventListener("pointerup", up);
    bar.addEventListener("pointercancel", up);
  };
  const key = (e: KeyboardEvent) => {
    const step = e.shiftKey ? 64 : 16;
    const by = { ArrowLeft: -step, ArrowUp: -step, ArrowRight: step, ArrowDown: step }[e.key];
    if (by === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    onMove(by);
  };
  return (
    <div
      class={`splitter splitter-${along}`} role="separator" aria-orientation={along === "x" ? "vertical" : "horizontal"} aria-label={label} tabIndex={0}
      aria-valuenow={Math.round(Math.min(100, Math.max(0, value)))} aria-valuemin={0} aria-valuemax={100}
      onPointerDown={down} onKeyDown={key} onDblClick={onReset}
    />
  );
}
