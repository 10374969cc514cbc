// kaleidoscope: the invocation tree as a flower. The wheel comes closer to what is
// under it, a drag moves the picture, a double click opens a subtree; the slider
// in the head grows the tree to a moment of the run, and plays that by itself.

import "./kaleidoscope.css";
import { useEffect, useState } from "preact/hooks";
import type { Scene } from "../../scene/scene";
import { useBench } from "../../shell/context";
import { middle } from "../../shell/format";
import type { PanelState } from "../../shell/layout";
import type { OptionChange, ViewPlug } from "../../shell/plug";

export const kaleidoscope: ViewPlug = {
  name: "kaleidoscope",
  // The tree stays whole, and what is selected lights up in it.
  follow: { time: "selection", locations: "filter", regions: "filter" },
  always: { light: ["true"] },
  ofRun: ["root", "zoom"],
  shows: ["root", "zoom", "until"],
  shift: (panel, dx, dy) => {
    const z = zoomOf(panel);
    return zoomed({ ...z, x: z.x - (2 * dx) / z.factor, y: z.y - (2 * dy) / z.factor });
  },
  magnify: (panel, by, at) => {
    const z = zoomOf(panel);
    const factor = Math.max(0.5, Math.min(mostZoom, z.factor * by));
    const step = 2 * (1 / z.factor - 1 / factor);
    return zoomed({ factor, x: z.x + at.x * step, y: z.y + at.y * step });
  },
  fly: (hit, panel, timed) => [{ option: "root", values: [] }, { option: "zoom", values: [showsPaths(panel, timed) ? `region:#${hit.region}` : `${hit.location}/${hit.lane}/${hit.row}`] }],
  // Single calls light up where they are; call paths that are too small to be drawn have to be come to.
  flyRegion: (region, panel, timed) => (!showsPaths(panel, timed) ? [] : [{ option: "root", values: [] }, { option: "zoom", values: [`region:${region}`] }]),
  Bar: Trail,
  Controls,
};

/** Whether a panel draws call paths, as the view chooses. */
function showsPaths(panel: PanelState, timed: boolean): boolean {
  const tree = panel.options.tree?.[0];
  return tree === "paths" || (tree !== "calls" && !timed);
}

export interface Zoom {
  factor: number;
  /** What lies in the middle, from the root in halves of the picture's smaller side. */
  x: number;
  y: number;
}

export function zoomOf(panel: PanelState): Zoom {
  const given = (panel.options.zoom?.[0] ?? "").split(",").map(Number);
  const at = (i: number, usual: number) => (given[i] !== undefined && Number.isFinite(given[i]) && (i > 0 || given[i] > 0) ? given[i] : usual);
  return { factor: at(0, 1), x: at(1, 0), y: at(2, 0) };
}

/** As far as the view takes it. */
const mostZoom = 1e9;

function zoomed(z: Zoom): OptionChange[] {
  const digits = (x: number) => String(Number(x.toPrecision(14)));
  const text = [digits(z.factor), digits(z.x), digits(z.y)].join(",");
  return [{ option: "zoom", values: text === "1,0,0" ? [] : [text] }];
}

/** The painting of the whole tree while a subtree is open, by panel: a subtree is first shown by location. */
const saved = new Map<string, readonly string[]>();

/** What leads back from a subtree: the whole tree, painted as it was. A zoom belongs to what it was made for. */
export function wholeTree(panel: PanelState): OptionChange[] {
  return [{ option: "root", values: [] }, { option: "zoom", values: [] }, { option: "paint", values: [...(saved.get(panel.id) ?? panel.options.paint ?? [])] }];
}

/** Keeps the painting of a whole tree. */
export function savePainting(panel: PanelState): void {
  if (panel.options.root === undefined) saved.set(panel.id, panel.options.paint ?? []);
}

/** The callers of the call whose subtree is shown, outermost first, and itself. */
export function trailOf(scene: Scene | null): { root: string; name: string }[] {
  return (scene?.terms ?? []).filter((t) => t.name === "root").map((t) => ({ root: t.text, name: t.label }));
}

/** The calls around the middle of a zoomed picture, outermost first, each with the zoom that shows all of it; "": that is the whole picture. */
export function withinOf(scene: Scene | null): { zoom: string; name: string }[] {
  return (scene?.terms ?? []).filter((t) => t.name === "within").map((t) => ({ zoom: t.text, name: t.label }));
}

