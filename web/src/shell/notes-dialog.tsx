// The window of notes and workspaces.

import { useSignal } from "@preact/signals";
import type { RunNote } from "../api/types";
import { Dialog } from "../widget/dialog";
import { Icon } from "../widget/icon";
import { useBench } from "./context";
import { formatDuration, formatInstant, formatRange, middle } from "./format";
import { workspaceQuery } from "./notes";
import { windowAround } from "./query-place";
import { goToQuery } from "./start";
import type { Workbench } from "./workbench";

export function showNote(bench: Workbench, n: RunNote): void {
  if (n.end > n.begin) bench.store.select({ time: { begin: n.begin, end: n.end } });
  bench.store.zoom(windowAround(n, bench.store.wholeRun, bench.store.window));
}

export function NotesDialog({ close }: { close: () => void }) {
  const bench = useBench();
  const kept = bench.notebook.kept.value;
  const name = useSignal("");
  const text = useSignal("");
  const page = useSignal("");
  const may = !bench.session.value?.readOnly;
  const timed = (bench.info.value?.end ?? 0) > 0;
  const range = bench.look.value.time ?? bench.store.window;
  const add = async (e: Event) => {
    e.preventDefault();
    const { time, locations } = bench.look.value;
    const at = { begin: Math.round(range.begin), end: Math.round(range.end) };
    const paths = time === null ? [] : locations.slice(0, 50).flatMap((p) => bench.book.get(Number(p.slice(1)))?.name ?? []);
    if (await bench.notebook.addNote({ name: name.value.trim(), ...at, text: text.value.trim(), locations: paths })) [name.value, text.value] = ["", ""];
  };
  const save = async (e: Event) => {
    e.preventDefault();
    if (await bench.notebook.addWorkspace({ name: page.value.trim(), query: workspaceQuery(location.search) })) page.value = "";
  };
  const words = (n: RunNote) => (n.end > n.begin ? `${formatRange(n.begin, n.end)}, ${formatDuration(n.end - n.begin)}` : formatInstant(n.begin, bench.store.wholeRun.end));
  return (
    <Dialog title="Notes and workspaces" class="notebook" onClose={close}>
      <section aria-label="Notes">
        <h3>Notes</h3>
        {kept.notes.length === 0 && <p class="muted">None yet. A note is a name at a range of time; it is kept with the run and shown on the strip over the panels.</p>}
        <ul class="notebook-list">
          {kept.notes.map((n) => (
            <li key={n.name}>
              <button type="button" class="plain notebook-go" title="Go there" onClick={() => { showNote(bench, n); close(); }}>
                <b><bdi>{middle(n.name, 80)}</bdi></b><span class="muted">{words(n)}{n.locations.length > 0 ? `, ${middle(n.locations.join(", "), 60)}` : ""}</span>
                {n.text !== "" && <span class="notebook-text">{n.text}</span>}
              </button>
              {may && <button type="button" class="plain" title="Remove" aria-label={`Remove ${n.name}`} onClick={() => void bench.notebook.removeNote(n.name)}><Icon name="close" /></button>}
            </li>
          ))}
        </ul>
        {may && timed && (
          <form class="notebook-form" aria-label="New note" onSubmit={(e) => void add(e)}>
            <input type="text" placeholder="Name of the note" aria-label="Name of the note" maxLength={200} value={name.value} onInput={(e) => (name.value = e.currentTarget.value)} />
            <input type="text" placeholder="Text (optional)" aria-label="Text of the note" maxLength={5000} value={text.value} onInput={(e) => (text.value = e.currentTarget.value)} />
            <button type="submit" disabled={name.value.trim() === ""}>Note {bench.look.value.time ? "the selected range" : "this screen"}</button>
          </form>
        )}
      </section>
      <section aria-label="Workspaces">
        <h3>Workspaces</h3>
        {kept.workspaces.length === 0 && <p class="muted">None yet. A workspace is these panels with their options, zoom and selection, under a name.</p>}
        <ul class="notebook-list">
          {kept.workspaces.map((w) => (
            <li key={w.name}>
              <button type="button" class="plain notebook-go" title="Open it" onClick={() => { close(); goToQuery(bench, w.query); }}><b><bdi>{middle(w.name, 80)}</bdi></b></button>
              {may && <button type="button" class="plain" title="Remove" aria-label={`Remove ${w.name}`} onClick={() => void bench.notebook.removeWorkspace(w.name)}><Icon name="close" /></button>}
            </li>
          ))}
        </ul>
        {may && (
          <form class="notebook-form" aria-label="New workspace" onSubmit={(e) => void save(e)}>
            <input type="text" placeholder="Name of the workspace" aria-label="Name of the workspace" maxLength={200} value={page.value} onInput={(e) => (page.value = e.currentTarget.value)} />
            <button type="submit" disabled={page.value.trim() === ""}>Save this screen</button>
          </form>
        )}
      </section>
      {!may && <p class="muted">This link is read-only: its owner keeps the notes.</p>}
    </Dialog>
  );
}
