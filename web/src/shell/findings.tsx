// The findings of the run, from the view "findings" where there is one, and their list
// at the side: one card per finding, with a bar of the share lost to it. A card chooses
// the finding that the strip over the panels shows, and goes to the view that proves it.

import { batch, signal } from "@preact/signals";
import { clockFit, namesClockFit } from "./clocks";
import { useBench } from "./context";
import { formatShare, formatUnit, middle, plural } from "./format";
import { panels } from "./layout";
import { afterPictures } from "./urgent";
import type { Workbench } from "./workbench";

export interface Evidence {
  name: string;
  value: number;
  unit: string;
}

/** A number of the proof; least and most where it stands for several. */
export interface Proof {
  name: string;
  value: number;
  least: number | null;
  most: number | null;
  unit: string;
}

/** The time to be gained if a cause were gone: how much, how sure, and in words. */
export interface Gain {
  time: number;
  error: number;
  share: number;
  of: string;
  at_most: boolean;
  by: string;
  text: string;
}

export interface Finding {
  kind: string;
  /** The kind as people call it. */
  title: string;
  severity: string | number;
  text: string;
  /** Time lost in ns, added up over locations, and its share of the time that share_of names; 0 if it is unknown. */
  lost: number;
  /** Of lost: ns, or what a profile counts. */
  unit: string;
  share: number;
  share_of: string;
  /** What to try, the time to be gained by it, and the symptoms; empty where none is known. */
  next: string;
  gain: Gain | null;
  /** Why no gain is predicted, or "". */
  no_gain: string;
  seen_as: string[];
  proof: Proof[];
  view: string;
  options: Record<string, string[]>;
  selection: unknown;
  /** The locations that it blames or describes, where it selects all. */
  subjects: number[];
  evidence: Evidence[];
}

/** POP's efficiencies of the run, as shares; null where they are not defined. */
export interface Efficiency {
  load: number | null;
  communication: number | null;
  parallel: number | null;
  /** What they are over, in words. */
  over: string;
}

interface Found {
  run: string;
  list: Finding[];
  shown: number;
  pop: Efficiency | null;
  /** The answer for the run: one of the list, or that nothing stands out. */
  answer: Finding | null;
}

const none: Found = { run: "", list: [], shown: 0, pop: null, answer: null };
export const found = signal<Found>(none);
/** The run whose findings are being looked for; "" none. */
export const asking = signal("");
const all = signal(false);

/** What the findings on the page say. */
export function shownFindings(): string[] {
  return found.peek().list.slice(0, Math.max(found.peek().shown, 8)).map((f) => f.text);
}

const amount = (x: unknown) => (typeof x === "number" && Number.isFinite(x) ? x : 0);

const words = (x: unknown) => (typeof x === "string" ? x : "");

/** Reads one finding, or the answer; null where it has no text. */
function readFinding(x: Partial<Finding> | null): Finding | null {
  if (typeof x?.text !== "string" || x.text === "") return null;
  return {
    kind: String(x.kind ?? ""), title: words(x.title ?? x.kind), severity: x.severity ?? "", text: x.text, next: words(x.next),
    lost: amount(x.lost), unit: typeof x.unit === "string" ? x.unit : "ns", share: amount(x.share), share_of: x.share_of ?? "all time",
    gain: typeof x.gain?.text === "string" ? x.gain : null, no_gain: words(x.no_gain), seen_as: Array.isArray(x.seen_as) ? x.seen_as : [], proof: Array.isArray(x.proof) ? x.proof : [],
    view: String(x.view ?? ""), options: x.options ?? {}, selection: x.selection ?? null, subjects: Array.isArray(x.subjects) ? x.subjects : [], evidence: Array.isArray(x.evidence) ? x.evidence : [],
  };
}

/** Reads the data of the view; anything else than a list of texts is left out. */
export function readFindings(data: unknown): Finding[] {
  const list = (data as { findings?: unknown } | null)?.findings;
  return Array.isArray(list) ? list.flatMap((x: Partial<Finding> | null) => readFinding(x) ?? []) : [];
}

