// Clocks of several machines: fitted on request, by what goes from one to another.

import { follow } from "./start";
import type { Workbench } from "./workbench";

export interface ClockFit {
  label: string;
  note: string;
  /** Why it cannot be done; "": it can. */
  off: string;
  run: () => void;
}

/** How the clocks of the run can be fitted; null where nothing goes between machines, and where they are. */
export function clockFit(bench: Workbench): ClockFit | null {
  const info = bench.info.value;
  const by = info?.kind === "requests" ? "calls" : info?.format === "otf2" ? "messages" : "";
  if (!info || by === "" || info.links === 0 || info.properties["clock alignment"]) return null;
  const fit = async () => {
    const opened = await bench.api.fitClocks(bench.runID.value, "messages");
    bench.runs.value = await bench.api.runs();
    if (opened.length > 0) await follow(bench, opened[0]!, null);
  };
  return {
    label: `Fit clocks by ${by}`, note: "opens the run once more, with the clocks of its machines moved until nothing comes before its cause",
    off: bench.session.value?.readOnly ? "this link is read-only" : "", run: () => void fit().catch((e: unknown) => bench.report(e)),
  };
}

/** Reports whether a text mentions clocks that could be fitted. */
export const namesClockFit = (text: string) => /--align\b/.test(text);
