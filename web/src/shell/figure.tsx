// The export of a panel as a figure, with a preview: its size on paper or screen, its
// letter, its caption.

import { useSignal } from "@preact/signals";
import type { Figure } from "../api/client";
import type { ExportFormat, Theme } from "../api/types";
import { Dialog } from "../widget/dialog";
import { TextField } from "../widget/text-field";
import { copy } from "./command";
import { useBench } from "./context";
import { shownFindings } from "./findings";
import { describeShown, formatRange } from "./format";
import * as layout from "./layout";
import { requestOf } from "./request";
import { titleOf } from "./title";
import type { Hues } from "./url";

/** Sizes that papers and slides ask for. */
export const figureSizes: readonly { size: string; title: string; note: string }[] = [
  { size: "84mm", title: "One column, 84 mm", note: "text of 8 points" },
  { size: "174mm", title: "Page width, 174 mm", note: "text of 8 points" },
  { size: "1600x900", title: "Slide, 1600 × 900", note: "pixels" },
  { size: "1600xAUTO", title: "1600 pixels, as high as it needs", note: "pixels" },
];

/** Whether a text is a size, as the server takes it. */
export function isSize(text: string): boolean {
  return /^\d+(\.\d+)?mm$|^\d+(\.\d+)?x\d+(\.\d+)?mm$|^\d+x(\d+|auto)$/i.test(text.trim());
}

/** The caption: what is shown, of what, when, what the picture says of itself, and what was found, with its numbers. */
export function captionOf(parts: { letter: string; title: string; run: string; range: string; description: string; notes: readonly string[] }): string {
  const sentence = (t: string) => (t === "" || /[.!?]$/.test(t) ? t : `${t}.`);
  const head = `${parts.letter === "" ? "" : `(${parts.letter}) `}${parts.title} of ${parts.run}${parts.range === "" ? "" : `, ${parts.range}`}.`;
  const description = describeShown(parts.description, ""); // the head says which time is shown
  return [head, sentence(description), ...parts.notes.slice(0, 2).map(sentence)].filter((t) => t !== "").join(" ");
}

const pictures: readonly { format: ExportFormat; label: string }[] = [{ format: "svg", label: "SVG" }, { format: "pdf", label: "PDF" }, { format: "png", label: "PNG" }];

function shownNow(panel: layout.PanelState): { description: string } {
  const host = document.getElementById(panel.id)?.querySelector<HTMLElement & { picture?: { scene: { description: string } | null } }>(".picture");
  return { description: host?.picture?.scene?.description ?? "" };
}

export function FigureDialog({ close }: { close: () => void }) {
  const bench = useBench();
  const panels = layout.panels(bench.layout.value);
  const of = useSignal(bench.focusedPanel?.id ?? panels[0]?.id ?? "");
  const size = useSignal("84mm");
  const letter = useSignal("");
  const theme = useSignal<Theme>("light");
  const hues = useSignal(bench.hues.value);
  const grey = useSignal(false);
  const failed = useSignal(false);
  const panel = panels.find((p) => p.id === of.value);
  if (!panel) return null;
  const figure: Figure = { size: size.value, letter: letter.value };
  const request = requestOf(bench, panel, null, 960, 540);
  const url = (format: ExportFormat) => bench.api.exportURL(bench.runOf(panel), request, format, theme.value, hues.value, figure);
  const { from, to } = request.selection ?? {};
  const end = bench.store.wholeRun.end;
  const range = Number(from ?? 0) > 0 || Number(to ?? end) < end ? { begin: Number(from ?? 0), end: Number(to ?? end) } : null;
  const title = titleOf(bench, panel);
  const caption = captionOf({ letter: letter.value, title, run: bench.run.value?.name ?? "", range: range ? formatRange(range.begin, range.end) : "", description: shownNow(panel).description, notes: [...shownFindings().slice(0, 1), ...(bench.notes.value[panel.id] ?? [])] });
  return (
    <Dialog title="Figure" class="figure" onClose={close}>
      <div class="figure-parts">
        <form class="figure-form" aria-label="Figure" onSubmit={(e) => e.preventDefault()}>
          <label>Panel
            <select value={of.value} onChange={(e) => (of.value = e.currentTarget.value)}>
              {panels.map((p, i) => <option key={p.id} value={p.id}>{i + 1}. {titleOf(bench, p)}</option>)}
            </select>
          </label>
          <label>Size
            <select value={figureSizes.some((s) => s.size === size.value) ? size.value : ""} onChange={(e) => { if (e.currentTarget.value !== "") size.value = e.currentTarget.value; }}>
              {figureSizes.map((s) => <option key={s.size} value={s.size}>{s.title}</option>)}
              <option value="">Another</option>
            </select>
          </label>
          <label>Exactly
            <TextField label="Size: 84mm, 174x90mm or 1600x900" value={size.value} set={(text) => { if (!isSize(text)) return false; size.value = text.trim(); return true; }} />
          </label>
          <label>Letter
            <input type="text" maxLength={3} placeholder="a" value={letter.value} onInput={(e) => (letter.value = e.currentTarget.value.replace(/[^\p{L}\p{N}]/gu, ""))} />
          </label>
          <label>Theme
            <select value={theme.value} onChange={(e) => (theme.value = e.currentTarget.value as Theme)}><option value="light">light</option><option value="dark">dark</option></select>
          </label>
          <label>Colours
            <select value={hues.value} onChange={(e) => (hues.value = e.currentTarget.value as Hues)}><option value="">usual</option><option value="safe">for colour-blind readers and grey print</option></select>
          </label>
          <label class="figure-check"><input type="checkbox" checked={grey.value} onChange={(e) => (grey.value = e.currentTarget.checked)} />Look at it in grey, as printed</label>
          <div class="figure-files">
            {pictures.map(({ format, label }) => <a key={format} class="button" href={url(format)} download={`${bench.runOf(panel)}-${panel.view}${letter.value === "" ? "" : `-${letter.value}`}.${format}`}>{label}</a>)}
          </div>
        </form>
        <div class={`figure-preview ${grey.value ? "figure-grey" : ""}`}>
          {failed.value && <p class="empty-note" role="alert">This picture cannot be made in this size.</p>}
          <img src={url("svg")} alt={`${title}, as it is exported`} onError={() => (failed.value = true)} onLoad={() => (failed.value = false)} />
        </div>
      </div>
      <label class="figure-caption">Caption
        <textarea rows={3} readOnly value={caption} />
      </label>
      <button type="button" onClick={() => void copy(bench, caption, "Caption copied.")}>Copy the caption</button>
    </Dialog>
  );
}