/** Reads POP's efficiencies; null where the view gives none. */
export function readEfficiency(data: unknown): Efficiency | null {
  const p = (data as { pop?: Record<string, unknown> } | null)?.pop;
  if (!p || p.locations === 1) return null; // a single location has no balance
  const share = (x: unknown) => (typeof x === "number" ? x : null);
  const e = { load: share(p.load_balance), communication: share(p.communication_efficiency), parallel: share(p.parallel_efficiency), over: typeof p.over === "string" && p.over !== "" ? `${amount(p.locations)} ${p.over}` : "locations" };
  return e.load === null && e.parallel === null ? null : e;
}

/** How grave a finding is: numbers from 0 to 1, or words. */
export function gravity(severity: string | number): "high" | "medium" | "low" {
  if (typeof severity === "number") return severity >= 0.66 ? "high" : severity >= 0.33 ? "medium" : "low";
  return /high|severe|critical|error/.test(severity) ? "high" : /medium|warn|moderate/.test(severity) ? "medium" : "low";
}

/** The selection that a finding is about, from ids or patterns. */
export function selectionOf(selection: unknown): { time: { begin: number; end: number } | null; locations: string[]; regions: string[] } {
  const s = (selection ?? {}) as Record<string, unknown>;
  const list = (x: unknown) => (Array.isArray(x) ? x.slice(0, 10_000).flatMap((v) => (typeof v === "number" ? [`#${v}`] : typeof v === "string" && v !== "" ? [v] : [])) : []);
  const [begin, end] = [Number(s.begin ?? s.from ?? NaN), Number(s.end ?? s.to ?? NaN)];
  return { time: end > begin ? { begin, end } : null, locations: list(s.locations), regions: list(s.regions) };
}

/** The numbers behind a finding, a line each. */
export function evidenceWords(list: readonly Evidence[]): string {
  return list.filter((e) => typeof e?.value === "number").map((e) => `${middle(String(e.name), 60)}: ${formatUnit(e.value, e.unit)}`).join("\n");
}

/** The stops of the walk through a finding. */
export type Stop = "who" | "why" | "if";

/** The finding and the stop that an address names: "2.why"; null where it names none. */
export function readWalk(text: string): { index: number; stop: Stop } | null {
  const m = /^(\d{1,3})\.(who|why|if)$/.exec(text);
  return m && Number(m[1]) > 0 ? { index: Number(m[1]) - 1, stop: m[2] as Stop } : null;
}

/** A gain in words, and how it was predicted. */
export function gainWords(g: Gain): string {
  return `${g.text} ${g.by !== "replay" ? "This bound is a sum of times." : `Predicted by a replay of the run${g.error > 0 ? `, ± ${formatUnit(g.error, "ns")}` : ""}.`}`;
}

/** Views that show locations, in the order of asking. */
const ofLocations = ["timeline", "boxprofile", "profile"];

/** The locations that the first stop selects; empty where all are concerned alike. */
export function whoOf(f: Finding): string[] {
  const { locations } = selectionOf(f.selection);
  return locations.length > 0 ? locations : selectionOf({ locations: f.subjects }).locations;
}

/** Goes to a stop: selects what the finding is about, and opens the view that shows it. */
export function walkTo(bench: Workbench, f: Finding, index: number, stop: Stop): void {
  const s = selectionOf(f.selection);
  const whole = bench.store.wholeRun;
  const time = s.time && (s.time.begin > whole.begin || s.time.end < whole.end) ? s.time : null;
  const there = (view: string) => view !== "" && view !== "findings" && bench.view(view) !== undefined && !bench.missing(view);
  const view = stop === "who" ? ofLocations.find(there) : there(f.view) ? f.view : undefined;
  batch(() => bench.store.asOneStep(() => {
    const locations = stop === "who" ? whoOf(f) : s.locations;
    bench.store.select({ time, locations, regions: stop === "who" ? [] : s.regions });
    bench.setWalk(index < 0 ? "" : `${index + 1}.${stop}`);
    if (stop === "if" || !view) return;
    bench.reveal(view, locations);
    const panel = bench.focusedPanel;
    if (stop === "why" && panel?.view === view) for (const [name, values] of Object.entries(f.options)) bench.setOption(panel.id, name, values);
  }));
}