/** Where the picture is: the ways up from a subtree and from a zoom. It is always there, or the picture would jump below the wheel. */
function Trail({ panel, scene }: { panel: PanelState; scene: Scene | null }) {
  const bench = useBench();
  const set = (changes: OptionChange[]) => changes.forEach((c) => bench.setOption(panel.id, c.option, c.values));
  const trail = trailOf(scene);
  const within = panel.options["zoom"] === undefined ? [] : withinOf(scene);
  const whole = panel.options["root"] === undefined && panel.options["zoom"] === undefined;
  return (
    <nav class="trail" aria-label="Callers">
      <button type="button" class="chip" title="Back to the whole tree" aria-current={whole ? "page" : undefined} disabled={whole}
        onClick={() => set(panel.options["root"] === undefined ? [{ option: "zoom", values: [] }] : wholeTree(panel))}>whole tree</button>
      <span class="trail-ways">
        {trail.map((t, i) => (
          <span key={i}>
            <span aria-hidden="true">▸ </span>
            {t.root === "" ? t.name : (
              <button type="button" class="plain" title={`The subtree of ${t.name}`} aria-current={i === trail.length - 1 && within.length === 0 ? "page" : undefined}
                onClick={() => set([{ option: "root", values: [t.root] }, { option: "zoom", values: [] }])}>{middle(t.name, 32)}</button>
            )}
          </span>
        ))}
        {within.map((t, i) => (
          <span key={`within ${i}`}>
            <span aria-hidden="true">▸ </span>
            {t.name === "…" ? t.name : (
              <button type="button" class="plain" title={`Zoom to all below ${t.name}`} aria-current={i === within.length - 1 ? "page" : undefined}
                onClick={() => set([{ option: "zoom", values: t.zoom === "" ? [] : [t.zoom] }])}>{middle(t.name, 32)}</button>
            )}
          </span>
        ))}
      </span>
    </nav>
  );
}

/** Milliseconds and percent of a step of the growing tree. */
const pause = 120;
const step = 1;

/** The zoom that a call was found at, where one was asked for by its name. */
export function foundAt(panel: PanelState, scene: Scene | null): string | undefined {
  return panel.options.zoom?.[0]?.match(/^#|\/|^region:/) ? scene?.terms?.find((t) => t.name === "zoom")?.text : undefined;
}

function Controls({ panel, scene }: { panel: PanelState; scene: Scene | null }) {
  const bench = useBench();
  const found = foundAt(panel, scene);
  useEffect(() => {
    if (found !== undefined) bench.setOption(panel.id, "zoom", [found]);
  }, [found]);
  const [playing, setPlaying] = useState(false);
  const until = untilOf(panel);
  const grow = (percent: number) => bench.setOption(panel.id, "until", percent >= 100 ? [] : [`${Math.max(0, percent)}%`]);
  useEffect(() => {
    if (!playing) return;
    const next = setTimeout(() => {
      if (until + step >= 100) setPlaying(false);
      grow(until + step);
    }, pause);
    return () => clearTimeout(next);
  }, [playing, until]);
  const play = () => {
    if (!playing && until >= 100) grow(0);
    setPlaying(!playing);
  };
  useEffect(() => savePainting(panel), [panel]);
  return (
    <span class="bloom">
      <button type="button" class="plain" title="Play: draw the tree in the order of time" aria-label={playing ? "Pause" : "Play"} aria-pressed={playing} onClick={play}>{playing ? "❚❚" : "▶"}</button>
      <button type="button" class="plain" title="One step back" aria-label="One step back" onClick={() => { setPlaying(false); grow(until - step); }}>‹</button>
      <input type="range" min="0" max="100" step={step} value={until} aria-label={`grown to ${until} % of the run`} title={`grown to ${until} % of the run`}
        onInput={(e) => { setPlaying(false); grow(Number(e.currentTarget.value)); }} />
      <button type="button" class="plain" title="One step on" aria-label="One step on" onClick={() => { setPlaying(false); grow(until + step); }}>›</button>
    </span>
  );
}

/** How far the tree has grown, in percent. */
export function untilOf(panel: PanelState): number {
  const text = panel.options["until"]?.[0] ?? "";
  const value = Number.parseFloat(text);
  return text.endsWith("%") && Number.isFinite(value) ? Math.max(0, Math.min(100, value)) : 100;
}
