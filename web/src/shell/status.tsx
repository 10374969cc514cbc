// The line at the bottom: what is selected, what the import had to repair, and
// whether the server answers.

import { Icon } from "../widget/icon";
import type { ReportEntry } from "../api/types";
import { useBench } from "./context";
import { formatCount } from "./format";
import { selectionWords } from "./inspector";

/** The import report in a few words: what was lost counts, what only repeats the rest is in the report. */
export function reportWords(report: readonly ReportEntry[]): string {
  const sum = (of: (r: ReportEntry) => boolean) => report.filter(of).reduce((n, r) => n + r.count, 0);
  const [repaired, guessed, lost] = [sum((r) => r.kind === "repaired"), sum((r) => r.kind === "guessed"), sum((r) => r.lost)];
  if (repaired + guessed + lost === 0) return report.length > 0 ? "import: nothing lost" : "import: every record kept as it was";
  const words = [`${formatCount(repaired)} repaired`, `${formatCount(guessed)} guessed`, lost > 0 ? `${formatCount(lost)} skipped` : "nothing lost"];
  return "import: " + words.filter((_, i) => [repaired, guessed, 1][i]! > 0).join(", ");
}

export function Status() {
  const bench = useBench();
  const info = bench.info.value;
  void bench.look.value;
  return (
    <footer class="status">
      {info && (
        <>
          <span class="status-selection" aria-live="polite">selection: {selectionWords(bench)}</span>
          {!bench.store.isEmpty && <button type="button" class="plain" title="Clear the selection (Esc)" onClick={() => bench.store.clear()}><Icon name="close" />clear</button>}
          {!bench.store.isEmpty && bench.view("contrast") && !bench.missing("contrast") && (
            <button type="button" class="plain" title="How the selection differs from the rest (C)" onClick={() => bench.contrast()}>why different?</button>
          )}
        </>
      )}
      <span class="bar-space" />
      <Trouble />
      {bench.toast.value && <span class="toast" role="status">{bench.toast.value}</span>}
      {info && bench.kept.value && <span class="status-kept" title="Server cache: used memory and its limit, half of --memory">{bench.kept.value}</span>}
      {info && <button type="button" class="plain" title="What the import kept, repaired, guessed and left out" onClick={() => (bench.overlay.value = "report")}>{reportWords(info.report)}<Icon name="right" />report</button>}
    </footer>
  );
}

function Trouble() {
  const bench = useBench();
  const t = bench.trouble.value;
  if (!t) return null;
  const words = t.kind === "unreachable"
    ? "The server does not answer. The pictures stay; start parallax again and the page continues."
    : `${t.error}. ${t.hint ? t.hint[0].toUpperCase() + t.hint.slice(1) + "." : ""}`;
  return <span class="trouble" role="alert">{words}</span>;
}
