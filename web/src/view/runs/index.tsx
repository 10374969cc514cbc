// compare, scaling and history: views of several runs. The bar lists the runs that are
// open as a table: which of them take part, and of a comparison on which side.

import { useEffect } from "preact/hooks";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";
import { sidesOf, withSide, type Part } from "./sides";
import "./runs.css";

const follow = { time: "none", locations: "context", regions: "context" } as const;
const choose: ViewPlug["choose"] = (fact) => (fact.regions?.length ? { regions: fact.regions.map((id) => `#${id}`) } : {});

export const compare: ViewPlug = { name: "compare", follow, choose, Bar: Runs };
export const scaling: ViewPlug = { name: "scaling", follow, choose, Bar: Runs };
export const history: ViewPlug = { name: "history", follow, choose, Bar: Runs };

const parts: readonly Part[] = ["A", "B", ""];

function Runs({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const own = bench.runs.value.find((r) => r.id === bench.runID.value);
  const others = bench.otherRuns.value;
  const set = panel.options["with"] !== undefined;
  // A view of several runs that nobody chose any for takes all that are open.
  useEffect(() => {
    if (!set && others.length > 0) bench.setOption(panel.id, "with", others.map((r) => r.id));
  }, [set, others.length]);
  if (!own || others.length === 0) return null;
  const runs = [own, ...others];
  const sided = panel.view === "compare";
  const sides = sidesOf(panel.options, runs);
  const put = (id: string, part: Part) => {
    for (const c of withSide(panel.options, runs, id, part)) bench.setOption(panel.id, c.option, c.values);
  };
  return (
    <details class="runs-bar">
      <summary>{`${runs.filter((r) => sides[r.id] !== "").length} of ${runs.length} runs`}</summary>
      <table>
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
              <td class="muted">{r.source}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