/** The verdict on runs that are compared on the page; null where none are. */
export const verdict = signal<Finding | null>(null);
let comparedBefore = "";

/** Reads the data of the view "compare" as an answer: its sentence, and the lengths of both. */
export function readVerdict(data: unknown): Finding | null {
  const d = data as { text?: string; length?: { a?: number; b?: number; verdict?: string }; a?: { name: string }[]; b?: { name: string }[]; unit?: string } | null;
  const of = (side: "a" | "b", word: string) => ({ name: `${word}: ${d?.[side]?.length === 1 ? d[side]![0]!.name : plural(d?.[side]?.length ?? 0, "run")}`, value: amount(d?.length?.[side]), least: null, most: null, unit: d?.unit ?? "ns" });
  const proof = [of("a", "A"), of("b", "B")].filter((p) => p.value > 0);
  // Three runs per side that are apart are enough to tell a change from chance.
  const next = d?.a?.length === 1 && d.b?.length === 1 ? "Record three runs per side, to tell a change from chance." : "";
  return readFinding({ text: d?.text, next, severity: d?.length?.verdict === "changed" ? "high" : "low", proof: proof.length === 2 ? proof : [], view: "compare" });
}

/** Asks for the verdict of the first panel that compares runs, once for what it compares. */
export function askVerdict(bench: Workbench): void {
  const run = bench.runID.value;
  const panel = panels(bench.layout.value).find((p) => p.view === "compare");
  const options = Object.fromEntries(["with", "a", "b"].flatMap((name) => (panel?.options[name] ? [[name, [...panel.options[name]]]] : [])));
  const key = panel && run !== "" ? JSON.stringify([run, options, bench.comebacks.value]) : "";
  if (key === comparedBefore) return;
  comparedBefore = key;
  verdict.value = null;
  if (key === "") return;
  bench.api.data(run, { view: "compare", options, width: 960, height: 540 }, { panel: "verdict", seq: Date.now() })
    .then((d) => { if (comparedBefore === key) verdict.value = readVerdict(d.data); })
    .catch((e: unknown) => bench.reportGone(e));
}

let abort = new AbortController();

/** Asks for the findings of the run on the page, once a run and once for each newer state of it: what is still being looked for in the one before is given up. */
export function ask(bench: Workbench): void {
  const run = bench.runID.value;
  void bench.comebacks.value;
  abort.abort();
  if (run === "" || !bench.view("findings") || bench.missing("findings")) {
    found.value = none;
    return;
  }
  asking.value = run;
  const mine = (abort = new AbortController());
  const answer = async () => {
    await afterPictures(bench);
    if (mine.signal.aborted) return;
    const d = await bench.api.data(run, { view: "findings", width: 960, height: 540 }, { panel: "findings", seq: Date.now(), signal: mine.signal });
    if (bench.runID.peek() !== run) return;
    found.value = { run, list: readFindings(d.data), shown: amount((d.data as { shown?: unknown } | null)?.shown) || 10, pop: readEfficiency(d.data), answer: readFinding((d.data as { answer?: Partial<Finding> } | null)?.answer ?? null) };
  };
  answer()
    .catch((e: unknown) => bench.reportGone(e))
    .finally(() => { if (abort === mine) asking.value = ""; });
}

/** Whether the strip is one line. */
export const stripFolded = signal(remembered());

function remembered(): boolean {
  try {
    return localStorage.getItem("parallax.strip") === "folded";
  } catch {
    return false;
  }
}

export function foldStrip(): void {
  stripFolded.value = !stripFolded.value;
  try {
    localStorage.setItem("parallax.strip", stripFolded.value ? "folded" : "");
  } catch {
    // It is unfolded the next time.
  }
}

