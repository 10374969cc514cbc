// What the colours of a picture mean. An entry that stands for something can be
// chosen, and then selects it.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { palette } from "../scene/palette";
import { Flag, noID, none, type LegendEntry, type Scene } from "../scene/scene";
import { Apart } from "./apart";
import { cssRamp } from "./colour";
import { useBench } from "./context";
import { middle, noName, plural } from "./format";
import type { Symbol } from "./plug";

/** So many entries are all shown, in two lines if need be: each names a part of the picture. */
const few = 10;

/** The entries of a picture; plain ones of another run explain, but select nothing. */
export function Legend({ scene, plain, symbols = [] }: { scene: Scene | null; plain?: boolean; symbols?: readonly Symbol[] }) {
  const bench = useBench();
  const list = useRef<HTMLUListElement>(null);
  const tallest = useRef({ width: 0, height: 0 });
  const [hidden, setHidden] = useState(0);
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => {
    const ul = list.current;
    if (!ul || open) return;
    const measure = () => {
      setHidden(countHidden(ul));
      keepHeight(ul, tallest.current);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(ul);
    measure();
    return () => observer.disconnect();
  }, [scene, open]);
  if (!scene || scene.legend.length + symbols.length === 0) return null;
  const apart = new Apart(scene.legend.map((e) => e.label));
  return (
    <ul ref={list} class={`legend${scene.legend.length <= few ? " legend-few" : ""}${hidden > 0 ? " legend-cut" : ""}${open ? " legend-open" : ""}`} aria-label="Legend">
      {symbols.map((s) => <li key={s.sign}><span class="legend-entry"><span class="legend-sign" aria-hidden="true">{s.sign}</span>{s.words}</span></li>)}
      {joinSame(scene.legend, bench.colours[bench.tint.value]).slice(0, 60).map((group, i) => (
        <li key={i}>{group.map((e, k) => <Entry key={k} entry={e} short={isName(e) ? apart.shorten(e.label, 28) || middle(e.label, 28) : e.label} plain={plain} same={k > 0} />)}</li>
      ))}
      {hidden > 0 && (
        <li class="legend-rest">
          <button type="button" class="plain" aria-expanded={open} title={open ? "Show less of the legend" : plural(hidden, "further entry", "further entries")} aria-label={open ? "Less of the legend" : `+${hidden}: all of the legend`} onClick={() => setOpen(!open)}>{open ? "less" : `+${hidden}`}</button>
        </li>
      )}
    </ul>
  );
}

/**
 * Keeps the room of a legend as high as it was at this width. A picture may have more or fewer entries by its height:
 * if the legend followed, it would change that height, and the picture would be asked for again without end.
 */
function keepHeight(ul: HTMLUListElement, tallest: { width: number; height: number }): void {
  const slot = ul.parentElement!;
  if (slot.clientWidth !== tallest.width) {
    tallest.width = slot.clientWidth;
    tallest.height = 0;
    slot.style.minHeight = "";
  }
  const height = ul.getBoundingClientRect().height;
  if (height > tallest.height) {
    tallest.height = height;
    slot.style.minHeight = `${height}px`;
  }
}

/** How many entries do not fit, once there is room for the button that shows them. */
function countHidden(ul: HTMLUListElement): number {
  const entries = [...ul.querySelectorAll<HTMLElement>(":scope > li:not(.legend-rest)")];
  const below = () => { const end = ul.getBoundingClientRect().bottom - 8; return entries.filter((li) => li.getBoundingClientRect().top >= end).length; };
  const had = ul.classList.contains("legend-cut");
  ul.classList.remove("legend-cut");
  let n = below();
  if (n > 0) {
    ul.classList.add("legend-cut");
    n = below();
  }
  ul.classList.toggle("legend-cut", had);
  return n;
}

/** Entries of one colour, together: where colours end, words go on. */
export function joinSame(entries: readonly LegendEntry[], table: Uint32Array): LegendEntry[][] {
  const groups: LegendEntry[][] = [];
  const at = new Map<string, LegendEntry[]>();
  for (const e of entries) {
    const look = isRamp(e) || !isCategory(e.colour) ? "" : `${table[e.colour]} ${e.flags}`;
    const there = at.get(look);
    if (there) there.push(e);
    else {
      const group = [e];
      groups.push(group);
      if (look !== "") at.set(look, group);
    }
  }
  return groups;
}

/** Colours of regions and locations; others, such as that of lines, stand for what their words say. */
const isCategory = (colour: number) => colour >= palette.sections.compute!.start && colour < palette.sections.viridis!.start;

/** Whether an entry names a region or a location, whose names may be of any length; others explain, in whole words. */
const isName = (e: LegendEntry) => e.region !== noID || e.parent !== noID;

const isRamp = (e: LegendEntry) => e.rampEnd !== none && e.rampEnd !== 0 && e.rampEnd !== e.colour;

/** An entry; one of the same colour as that before it has words alone. */
function Entry({ entry, short, plain, same }: { entry: LegendEntry; short: string; plain?: boolean; same: boolean }) {
  const bench = useBench();
  if (isRamp(entry)) {
    return (
      <span class="legend-entry">
        <span>{entry.label}</span>
        <span class="muted">{entry.rampLow}</span>
        <span class="legend-ramp" style={{ background: cssRamp(bench.colours, entry.colour, entry.rampEnd, bench.tint.value) }} />
        <span class="muted">{entry.rampHigh}</span>
      </span>
    );
  }
  const content = <>{same ? <span class="muted">and</span> : <span class="swatch" style={{ background: swatchOf(bench.colour(entry.colour), entry.flags) }} />}<bdi class="name">{short || noName}</bdi></>;
  const choice = entry.region !== noID ? { regions: [`#${entry.region}`] } : entry.parent !== noID ? { locations: [`#${entry.parent}`] } : null;
  if (!choice || plain) return <span class="legend-entry">{content}</span>;
  const chosen = choice.regions ? bench.look.value.regions.includes(choice.regions[0]) : bench.look.value.locations.includes(choice.locations![0]);
  return (
    <button
      type="button" class="legend-entry plain" tabIndex={-1} /* the list of regions is the way for keys */ aria-pressed={chosen} title={`Select ${middle(entry.label, 200)}; Ctrl adds`}
      onClick={(e) => bench.choose(chosen && !e.ctrlKey ? (choice.regions ? { regions: [] } : { locations: [] }) : choice, e.ctrlKey || e.metaKey)}
      onPointerEnter={() => { if (choice.regions) bench.hover.value = { panel: "", time: null, location: null, region: entry.region }; }}
      onPointerLeave={() => (bench.hover.value = null)}
    >{content}</button>
  );
}

/** A colour as a sample shows it: with stripes where what it explains is hatched. */
function swatchOf(colour: string, flags: number): string {
  if (flags === Flag.outlined) return `linear-gradient(var(--background) 0 0) center / calc(100% - 6px) calc(100% - 6px) no-repeat, ${colour}`; // a frame
  return flags & Flag.hatched ? `repeating-linear-gradient(45deg, ${colour} 0 3px, transparent 3px 5px)` : colour;
}
