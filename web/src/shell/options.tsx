// The form of a view's options, made from the one table of options.

import { useState } from "preact/hooks";
import type { Option, ViewInfo } from "../api/types";
import { Icon } from "../widget/icon";
import { TextField } from "../widget/text-field";
import { useBench } from "./context";
import { offersFor, type Offer } from "./offer";
import { controlOf, inGroups, keptValues, ofRegions, problemOf, valueOf, type OptionValues } from "./option";

interface Props {
  option: Option;
  values: OptionValues;
  set: (values: string[]) => void;
}

export function OptionForm({ view, values, set }: { view: ViewInfo; values: OptionValues; set: (name: string, values: string[]) => void }) {
  const [about, setAbout] = useState("");
  // Rows are scrolled by hand; a field for it would only be in the way.
  const options = view.options.filter((o) => o.name !== "scroll");
  const shown = options.find((o) => o.name === about);
  return (
    <form class="options" aria-label={`Options of ${view.title}`} onSubmit={(e) => e.preventDefault()}>
      {inGroups(options).map(([group, list]) => (
        <fieldset key={group} class="option-group">
          <legend>{group}</legend>
          {list.map((o) => <OptionRow key={o.name} option={o} values={values} set={(v) => set(o.name, keptValues(o, v))} about={() => setAbout(o.name)} />)}
        </fieldset>
      ))}
      <p class="option-help" aria-hidden="true">{shown ? <><b>{shown.title}</b> (--{shown.name}): {shown.help}</> : "Point at an option to see its description."}</p>
    </form>
  );
}

function OptionRow({ option, values, set, about }: Props & { about: () => void }) {
  const id = `option-${option.name}`;
  const isSet = (values[option.name]?.length ?? 0) > 0;
  const Control = controls[controlOf(option)];
  return (
    <div class={`option ${isSet ? "option-set" : ""}`} onPointerEnter={about} onFocusIn={about}>
      <label for={id}>{option.title}</label>
      <div class="option-control"><Control option={option} values={values} set={set} /></div>
      <button type="button" class="plain" title={`Back to ${option.default || "the default"}`} aria-label={`Reset ${option.title}`} disabled={!isSet} onClick={() => set([])}>
        <Icon name="undo" />
      </button>
      <span class="unseen" id={`${id}-help`}>{option.help}</span>
    </div>
  );
}

const controls = { select: Select, slider: Slider, number: NumberField, switch: Switch, patterns: Patterns, text: Text };

function Select({ option, values, set }: Props) {
  return (
    <select id={`option-${option.name}`} aria-describedby={`option-${option.name}-help`} value={valueOf(option, values)} onChange={(e) => set([e.currentTarget.value])}>
      {option.choices?.map((c) => <option key={c} value={c}>{c}</option>)}
      {!option.choices?.includes(valueOf(option, values)) && <option value={valueOf(option, values)}>{valueOf(option, values)}</option>}
    </select>
  );
}

function Slider({ option, values, set }: Props) {
  const value = valueOf(option, values);
  return (
    <>
      <input
        id={`option-${option.name}`} type="range" min={option.min} max={option.max} step={option.step || "any"} value={value}
        aria-describedby={`option-${option.name}-help`} onInput={(e) => set([e.currentTarget.value])}
      />
      <NumberField option={option} values={values} set={set} label={`${option.title}, exact`} />
    </>
  );
}

function NumberField({ option, values, set, label }: Props & { label?: string }) {
  const [draft, setDraft] = useState<string | null>(null);
  const value = draft ?? valueOf(option, values);
  const problem = problemOf(option, value);
  return (
    <input
      id={label ? undefined : `option-${option.name}`} aria-label={label} type="text" inputMode="decimal" class="number" value={value} aria-invalid={problem !== ""} title={problem || undefined}
      onInput={(e) => {
        const v = e.currentTarget.value;
        const bad = problemOf(option, v) !== "";
        setDraft(bad ? v : null);
        if (!bad) set([v]);
      }}
      onBlur={() => setDraft(null)}
    />
  );
}

function Switch({ option, values, set }: Props) {
  return (
    <input
      id={`option-${option.name}`} type="checkbox" role="switch" checked={valueOf(option, values) === "true"} aria-describedby={`option-${option.name}-help`}
      onChange={(e) => set([String(e.currentTarget.checked)])}
    />
  );
}

function Text({ option, values, set }: Props) {
  const bench = useBench();
  const list = offersFor(bench, option);
  return (
    <>
      <TextField
        id={`option-${option.name}`} value={valueOf(option, values)} describedBy={`option-${option.name}-help`} set={(text) => set([text])}
        list={list.length > 0 ? `option-${option.name}-list` : undefined} placeholder={option.kind === "file" ? "name of a layout" : undefined}
      />
      {list.length > 0 && <Offers option={option} list={list} />}
    </>
  );
}

/** What the run has to choose from. */
function Offers({ option, list }: { option: Option; list: readonly Offer[] }) {
  return <datalist id={`option-${option.name}-list`}>{list.map((x) => <option key={x.value} value={x.value}>{x.note}</option>)}</datalist>;
}

function Patterns({ option, values, set }: Props) {
  const bench = useBench();
  const list = values[option.name] ?? [];
  const offers = offersFor(bench, option).filter((x) => !list.includes(x.value));
  return (
    <div class="patterns">
      {list.map((p) => (
        <span class="chip" key={p}>
          <bdi class="name" title={p}>{ofRegions.has(option.name) && /^#\d+$/.test(p) && bench.region(Number(p.slice(1)))?.name || p}</bdi>
          <button type="button" class="plain" title={`Remove ${p}`} aria-label={`Remove ${p}`} onClick={() => set(list.filter((x) => x !== p))}><Icon name="close" /></button>
        </span>
      ))}
      <input
        id={`option-${option.name}`} type="text" list={offers.length > 0 ? `option-${option.name}-list` : undefined} placeholder={list.length > 0 ? "add…" : "choose, or name, glob*, re:…"} aria-describedby={`option-${option.name}-help`} spellcheck={false} autocomplete="off"
        onChange={(e) => {
          set([...list, e.currentTarget.value]);
          e.currentTarget.value = "";
        }}
      />
      {offers.length > 0 && <Offers option={option} list={offers} />}
    </div>
  );
}
