// The program's own text around a region, where the server has the file at hand.

import { useEffect, useState } from "preact/hooks";
import type { RegionRow, SourceText } from "../api/types";
import { Dialog } from "../widget/dialog";
import { useBench } from "./context";
import { middle } from "./format";

/** A button for a region that knows its place; nothing for others. */
export function SourceButton({ region }: { region: RegionRow | undefined }) {
  const [open, setOpen] = useState(false);
  if (!region?.file) return null;
  return (
    <>
      <button type="button" title={`${region.file}:${region.line}`} onClick={() => setOpen(true)}>Show source</button>
      {open && <SourceDialog region={region} close={() => setOpen(false)} />}
    </>
  );
}

function SourceDialog({ region, close }: { region: RegionRow; close: () => void }) {
  const bench = useBench();
  const [text, setText] = useState<SourceText | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    bench.api.source(bench.runID.peek(), region.id, stop.signal)
      .then(setText)
      .catch((e: Error) => { if (!stop.signal.aborted) setProblem(e.message); });
    return () => stop.abort();
  }, [region.id]);
  return (
    <Dialog title={middle(region.name, 80)} class="source-text" onClose={close}>
      <p class="muted">{middle(`${region.file}:${region.line}`, 200)}</p>
      {text && text.note !== "" && <p class="problem">{middle(`${text.found}: ${text.note}`, 240)}</p>}
      {problem !== "" && <p class="problem">{problem}</p>}
      {text && (
        <pre tabIndex={0} aria-label="Source text">
          {text.lines.map((line, i) => (
            <div key={i} class={text.first + i === text.line ? "source-here" : ""}><span class="source-number">{text.first + i}</span>{line || " "}</div>
          ))}
        </pre>
      )}
    </Dialog>
  );
}
