// compare, scaling and history: views of several runs. The bar lists the runs that are
// open as a table: which of them take part, and of a comparison on which side.

import { useEffect } from "preact/hooks";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";
import { groupedBy, keysOf, sidesOf, valueOf, withSide, type Part } from "./sides";
import "./runs.css";

const follow = { time: "none", locations: "context", regions: "context" } as const;
const choose: ViewPlug["choose"] = (fact) => (fact.regions?.length ? { regions: fact.regions.map((id) => `#${id}`) } : {});

/** What each picture of a comparison shows. */
const pictures: Readonly<Record<string, string>> = { changes: "Changes", tree: "Call trees", runs: "Times", steps: "Steps", ranks: "Ranks" };

export const compare: ViewPlug = { name: "compare", follow, choose, Bar: Runs, titled: { option: "picture", by: (value) => pictures[value] ?? "" } };
export const scaling: ViewPlug = { name: "scaling", follow, choose, Bar: Runs };
export const history: ViewPlug = { name: "history", follow, choose, Bar: Runs };

const parts: readonly Part[] = ["A", "B", ""];

function Runs({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const own = bench.runs.value.find((r) => r.id === bench.runID.value);
  const others = bench.otherRuns.value;
  const set = panel.options["with"] !== undefined;
  // A view of several runs without a choice takes all open runs.
  useEffect(() => {
    if (!set && others.length > 0) bench.setOption(panel.id, "with", others.map((r) => r.id));
  }, [set, others.length]);
  if (!own || others.length === 0) return null;
  const runs = [own, ...others];
  const sided = panel.view === "compare";
  const sides = sidesOf(panel.options, runs);
  const put = (id: string, part: Part) => {
    // Only a comparison has sides; of the others "by" is something else.
    for (const c of withSide(panel.options, runs, id, part)) if (sided || c.option === "with") bench.setOption(panel.id, c.option, c.values);
  };
  const keys = keysOf(runs);
  // A click on the head of a column groups or orders by it.
  const head = (key: string) => {
    const every = key === "name" || runs.every((r) => valueOf(r, key) !== "");
    const order = panel.view === "history" && key !== "ranks";
    if (!every || (!sided && !order)) return key;
    const now = panel.options[order ? "order" : "by"]?.[0] === key;
    const click = () => {
      const changes = order ? [{ option: "order", values: now ? [] : [key] }] : groupedBy(panel.options, key);
      for (const c of changes) bench.setOption(panel.id, c.option, c.values);
    };
    return (
      <button type="button" class="chip" aria-pressed={now} title={order ? `Order the runs by ${key}` : `Side A: runs with the ${key} of the first one; side B: the others`} onClick={click}>
        {key}
      </button>
    );
  };
  return (
    <details class="runs-bar">
      <summary>{`${runs.filter((r) => sides[r.id] !== "").length} of ${runs.length} runs`}</summary>
      <table>
        <thead>
          <tr>
            <th>{sided ? "side" : "shown"}</th>
            <th>{panel.view === "history" ? head("name") : "run"}</th>
            {keys.map((k) => <th key={k}>{head(k)}</th>)}
            <th>source</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((r) => (
            <tr key={r.id}>
              <td>
                {(sided ? parts : (["B", ""] as const)).map((p) => (
                  <button type="button" class="chip" key={p} disabled={r.id === own.id && p === ""} aria-pressed={sided ? sides[r.id] === p : (sides[r.id] === "") === (p === "")}
                    title={p === "" ? `Leave ${r.name} out` : sided ? `${r.name} is on side ${p}` : `Show ${r.name}`} onClick={() => put(r.id, p)}>
                    {p === "" ? "out" : sided ? p : "in"}
                  </button>
                ))}
              </td>
              <td>{r.name}</td>
              {keys.map((k) => <td key={k} class={/^[\d.]+$/.test(valueOf(r, k)) ? "number" : ""}>{valueOf(r, k)}</td>)}
              <td class="muted">{r.source}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
