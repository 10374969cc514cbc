// The editor of layouts. The text is applied at once; an error is shown where
// it lies, and the picture stays as it was last good. Beside each line stands its value for one location.

import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../../api/types";
import { copy } from "../../shell/command";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import { Menu } from "../../widget/menu";
import { Icon } from "../../widget/icon";
import type { Scene, SpaceMark } from "../../scene/scene";
import { CodeArea, type Fault } from "./code-area";
import { openFile, type OpenFile } from "./open-file";
import { blocksOf, mostText, nameOf, optionOf, textOf, type Block } from "./text";
import { useValues } from "./values";
import { useVocabulary } from "./vocabulary";

const applyAfter = 40;

/** What was typed, by panel: a whole file, of which one block is shown. */
const drafts = new Map<string, { text: string; block: number }>();

interface Props {
  panel: PanelState;
  scene: Scene | null;
  space: SpaceMark | null;
  error: ApiError | null;
}

export function Editor({ panel, scene, space, error }: Props) {
  const bench = useBench();
  const option = panel.options.layout?.[0] ?? "";
  const examples = bench.view("topology")?.examples ?? [];
  const [, redraw] = useState(0);
  const [file, setFile] = useState<OpenFile | null>(null);
  const timer = useRef(0);
  // What this editor put into the address last: it comes back as the option when the draft may be further already.
  const applied = useRef("");
  const draft = drafts.get(panel.id) ?? { text: textOf(option) || (examples.find((e) => e.name === option) ?? examples[0])?.text || "", block: 0 };
  const blocks = blocksOf(draft.text);
  const block = blocks[Math.min(draft.block, blocks.length - 1)];
  const tooLong = (block?.text.length ?? draft.text.length) > mostText;
  const known = useVocabulary();
  const values = useValues(panel, scene, space);
  // They are those of the layout that is drawn, which may not be the one that stands here.
  const drawn = block && !error && (option === optionOf(block, draft.text) || examples.some((e) => e.name === option && e.text === draft.text));
  const lines = new Map(drawn ? [...values.lines].map(([line, text]) => [line + block.from, text]) : []);
  const shown = tooLong ? { error: `a layout of more than ${mostText} letters does not fit an address`, hint: "make it shorter, or use the command line" } : error;

  // Another layout was chosen meanwhile: its text takes the draft's place.
  useEffect(() => {
    const text = textOf(option) || (examples.find((e) => e.name === option)?.text ?? "");
    const now = drafts.get(panel.id);
    if (text === "" || option === applied.current || (now && optionOf(blocksOf(now.text)[now.block], now.text) === option)) return;
    applied.current = "";
    change(text, 0, false);
  }, [option]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const change = (text: string, at: number, apply = true) => {
    drafts.set(panel.id, { text, block: at });
    redraw((n) => n + 1);
    if (!apply) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const all = blocksOf(text);
      const chosen = all[Math.min(at, all.length - 1)];
      if ((chosen?.text.length ?? text.length) > mostText) return;
      applied.current = optionOf(chosen, text);
      bench.setOption(panel.id, "layout", [applied.current]);
    }, applyAfter) as unknown as number;
  };
  const load = async (f: OpenFile) => {
    try {
      change(await f.read(), 0);
      setFile(f);
    } catch {
      bench.say(`${f.name} cannot be read any more: open it again.`);
      setFile(null);
    }
  };

  return (
    <>
      <div class="topology-tools">
        <Menu title="Start from an example" class="chip" label="examples" items={() => examples.map((e) => ({ label: e.name, note: e.note, run: () => change(e.text, 0) }))} />
        <button type="button" class="chip" title="Open a layout file" onClick={() => void openFile().then((f) => f && load(f))}>open…</button>
        {file && <button type="button" class="chip" title={`Read ${file.name} again`} onClick={() => void load(file)}>refresh</button>}
        <button type="button" class="chip" title="Save as a file" onClick={() => save(draft.text, `${block?.name ?? "layout"}.txt`)}>save</button>
        <button type="button" class="chip" title="Copy the address: it holds the layout" onClick={() => void copy(bench, location.href, "Address copied: it holds the layout.")}><Icon name="link" />share</button>
        {blocks.length > 1 && (
          <select aria-label="Block" title="Which layout of the file is shown" value={String(Math.min(draft.block, blocks.length - 1))} onChange={(e) => change(draft.text, Number(e.currentTarget.value))}>
            {blocks.map((b, i) => <option key={i} value={i}>{b.name}</option>)}
          </select>
        )}
      </div>
      <CodeArea text={draft.text} fault={faultIn(shown as ApiError | null, block)} values={lines} known={known} onInput={(t) => change(t, blockAt(draft, t))} />
      <div class="topology-status" role="status" aria-live="polite">
        {shown ? <Problem error={shown as ApiError} block={block} /> : <span class="quiet">{textOf(option) ? `${nameOf(option)} is shown` : "Change the text to show it in place of the coordinates"}; {rules}. Ctrl+Space lists what can be written.{lines.size > 0 && ` Beside the lines: values of ${values.of}; click a point for another.`}</span>}
      </div>
    </>
  );
}

const rules = "x, y and z are needed; rank, maxRank, event0.val, .min, .max, .mean, metadata(key) and coordX are given";

/** Keeps the block while its text changes. */
function blockAt(draft: { text: string; block: number }, text: string): number {
  return Math.max(0, Math.min(draft.block, blocksOf(text).length - 1));
}

/** A place in the whole text, from the one in the block. */
function placeIn(error: ApiError | null, block: Block | undefined): { line: number; column: number } | null {
  return error?.place ? { line: error.place.line + (block?.from ?? 0), column: error.place.column } : null;
}

/** What is wrong at a place of the text; the hint may say what was meant. */
function faultIn(error: ApiError | null, block: Block | undefined): Fault | null {
  const place = placeIn(error, block);
  if (!place) return null;
  const [text, meant] = textOfError(error!).split(/[;:] did you mean (\S+)\?$/);
  return { ...place, text: text!, meant: meant ?? "" };
}

function textOfError(error: ApiError): string {
  return error.error.replace(/^.*line \d+, column \d+: /, "").replace(/^view \w+: |^--layout: /, "");
}

function Problem({ error, block }: { error: ApiError; block: Block | undefined }) {
  const place = placeIn(error, block);
  return (
    <div class="topology-error" role="alert">
      <p>{place ? `line ${place.line}, column ${place.column}: ` : ""}{textOfError(error)}</p>
      {error.hint && <p class="quiet">{error.hint}</p>}
      {error.place?.caret && <pre>{error.place.caret}</pre>}
    </div>
  );
}

function save(text: string, name: string): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  a.download = name.replace(/[^\w.-]+/g, "_");
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}