/** Which finding of the list the strip shows; -1: a verdict, or that nothing stands out. */
export function inStrip(bench: Workbench): number {
  const { list, answer } = found.value;
  const walk = readWalk(bench.walk.value);
  if (walk && walk.index < list.length) return walk.index;
  const first = verdict.value ?? answer;
  return list.findIndex((f) => f.text === first?.text);
}

export function Findings() {
  const bench = useBench();
  const { run, list, shown, pop, answer } = found.value;
  const chosen = readWalk(bench.walk.value)?.index ?? -1;
  const above = stripFolded.value ? -1 : inStrip(bench);
  if (run !== bench.runID.value || run === "") {
    if (asking.value === "" || asking.value !== bench.runID.value) return null;
    return <section class="inspect inspect-findings" aria-label="Findings"><header class="side-head"><h2>Findings</h2></header><p class="empty-note">Searching for findings…</p></section>;
  }
  const most = Math.max(...list.map((f) => (f.lost > 0 ? f.share : 0)), 1e-9); // as they are ordered
  const some = all.value ? list : list.slice(0, shown);
  return (
    <section class="inspect inspect-findings" aria-label="Findings">
      <header class="side-head"><h2>Findings</h2><span class="muted">{list.length || ""}{verdict.value || bench.hasForeign.value ? ` of ${bench.run.value?.name ?? ""}` : ""}</span></header>
      {pop && <Efficiencies pop={pop} />}
      {list.length === 0 && <p class="empty-note">{answer?.text ?? "No findings in this run."}</p>}
      <ol class="findings">
        {some.map((f, i) => <Card key={i} f={f} most={most} chosen={chosen === i} above={above === i} onChoose={() => walkTo(bench, f, i, "why")} />)}
      </ol>
      {list.length > shown && <button type="button" class="plain more" onClick={() => (all.value = !all.value)}>{all.value ? "Fewer" : `${list.length - shown} more…`}</button>}
    </section>
  );
}

/** POP's three numbers on a line. */
function Efficiencies({ pop }: { pop: Efficiency }) {
  const parts = [
    ["load balance", pop.load, `load balance: mean over maximum of the busy time of ${pop.over} (POP)`],
    ["communication efficiency", pop.communication, `communication efficiency: maximum of the busy time of ${pop.over} over the length of the run (POP)`],
    ["parallel efficiency", pop.parallel, `parallel efficiency: mean of the busy time of ${pop.over} over the length of the run (POP)`],
  ] as const;
  return (
    <p class="finding-pop muted">
      {parts.map(([name, value, title]) => value !== null && <span key={name} title={title}>{name} <b>{formatShare(value)}</b></span>)}
    </p>
  );
}

/** A finding with its cost; one that is above, in the strip, leaves its sentence to the strip. */
function Card({ f, most, chosen, above, onChoose }: { f: Finding; most: number; chosen: boolean; above: boolean; onChoose: () => void }) {
  const bench = useBench();
  const level = gravity(f.severity);
  const fit = namesClockFit(f.text) ? clockFit(bench) : null;
  const numbers = evidenceWords(f.evidence);
  return (
    <li>
      <button
        type="button" class={`finding plain ${level}${chosen ? " chosen" : ""}${above ? " finding-above" : ""}`} aria-current={chosen} onClick={onChoose}
        title={`${numbers}${numbers ? "\n" : ""}Click shows it${f.view ? ` in the view “${f.view}”` : ""}.`}
      >
        <span class="finding-head">
          <b>{f.title}</b>
          <span class="muted">{f.lost > 0 ? `${formatUnit(f.lost, f.unit)} lost · ${formatShare(f.share)} of ${f.share_of}` : level}</span>
        </span>
        <span class="finding-text">{middle(f.text, 400)}</span>
        {f.seen_as.length > 0 && <span class="muted">Seen as: {f.seen_as.join(", ")}</span>}
        {f.lost > 0 && <span class="finding-bar" role="presentation"><span style={{ width: `${Math.max((100 * f.share) / most, 0.5)}%` }} /></span>}
      </button>
      {fit && fit.off === "" && <button type="button" class="note-action finding-action" title={fit.note} onClick={fit.run}>{fit.label}</button>}
    </li>
  );
}
