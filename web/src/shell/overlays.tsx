// Windows over the page: all commands, help with the keys, the import report.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "../widget/dialog";
import { commands, viewCommands, type Command } from "./command";
import { useBench } from "./context";
import { FigureDialog } from "./figure";
import { NotesDialog } from "./notes-dialog";
import { formatCount, middle, plural, thousands } from "./format";
import { chordText } from "./keys";
import { StoriesDialog } from "./stories-dialog";

export function Overlays() {
  const bench = useBench();
  const close = () => (bench.overlay.value = "");
  switch (bench.overlay.value) {
    case "commands": return <CommandPalette close={close} />;
    case "help": return <Help close={close} />;
    case "report": return <Report close={close} />;
    case "stories": return <StoriesDialog close={close} />;
    case "notes": return <NotesDialog close={close} />;
    case "figure": return <FigureDialog close={close} />;
  }
  return null;
}

/** Commands whose title holds the letters of the query in order, the tightest first. */
export function matching(list: readonly Command[], query: string): Command[] {
  const letters = query.toLowerCase().replace(/\s+/g, "");
  const scored = list.flatMap((c) => {
    const score = tightness(c.title.toLowerCase(), letters);
    return score < 0 ? [] : [{ c, score }];
  });
  return scored.sort((a, b) => a.score - b.score).map((x) => x.c);
}

/** How far the letters lie apart; -1 where they are not all there. */
function tightness(title: string, letters: string): number {
  const whole = title.replace(/\s+/g, "").indexOf(letters);
  if (whole >= 0) return whole;
  let [at, gaps] = [-1, 100];
  for (const l of letters) {
    const next = title.indexOf(l, at + 1);
    if (next < 0) return -1;
    gaps += next - at - 1;
    at = next;
  }
  return gaps;
}

function CommandPalette({ close }: { close: () => void }) {
  const bench = useBench();
  const query = useSignal("");
  const at = useSignal(0);
  const list = useRef<HTMLDivElement>(null);
  const open = bench.runID.value !== "";
  const hits = matching([...commands, ...(open ? viewCommands(bench) : [])].filter((c) => open || c.always), query.value);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at.value]);
  const take = (c: Command | undefined) => {
    close();
    if (c) queueMicrotask(() => c.run(bench));
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") at.value = (at.value + (e.key === "ArrowDown" ? 1 : -1) + hits.length) % Math.max(1, hits.length);
    else if (e.key === "Enter") take(hits[at.value]);
    else return;
    e.preventDefault();
  };
  return (
    <Dialog title="All commands" class="commands" bare onClose={close}>
      <input
        type="text" class="command-query" placeholder="What do you want to do?" aria-label="Find a command" aria-controls="command-list" aria-activedescendant={`command-${hits[at.value]?.id}`} autofocus spellcheck={false} autocomplete="off"
        onInput={(e) => { query.value = e.currentTarget.value; at.value = 0; }} onKeyDown={key}
      />
      <div class="command-list" id="command-list" role="listbox" aria-label="Commands" ref={list}>
        {hits.map((c, i) => (
          <button type="button" key={c.id} id={`command-${c.id}`} role="option" aria-selected={i === at.value} tabIndex={-1} class="command" onClick={() => take(c)} onPointerMove={() => (at.value = i)}>
            <span class="name">{c.title}</span><span class="muted">{c.group}</span>{c.keys[0] && <kbd>{chordText(c.keys[0])}</kbd>}
          </button>
        ))}
        {hits.length === 0 && <p class="empty-note">No command is called that.</p>}
      </div>
    </Dialog>
  );
}

const pointer: [string, string][] = [
  ["move", "cross-hair in all panels, facts in the inspector"],
  ["drag", "select a range of time, and rows where it goes over several"],
  ["Shift + drag, drag the axis", "move the window"],
  ["click", "choose the item; Ctrl adds; on empty space: clear"],
  ["double click", "zoom to it"],
  ["Ctrl + wheel", "zoom at the cursor"],
  ["Shift + wheel", "move the window"],
  ["wheel", "scroll rows; zoom where all rows are on screen"],
];

