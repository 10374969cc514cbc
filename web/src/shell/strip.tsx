// The strip over the panels: one answer with its proof. It shows one finding, the answer
// for the run first: the sentence, its cost, the numbers that prove it as bars, and what
// to do next. Its buttons are the stops of a walk: who, why, what if.

import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../widget/icon";
import { useBench } from "./context";
import { ask, asking, askVerdict, evidenceWords, foldStrip, found, gainWords, gravity, inStrip, readWalk, stripFolded, verdict, walkTo, whoOf, type Finding, type Gain, type Proof, type Stop } from "./findings";
import { formatShare, formatUnit, middle, plural } from "./format";
import type { Workbench } from "./workbench";
import "./strip.css";

/** What the two ends of the walk compare: the run as it is, and as it would be. */
export function gainProof(g: Gain): Proof[] {
  if (!(g.share > 0)) return [];
  const now = g.time / g.share;
  const then = { name: g.at_most ? "without it, at least" : "without it", value: now - g.time, unit: "ns" };
  return [
    { name: `${g.of} now`, value: now, least: null, most: null, unit: "ns" },
    { ...then, least: g.error > 0 ? then.value - g.error : null, most: g.error > 0 ? then.value + g.error : null },
  ];
}

/** The command that fails where this finding costs as much again. */
export function gateCommand(source: string, f: Finding): string {
  const limit = f.share > 0 ? `${Math.max(1, Math.floor(100 * f.share))}%` : "0";
  return `parallax check ${/^[\w@%+=:,./-]+$/.test(source) ? source : `'${source.replaceAll("'", "'\\''")}'`} --fail-on ${f.kind}=${limit}`;
}

export function Strip() {
  const bench = useBench();
  const sentence = useRest();
  useEffect(() => effect(() => ask(bench)), []);
  useEffect(() => effect(() => askVerdict(bench)), []);
  const { run, list } = found.value;
  const answer = verdict.value ?? found.value.answer;
  if (!bench.view("findings") || bench.missing("findings")) return <span />;
  if (run !== bench.runID.value || !answer) {
    return <section class={`strip ${stripFolded.value ? "strip-folded" : ""}`} aria-label="Answer" aria-busy={asking.value !== ""}><p class="muted">{asking.value !== "" ? "Searching for findings…" : ""}</p></section>;
  }
  const walk = readWalk(bench.walk.value);
  const index = inStrip(bench);
  const f = list[index] ?? answer;
  const stop = walk && walk.index === index ? walk.stop : null;
  const cost = f.lost > 0 && f.kind !== "" ? `${formatUnit(f.lost, f.unit)} lost · ${formatShare(f.share)} of ${f.share_of}` : "";
  return (
    <section class={`strip ${f.kind === "" ? "quiet" : gravity(f.severity)}${stripFolded.value ? " strip-folded" : ""}`} aria-label="Answer">
      <div class="strip-words">
        <p ref={sentence} class="strip-text" title={f.text}>{index >= 0 && verdict.value ? `${bench.run.value?.name ?? ""}: ` : ""}{f.text}</p>
        {!stripFolded.value && <Details f={f} stop={stop} cost={cost} />}
      </div>
      {!stripFolded.value && <Bars list={stop === "if" && f.gain ? gainProof(f.gain) : f.proof} />}
      <div class="strip-tools">
        <span class="strip-line">
          {list.length > (index < 0 ? 0 : 1) && <Pager bench={bench} index={index} />}
          <button type="button" class="plain" aria-expanded={!stripFolded.value} title={stripFolded.value ? "Show the proof" : "Collapse to one line"} aria-label="Main finding with its evidence" onClick={foldStrip}><Icon name={stripFolded.value ? "right" : "down"} /></button>
        </span>
        {!stripFolded.value && <Stops bench={bench} f={f} index={index} stop={stop} />}
      </div>
    </section>
  );
}

/** Gives the text below a sentence the lines that the sentence leaves of five, so that what does not fit ends in "…". */
function useRest() {
  const p = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    const e = p.current;
    if (!e) return;
    const observer = new ResizeObserver(() => {
      const lines = Math.round(e.clientHeight / parseFloat(getComputedStyle(e).lineHeight));
      e.parentElement!.style.setProperty("--rest", String(Math.max(1, 5 - lines)));
    });
    observer.observe(e);
    return () => observer.disconnect();
  });
  return p;
}

