// calltree: boxes of call paths. A click on a box chooses its region, which must
// not throw the other boxes away, with Ctrl; without, it shows what lies below it in the full
// width, and the way back stands in the panel's head. The menu compares the selected locations with the
// rest of the run, or the run with another one that is open.

import { packIDs } from "../../api/ids";
import { useBench } from "../../shell/context";
import { middle } from "../../shell/format";
import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";
import { Menu, type MenuItem } from "../../widget/menu";

export const calltree: ViewPlug = {
  name: "calltree",
  follow: { time: "selection", locations: "filter", regions: "context" },
  opens: true,
  titled: { option: "only", by: (only) => (only.startsWith("kind:") ? "Call tree" : "") },
  Controls,
};

const directions: readonly { value: string; label: string; title: string }[] = [
  { value: "top-down", label: "top-down", title: "From callers to callees" },
  { value: "bottom-up", label: "bottom-up", title: "From regions, by exclusive time, to their callers" },
  { value: "sandwich", label: "sandwich", title: "Callers above and callees below one region" },
];

/** Which way the tree is read. */
function Direction({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const now = panel.options["direction"]?.[0] ?? "top-down";
  const compares = comparedWith(panel.options) !== "";
  const set = (value: string) => {
    // A path from the top means nothing the other way round; its end is the region of a sandwich.
    const root = rootPath(panel.options);
    const pinned = bench.pinned.value;
    const chosen = pinned?.panel === panel.id && pinned.fact.regions?.length === 1 ? `#${pinned.fact.regions[0]}` : root.at(-1);
    bench.setOption(panel.id, "root", value === "sandwich" && chosen !== undefined ? [chosen] : []);
    bench.setOption(panel.id, "direction", value === "top-down" ? [] : [value]);
  };
  return (
    <span class="segments" role="group" aria-label="Direction">
      {directions.map((d) => <button type="button" key={d.value} class="chip" aria-pressed={now === d.value} title={d.title} disabled={d.value === "sandwich" && compares} onClick={() => set(d.value)}>{d.label}</button>)}
    </span>
  );
}

/** What a panel compares with: "", "rest", "run:ID", or locations as they were written. */
export function comparedWith(options: Readonly<Record<string, readonly string[]>>): string {
  const run = options["with"]?.[0];
  return run ? `run:${run}` : (options["against"]?.[0] ?? "");
}

const arrow = " → ";

/** The path whose part of the tree a panel shows, from the top; empty for all of it. */
export function rootPath(options: Readonly<Record<string, readonly string[]>>): string[] {
  const root = options["root"]?.[0] ?? "";
  return root === "" ? [] : root.split(arrow);
}

/** The way back from a part of the tree: to the caller, and to the whole tree. */
function Back({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const path = rootPath(panel.options);
  if (path.length === 0) return null;
  const up = path.slice(0, -1);
  const name = (word: string) => (/^#\d+$/.test(word) ? (bench.region(Number(word.slice(1)))?.name ?? word) : word);
  return (
    <>
      {up.length > 0 && (
        <button type="button" class="chip" title={`Back up to ${up.map(name).join(arrow)}`} onClick={() => bench.setOption(panel.id, "root", [up.join(arrow)])}>
          ↑ {middle(name(up[up.length - 1]), 24)}
        </button>
      )}
      <button type="button" class="chip" title="Back to the whole tree" onClick={() => bench.setOption(panel.id, "root", [])}>whole tree</button>
    </>
  );
}

function Controls({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const now = comparedWith(panel.options);
  const others = bench.runs.value.filter((r) => r.id !== bench.runID.value && r.state === "ready");
  const some = bench.look.value.locations.length > 0 || bench.look.value.only.length > 0;
  const set = (against: string[], run: string[]) => {
    bench.setOption(panel.id, "with", run);
    bench.setOption(panel.id, "against", against);
    if (against.length + run.length === 0) {
      bench.setOption(panel.id, "shift", []);
      if (panel.options["form"]?.[0] === "beside") bench.setOption(panel.id, "form", []);
    }
  };
  const items = (): MenuItem[] => [
    { label: "Nothing", checked: now === "", run: () => set([], []) },
    { label: "The rest of this run", checked: now === "rest", run: () => (some || now === "rest" ? set(["rest"], []) : bench.say("Select some locations first.")) },
    {
      label: "The locations selected now", note: "keep them, then select others to hold them against", checked: now.startsWith("#"),
      run: () => (bench.look.value.locations.length > 0 ? set([packIDs(bench.look.value.locations).join(",")], []) : bench.say("Select some locations first, such as a group.")),
    },
    ...others.map((r): MenuItem => ({ label: r.name, note: r.source, checked: now === `run:${r.id}`, run: () => set([], [r.id]) })),
  ];
  const label = now === "" ? "compare" : now.startsWith("run:") ? (others.find((r) => `run:${r.id}` === now)?.name ?? "another run") : now.startsWith("#") ? "the kept locations" : now;
  return <><Back panel={panel} /><Direction panel={panel} /><Menu class="chip" title="Compare with other locations or another run" align="right" label={label} items={items} /></>;
}
