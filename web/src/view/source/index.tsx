// source: lines of a file with their values. Chosen regions do not filter it: the file stays as it is. Steps go to the
// line with the next smaller or larger value.

import { useEffect } from "preact/hooks";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";

/** The place of the line in the middle among the lines by value; 0 for one that was named by its number. */
export function hotPlace(line: string | undefined): number {
  const text = line ?? "hot:1";
  return text.startsWith("hot:") ? Number(text.slice(4)) : 0;
}

function Controls({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const at = hotPlace(panel.options.line?.[0]);
  const go = (k: number) => bench.setOption(panel.id, "line", [`hot:${Math.max(k, 1)}`]);
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const typing = e.target instanceof HTMLElement && e.target.closest("input, textarea, select, [contenteditable]");
      if (bench.focused.value !== panel.id || typing || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "n") go(at + 1);
      if (e.key === "p") go(at - 1);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });
  return (
    <>
      <button type="button" class="chip" title="The line with the next larger value (p)" disabled={at === 1} onClick={() => go(at - 1)}>hotter line</button>
      <button type="button" class="chip" title="The line with the next smaller value (n)" onClick={() => go(at + 1)}>next hot line</button>
    </>
  );
}

export const source: ViewPlug = {
  name: "source",
  follow: { time: "selection", locations: "filter", regions: "context" },
  ofRun: ["file", "line"],
  Controls,
};
