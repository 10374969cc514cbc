// A few words beside the cursor. They never take the pointer, and stay on screen.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useBench } from "./context";
import { middle } from "./format";

export function TipBox() {
  const bench = useBench();
  const ref = useRef<HTMLDivElement>(null);
  const tip = bench.tip.value;
  useLayoutEffect(() => {
    const e = ref.current;
    if (!e || !tip) return;
    const [w, h] = [e.offsetWidth, e.offsetHeight];
    e.style.left = `${tip.x + 14 + w > innerWidth - 4 ? Math.max(4, tip.x - w - 10) : tip.x + 14}px`;
    e.style.top = `${tip.y + 16 + h > innerHeight - 4 ? Math.max(4, tip.y - h - 10) : tip.y + 16}px`;
  }, [tip]);
  if (!tip) return null;
  return (
    <div class="tip" ref={ref} aria-hidden="true">
      <bdi class="tip-title">{middle(tip.title, 80)}</bdi>
      {tip.lines.map((l, i) => <bdi key={i} class="muted">{middle(l, 80)}</bdi>)}
    </div>
  );
}