function Help({ close }: { close: () => void }) {
  const bench = useBench();
  const groups = ["Move", "Select", "Panels", "Page"] as const;
  return (
    <Dialog title="Help" class="help" onClose={close}>
      <p>All panels share one selection: a range of time, locations, regions. Select in one and the others follow. Nothing is lost: Esc clears, Ctrl+Z goes back, the address of the page holds everything.</p>
      <div class="help-columns">
        {groups.map((g) => (
          <section key={g}>
            <h3>{g}</h3>
            <dl>
              {commands.filter((c) => c.group === g && c.keys.length > 0).map((c) => (
                <div key={c.id}><dt>{unique(c.keys.map(chordText)).map((k) => <kbd key={k}>{k}</kbd>)}</dt><dd>{c.title}</dd></div>
              ))}
              {g === "Panels" && <div><dt><kbd>1</kbd>–<kbd>9</kbd></dt><dd>Show the first, second, … view in the panel</dd></div>}
            </dl>
          </section>
        ))}
        <section>
          <h3>Pointer</h3>
          <dl>{pointer.map(([what, does]) => <div key={what}><dt>{what}</dt><dd>{does}</dd></div>)}</dl>
        </section>
        <section>
          <h3>In a picture with the focus</h3>
          <dl>
            <div><dt><kbd>←</kbd><kbd>→</kbd><kbd>↑</kbd><kbd>↓</kbd></dt><dd>Move the cross-hair; Shift: faster</dd></div>
            <div><dt><kbd>Enter</kbd></dt><dd>Choose the item under it</dd></div>
          </dl>
        </section>
      </div>
      <p class="muted">Parallax {bench.session.value?.version ?? ""}. Nothing leaves this machine. <a href="docs/index.html" target="_blank" rel="noopener">Documentation and tutorials</a>, <a href="licences.txt" target="_blank" rel="noopener">Licences of others in it</a></p>
    </Dialog>
  );
}

function unique(list: string[]): string[] {
  return [...new Set(list)];
}

/** A unit as people call it; profiles keep times in nanoseconds. */
export function unitName(unit: string): string {
  return unit === "ns" ? "time" : unit === "" ? "count" : unit;
}

function Report({ close }: { close: () => void }) {
  const bench = useBench();
  const info = bench.info.value;
  if (!info) return null;
  const facts: [string, string][] = [
    ["format", info.format], ["locations", thousands(info.locations)], ["regions", thousands(info.regions)], ["intervals", thousands(info.intervals)],
    ["links", thousands(info.links)], ["samples", thousands(info.samples)], ["instants", thousands(info.instants)], ["profile rows", thousands(info.profile_rows)], ["deepest nesting", thousands(info.depth)],
  ];
  return (
    <Dialog title="Import report" class="report" onClose={close}>
      <p class="muted source">{info.sources.map((s) => <bdi key={s}>{middle(s, 200)}</bdi>)}</p>
      <dl class="report-facts">{facts.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
      {info.report.length === 0 ? <p>Every record was kept as it was: nothing repaired, nothing guessed, nothing left out.</p> : (
        <table class="summary">
          <thead><tr><th scope="col"></th><th scope="col">what</th><th scope="col" class="number">records</th><th scope="col">first at</th></tr></thead>
          <tbody>
            {info.report.map((r, i) => (
              <tr key={i} class={`report-${r.kind}`}><td>{r.kind}</td><td class="report-what">{middle(r.consequence ? `${r.what}: ${r.consequence}` : r.what, 400)}</td><td class="number" title={thousands(r.count)}>{formatCount(r.count)}</td><td><bdi>{middle(r.example, 120)}</bdi></td></tr>
            ))}
          </tbody>
        </table>
      )}
      {info.metrics.length > 0 && (
        <details>
          <summary>{plural(info.metrics.length, "metric")}</summary>
          <dl class="report-facts wide">{info.metrics.map((m) => <div key={m.name}><dt><bdi>{middle(m.name, 80)}</bdi></dt><dd>{unitName(m.unit)}</dd></div>)}</dl>
        </details>
      )}
      {Object.keys(info.properties).length > 0 && (
        <details>
          <summary>What the source says about itself</summary>
          <dl class="report-facts wide">{Object.entries(info.properties).map(([k, v]) => <div key={k}><dt><bdi>{middle(k, 80)}</bdi></dt><dd><bdi>{middle(v, 300)}</bdi></dd></div>)}</dl>
        </details>
      )}
    </Dialog>
  );
}
