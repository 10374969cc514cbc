// Which node each rank ran on: a file of RANK:CNAME lines, as for --map.

import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import { openFile, type OpenFile } from "./open-file";
import { mostText } from "./text";

export function MapChoice({ panel }: { panel: PanelState }) {
  const bench = useBench();
  const given = panel.options.map?.[0] ?? "";
  const load = async (f: OpenFile) => {
    try {
      const text = mapText(await f.read());
      if (text === "") bench.say(`${f.name} has no line RANK:CNAME, such as 0:c3-0c1s4n2.`);
      else if (text.length > mostText) bench.say(`${f.name} is too long for an address: use --map on the command line.`);
      else bench.setOption(panel.id, "map", [`text:${f.name}\n${text}`]);
    } catch {
      bench.say(`${f.name} cannot be read.`);
    }
  };
  const name = /^text:(.*)/.exec(given)?.[1] || "map";
  return given === "" ? (
    <button type="button" class="chip" title="Open a map: lines RANK:CNAME with the Cray node of each rank" onClick={() => void openFile().then((f) => f && load(f))}>map…</button>
  ) : (
    <button type="button" class="chip" aria-pressed="true" title={`Ranks lie where ${name} says; take it away`} onClick={() => bench.setOption(panel.id, "map", [])}>{name} ×</button>
  );
}

/** The lines of a map that say where a rank is, alone: what else the launcher printed would make the address long. */
export function mapText(text: string): string {
  return text.split("\n").map((l) => l.trim()).filter((l) => /^\d+\s*:\s*c\d+-\d+c\d+s\d+n\d+/.test(l) || /^\[[^\]]*\d+\]\s*[:=].*mask/i.test(l)).join("\n");
}
