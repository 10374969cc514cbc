// The causes and effects of the chosen interval, in the inspector.

import type { Step } from "../api/types";
import { useBench } from "./context";
import { stepDetail, stepWord } from "./causes";
import { middle, thousands } from "./format";
import "./causes.css";

const few = 6;

export function CauseList() {
  const bench = useBench();
  const c = bench.follower.causes.value;
  if (!c) return null;
  const further = c.chain.slice(1, 9);
  if (c.causes.length + c.effects.length === 0) return <p class="muted causes-none">No link or call leads here, and none goes on from here.</p>;
  return (
    <div class="causes" role="group" aria-label="Causes and effects">
      {c.causes.length > 0 && <h3>Causes <kbd>[</kbd></h3>}
      {c.causes.slice(0, few).map((s, i) => <StepRow key={i} step={s} back />)}
      {c.causeCount > few && <p class="muted">{thousands(c.causeCount - Math.min(few, c.causes.length))} more links lead here</p>}
      {further.length > 0 && (
        <details>
          <summary>The chain before that: {c.chain.length - 1}{c.cut ? " and more" : ""}</summary>
          {further.map((s, i) => <StepRow key={i} step={s} back />)}
        </details>
      )}
      {c.effects.length > 0 && <h3>Effects <kbd>]</kbd></h3>}
      {c.effects.slice(0, few).map((s, i) => <StepRow key={i} step={s} />)}
      {c.effectCount > few && <p class="muted">{thousands(c.effectCount - few)} more links go on from here</p>}
    </div>
  );
}

function StepRow({ step, back = false }: { step: Step; back?: boolean }) {
  const bench = useBench();
  const region = bench.region(step.region);
  return (
    <button type="button" class="cause plain" title={`Go to ${middle(region?.name ?? "?", 200)} on ${step.path}`} onClick={() => bench.follower.go(step)}>
      <span class="muted cause-by">{stepWord(step.by, back)}</span>
      <span class="cause-what"><span class="swatch" style={{ background: region ? bench.colour(region.colour) : "none" }} /><bdi class="name">{middle(region?.name ?? "?", 60)}</bdi></span>
      <span class="muted cause-where"><bdi class="name">{middle(step.path, 60)}</bdi></span>
      <span class="number muted">{stepDetail(step)}</span>
    </button>
  );
}