/** The cost, the next step and the symptoms, in this order: what has no room is not drawn. At a stop, what it says. */
function Details({ f, stop, cost }: { f: Finding; stop: Stop | null; cost: string }) {
  if (stop === "why" && f.evidence.length > 0) return <p class="strip-more" title={evidenceWords(f.evidence)}>{evidenceWords(f.evidence).split("\n").join(" · ")}</p>;
  if (stop === "if" && f.gain) return <p class="strip-more">{gainWords(f.gain)}</p>;
  return (
    <p class="strip-more" title={f.next}>
      {cost !== "" && <b>{cost}</b>}
      {f.next !== "" && <span>Next: {f.next}</span>}
      {f.seen_as.length > 0 && <span class="muted">Seen as: {f.seen_as.join(", ")}</span>}
    </p>
  );
}

/** The numbers of the proof, one bar each, with the range of those that it stands for. */
function Bars({ list }: { list: readonly Proof[] }) {
  if (list.length === 0) return null;
  const most = Math.max(...list.map((p) => Math.max(p.value, p.most ?? 0)), Number.MIN_VALUE);
  const percent = (x: number) => `${(100 * Math.max(0, x)) / most}%`;
  return (
    <dl class="strip-bars">
      {list.map((p, i) => {
        const range = p.least !== null && p.most !== null && p.least !== p.most;
        return (
          <div key={p.name}>
            <dt title={p.name}><bdi>{middle(p.name, 32)}</bdi></dt>
            <dd>
              <span class="strip-track" role="presentation">
                <span class={i === 0 ? "strip-bar strip-bar-first" : "strip-bar"} style={{ width: percent(p.value) }} />
                {range && <span class="strip-range" style={{ left: percent(p.least!), width: percent(p.most! - p.least!) }} />}
              </span>
              <span class="strip-value">{range ? `${formatUnit(p.least!, p.unit)} to ${formatUnit(p.most!, p.unit)}` : formatUnit(p.value, p.unit)}</span>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function Pager({ bench, index }: { bench: Workbench; index: number }) {
  const { list } = found.value;
  const go = (to: number) => walkTo(bench, list[to]!, to, "why");
  return (
    <>
      <button type="button" class="plain strip-step" title="Previous finding" aria-label="Previous finding" disabled={index <= 0} onClick={() => go(index - 1)}>‹</button>
      <span class="strip-count" aria-live="polite">{index < 0 ? plural(list.length, "finding") : `${index + 1} of ${list.length}`}</span>
      <button type="button" class="plain strip-step" title="Next finding" aria-label="Next finding" disabled={index >= list.length - 1} onClick={() => go(index + 1)}>›</button>
    </>
  );
}

function Stops({ bench, f, index, stop }: { bench: Workbench; f: Finding; index: number; stop: Stop | null }) {
  if (f.kind === "") return <span class="strip-line"><button type="button" onClick={() => walkTo(bench, f, -1, "why")}>Show</button></span>;
  const button = (to: Stop, label: string, title: string, off = false) => (
    <button type="button" aria-pressed={stop === to} disabled={off} title={title} onClick={() => walkTo(bench, f, index, to)}>{label}</button>
  );
  const nobody = whoOf(f).length === 0;
  const gate = () => {
    const command = gateCommand(bench.run.peek()?.source ?? "", f);
    void navigator.clipboard?.writeText(command).then(() => bench.say(`Copied: ${command}`), () => bench.say(command));
  };
  return (
    <span class="strip-line segments" role="group" aria-label="Walk through the finding">
      {button("who", "Who?", nobody ? "All locations are concerned alike: none is selected" : "Select its locations and time", nobody)}
      {button("why", "Why?", `Show its numbers${f.view ? ` and the view “${f.view}”` : ""}`)}
      {button("if", "What if?", f.gain ? "Show the predicted gain" : `No gain is predicted${f.no_gain && `: ${f.no_gain}`}`, f.gain === null)}
      <button type="button" title="Copy the command that fails if this cost occurs again" onClick={gate}>Gate in CI</button>
      {!bench.session.value?.readOnly && <button type="button" title="Keep this walk as a story, to edit and to export" onClick={() => void import("./later").then((l) => l.keepWalk(bench, f, index), (e) => bench.report(e))}>Keep</button>}
    </span>
  );
}
