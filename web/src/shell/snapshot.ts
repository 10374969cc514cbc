// What is on the screen as one file that needs no server: every panel's picture and its
// numbers, the findings, the notes, and the words that say what was selected.

import { shownFindings } from "./findings";
import { formatRange } from "./format";
import { selectionWords } from "./inspector";
import * as layout from "./layout";
import { requestOf } from "./request";
import type { Workbench } from "./workbench";

/** A panel as it is kept. */
export interface SnapshotPanel {
  title: string;
  /** SVG of the server, which writes names as text. */
  picture: string;
  /** CSV. */
  numbers: string;
  notes: readonly string[];
}

export interface Snapshot {
  run: string;
  source: string;
  selection: string;
  when: string;
  address: string;
  findings: readonly string[];
  panels: readonly SnapshotPanel[];
}

export const escapeHTML = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export const snapshotStyle = "body{font:13px/1.5 system-ui,sans-serif;max-width:1400px;margin:24px auto;padding:0 16px;color:#1b1f24;background:#fff}h1{font-size:18px}h2{font-size:14px;margin:24px 0 6px}img{max-width:100%}.note,dt{color:#57606a}";

/** Hands a file to the browser. */
export function saveFile(content: Blob, name: string): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(content);
  a.download = name.replace(/[^\w.-]+/g, "_");
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 5000);
}

/** The most of a table that a snapshot holds, in letters; the rest is left out and said. */
const mostNumbers = 2_000_000;

/** The file. Names come from traces: everything but the pictures is escaped. */
export function snapshotHTML(s: Snapshot): string {
  const file = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const parts = s.panels.map((p, i) => {
    const cut = p.numbers.length > mostNumbers ? p.numbers.slice(0, p.numbers.lastIndexOf("\n", mostNumbers) + 1) : p.numbers;
    const data = `data:text/csv;charset=utf-8,${encodeURIComponent(cut)}`;
    return `<section><h2>${escapeHTML(p.title)}</h2><img alt="${escapeHTML(p.title)}" src="data:image/svg+xml;charset=utf-8,${encodeURIComponent(p.picture)}">
${p.notes.map((n) => `<p class="note">${escapeHTML(n)}</p>`).join("")}<p><a download="${i + 1}-${file(p.title)}.csv" href="${data}">The numbers as CSV</a>${cut.length < p.numbers.length ? " (the first rows)" : ""}</p></section>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHTML(s.run)} · Parallax</title>
<style>${snapshotStyle}dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px}dd{margin:0;overflow-wrap:anywhere}</style></head>
<body><h1>${escapeHTML(s.run)}</h1><dl><dt>source</dt><dd>${escapeHTML(s.source)}</dd><dt>selection</dt><dd>${escapeHTML(s.selection)}</dd><dt>taken</dt><dd>${escapeHTML(s.when)}</dd><dt>state</dt><dd>${escapeHTML(s.address)}</dd></dl>
${s.findings.length > 0 ? `<h2>Findings</h2><ol>${s.findings.map((f) => `<li>${escapeHTML(f)}</li>`).join("")}</ol>` : ""}${parts.join("\n")}</body></html>
`;
}

async function panelOf(bench: Workbench, p: layout.PanelState): Promise<SnapshotPanel | null> {
  const box = document.getElementById(p.id)?.querySelector(".panel-body");
  const request = requestOf(bench, p, null, Math.round(box?.clientWidth || 960), Math.round(box?.clientHeight || 540));
  const get = (format: "svg" | "csv") => bench.api.exported(bench.api.exportURL(bench.runOf(p), request, format, "light", bench.hues.value));
  try {
    const [picture, numbers] = await Promise.all([get("svg"), get("csv")]);
    return { title: bench.view(p.view)?.title ?? p.view, picture, numbers, notes: bench.notes.peek()[p.id] ?? [] };
  } catch (e) {
    bench.reportGone(e);
    return null; // a panel that has nothing to show
  }
}

/** Takes the snapshot and passes it to the browser as a file. */
export async function saveSnapshot(bench: Workbench): Promise<void> {
  bench.say("Taking a snapshot…");
  const shown = layout.panels(bench.layout.peek());
  const panels: SnapshotPanel[] = [];
  for (const p of shown) {
    const kept = await panelOf(bench, p);
    if (kept) panels.push(kept);
  }
  const run = bench.run.peek();
  const { begin, end } = bench.store.window;
  const html = snapshotHTML({
    run: run?.name ?? "", source: run?.source ?? "", selection: `${selectionWords(bench)}; window ${formatRange(begin, end)}`, when: new Date().toISOString(), address: location.search, findings: shownFindings(), panels,
  });
  saveFile(new Blob([html], { type: "text/html" }), `${run?.id ?? "parallax"}-snapshot.html`);
  bench.say(`Saved: ${panels.length} of ${shown.length} panels with their numbers, in one file that needs no server.`);
}
