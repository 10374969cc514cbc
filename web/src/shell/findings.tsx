// The answers in words, from the view "findings" where there is one. A finding
// shows what it is about: it sets the selection and opens the view that shows it.

import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useBench } from "./context";
import { middle } from "./format";
import type { Workbench } from "./workbench";

export interface Finding {
  kind: string;
  severity: string | number;
  text: string;
  view: string;
  selection: unknown;
}

const found = signal<{ run: string; list: Finding[] }>({ run: "", list: [] });
const all = signal(false);

/** Reads the data of the view; anything else than a list of texts is left out. */
export function readFindings(data: unknown): Finding[] {
  const list = (data as { findings?: unknown } | null)?.findings;
  if (!Array.isArray(list)) return [];
  return list.flatMap((x: Partial<Finding> | null) =>
    typeof x?.text === "string" && x.text !== "" ? [{ kind: String(x.kind ?? ""), severity: x.severity ?? "", text: x.text, view: String(x.view ?? ""), selection: x.selection ?? null }] : []);
}

/** How grave a finding is: numbers from 0 to 1, or words. */
export function gravity(severity: string | number): "high" | "medium" | "low" {
  if (typeof severity === "number") return severity >= 0.66 ? "high" : severity >= 0.33 ? "medium" : "low";
  return /high|severe|critical|error/.test(severity) ? "high" : /medium|warn|moderate/.test(severity) ? "medium" : "low";
}

/** The selection that a finding is about, from ids or patterns. */
export function selectionOf(selection: unknown): { time: { begin: number; end: number } | null; locations: string[]; regions: string[] } {
  const s = (selection ?? {}) as Record<string, unknown>;
  const list = (x: unknown) => (Array.isArray(x) ? x.slice(0, 500).flatMap((v) => (typeof v === "number" ? [`#${v}`] : typeof v === "string" && v !== "" ? [v] : [])) : []);
  const [begin, end] = [Number(s.begin ?? s.from ?? NaN), Number(s.end ?? s.to ?? NaN)];
  return { time: end > begin ? { begin, end } : null, locations: list(s.locations), regions: list(s.regions) };
}

function follow(bench: Workbench, f: Finding): void {
  const s = selectionOf(f.selection);
  const whole = bench.store.wholeRun;
  const time = s.time && (s.time.begin > whole.begin || s.time.end < whole.end) ? s.time : null;
  bench.store.select({ time, locations: s.locations, regions: s.regions });
  if (f.view && f.view !== "findings" && bench.view(f.view) && !bench.missing(f.view)) bench.reveal(f.view);
}

export function Findings() {
  const bench = useBench();
  useEffect(() => effect(() => {
    const run = bench.runID.value;
    void bench.comebacks.value;
    if (run === "" || !bench.view("findings") || bench.missing("findings")) {
      found.value = { run: "", list: [] };
      return;
    }
    bench.api.data(run, { view: "findings", width: 960, height: 540 }, { panel: "findings", seq: Date.now() })
      .then((d) => { if (bench.runID.peek() === run) found.value = { run, list: readFindings(d.data) }; })
      .catch((e: unknown) => bench.reportGone(e));
  }), []);
  const { run, list } = found.value;
  if (run !== bench.runID.value || run === "") return null;
  const shown = all.value ? list : list.slice(0, 5);
  return (
    <section class="inspect inspect-findings" aria-label="Findings">
      <header class="side-head"><h2>Findings</h2><span class="muted">{list.length || ""}</span></header>
      {list.length === 0 && <p class="empty-note">Nothing stands out in this run.</p>}
      <ol class="findings">
        {shown.map((f, i) => (
          <li key={i}>
            <button type="button" class={`finding plain ${gravity(f.severity)}`} title="Show what this is about" onClick={() => follow(bench, f)}>{middle(f.text, 400)}</button>
          </li>
        ))}
      </ol>
      {list.length > 5 && <button type="button" class="plain more" onClick={() => (all.value = !all.value)}>{all.value ? "Fewer" : `${list.length - 5} more…`}</button>}
    </section>
  );
}
