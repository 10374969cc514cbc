// What event0 … event3 stand for: a region and a metric, an atomic event, a counter
// or metadata. The last one bound gives the colour, unless the layout does.

import { useState } from "preact/hooks";
import { useBench } from "../../shell/context";
import type { Scene } from "../../scene/scene";
import type { PanelState } from "../../shell/layout";
import { TextField } from "../../widget/text-field";
import type { Vocabulary } from "./complete";
import { useVocabulary } from "./vocabulary";

type Kind = "" | "region" | "atomic" | "counter" | "metadata";

export interface Binding {
  kind: Kind;
  name: string;
  /** Metric of a region, statistic of an atomic event or a counter. */
  what: string;
}

const statistics: Record<string, string[]> = { atomic: ["mean", "count", "min", "max"], counter: ["mean", "min", "max", "last"] };

/** Reads an option as the server does. */
export function parseBinding(text: string, metrics: readonly string[]): Binding {
  if (text === "") return { kind: "", name: "", what: "" };
  const [kind, rest] = [text.slice(0, Math.max(text.indexOf(":"), 0)), text.slice(text.indexOf(":") + 1)];
  if (kind === "metadata") return { kind, name: rest, what: "" };
  if (kind === "atomic" || kind === "counter") {
    const cut = rest.lastIndexOf(":");
    return cut > 0 && statistics[kind]!.includes(rest.slice(cut + 1)) ? { kind, name: rest.slice(0, cut), what: rest.slice(cut + 1) } : { kind, name: rest, what: "mean" };
  }
  const what = [...metrics].sort((a, b) => b.length - a.length).find((m) => text.endsWith(`:${m}`));
  return what ? { kind: "region", name: text.slice(0, -what.length - 1), what } : { kind: "region", name: text, what: "exclusive" };
}

export function writeBinding(b: Binding): string {
  if (b.kind === "" || b.name === "") return "";
  if (b.kind === "metadata") return `metadata:${b.name}`;
  return b.kind === "region" ? `${b.name}:${b.what || "exclusive"}` : `${b.kind}:${b.name}:${b.what || "mean"}`;
}

/** What an event stands for in the picture that is shown. */
export type Term = NonNullable<Scene["terms"]>[number];

const who: Record<Term["by"], string> = { user: "chosen here", layout: "bound by the layout", "": "bound to the region with most time" };

/** What a term is shown as in its row: with its text where it has one that is not set here. */
export function termNote(term: Term | undefined, bound: boolean): string {
  if (!term) return bound ? "bound, and not used by the layout" : "not bound";
  return `${term.label || term.text}, ${term.text === "" && term.by === "" ? "as nothing else is bound" : who[term.by]}`;
}

export function Events({ panel, scene }: { panel: PanelState; scene: Scene | null }) {
  const bench = useBench();
  const known = useVocabulary();
  const { metrics, regions } = known;
  return (
    <div class="topology-events">
      {[0, 1, 2, 3].map((k) => (
        <EventRow
          key={k} name={`event${k}`} term={scene?.terms?.find((t) => t.name === `event${k}`)} metrics={metrics} known={known} regions={regions} value={parseBinding(panel.options[`event${k}`]?.[0] ?? "", metrics)}
          set={(b) => bench.setOption(panel.id, `event${k}`, writeBinding(b) === "" ? [] : [writeBinding(b)])}
        />
      ))}
      <p class="quiet">The last event bound colours the locations, unless the layout sets colours. A choice here overrides the binding of the layout.</p>
    </div>
  );
}

interface RowProps {
  name: string;
  /** What the picture has it bound to. */
  term: Term | undefined;
  value: Binding;
  metrics: readonly string[];
  regions: readonly string[];
  known: Vocabulary;
  set: (b: Binding) => void;
}

function EventRow({ name, term, value: chosen, metrics, regions, known, set }: RowProps) {
  const [kind, setKind] = useState<Kind | null>(null);
  // Nothing is chosen: the fields show what the picture has, so that one can go on from there.
  const value = chosen.kind === "" && term ? parseBinding(term.text, metrics) : chosen;
  const now = kind ?? value.kind;
  const names = { "": [], region: regions, atomic: known.atomics, counter: known.counters, metadata: known.metadata }[now];
  const whats = now === "region" ? metrics : statistics[now] ?? [];
  const same = now === value.kind;
  return (
    <fieldset class="topology-event">
      <legend>{name}</legend>
      <select
        aria-label={`${name}: kind`} value={now} onChange={(e) => {
          const k = e.currentTarget.value as Kind;
          setKind(k);
          if (k === "") set({ kind: "", name: "", what: "" });
        }}
      >
        <option value="">{term && term.by !== "user" ? "as it comes" : "not bound"}</option>
        <option value="region">region</option>
        {known.atomics.length > 0 && <option value="atomic">atomic event</option>}
        {known.counters.length > 0 && <option value="counter">counter</option>}
        {known.metadata.length > 0 && <option value="metadata">metadata</option>}
      </select>
      {whats.length > 0 && (
        <select aria-label={`${name}: metric`} value={same ? value.what : whats[0]} onChange={(e) => set({ ...value, kind: now, what: e.currentTarget.value })}>
          {whats.map((w) => <option key={w} value={w}>{w}</option>)}
        </select>
      )}
      {now !== "" && (
        <>
          <TextField
            label={`${name}: name`} list={`${name}-names`} value={same ? value.name : ""} placeholder={now === "region" ? "name, glob* or role:…" : "name"}
            set={(typed) => {
              setKind(null);
              set({ kind: now, name: typed.trim(), what: same && value.what ? value.what : (whats[0] ?? "") });
            }}
          />
          <datalist id={`${name}-names`}>{names.slice(0, 400).map((n) => <option key={n} value={n} />)}</datalist>
        </>
      )}
      <p class="topology-term quiet" role="status">{termNote(term, chosen.kind !== "")}</p>
    </fieldset>
  );
}
