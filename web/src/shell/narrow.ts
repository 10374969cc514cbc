// On a narrow screen one panel is shown at a time; a picture that ends early leaves the
// rest of the screen to the panels after it.

import { signal } from "@preact/signals";
import { Flag, none, type Mark, type Scene } from "../scene/scene";
import type { PanelState } from "./layout";

/** Where a picture ends that was asked for with a height. */
interface End {
  /** Of what it was measured: another view or another screen ends elsewhere. */
  key: string;
  used: number;
  height: number;
}

const ends = signal<Readonly<Record<string, End>>>({});

const keyOf = (panel: PanelState) => `${innerWidth} ${innerHeight} ${panel.view} ${panel.table}`;

/** Keeps where the picture of a panel ends. */
export function learnEnd(panel: PanelState, scene: Scene): void {
  const end = { key: keyOf(panel), used: Math.ceil(endOf(scene)), height: scene.height };
  const before = ends.peek()[panel.id];
  if (before?.key !== end.key || before.used !== end.used || before.height !== end.height) ends.value = { ...ends.peek(), [panel.id]: end };
}

/** How much of its height a picture may take to leave room for another. */
const mostUsed = 0.62;
const mostTogether = 3;

/** The head and the legend of a panel, in pixels. */
const around = 110;

/** The height that panels share; 0: not measured yet. The strip above them may come late, and takes some of it. */
const space = signal(0);
let observer: ResizeObserver | null = null;

/** Keeps the height of the element that holds the panels. */
export function watchSpace(grid: HTMLElement | null): void {
  observer?.disconnect();
  observer = grid && new ResizeObserver(() => (space.value = grid.clientHeight));
  if (grid) observer!.observe(grid);
}

/** Whether a picture that ends early leaves room for another panel. */
export function leavesRoom(used: number, height: number, grid: number): boolean {
  return used <= mostUsed * height && (grid === 0 || used + around <= mostUsed * grid);
}

/** The panels on a narrow screen from one on, each but the last with where it ends. */
export function together(all: readonly PanelState[], first: PanelState): { panel: PanelState; end: End | null }[] {
  const out: { panel: PanelState; end: End | null }[] = [];
  const from = all.indexOf(first);
  for (let i = 0; i < Math.min(all.length, mostTogether); i++) {
    const panel = all[(from + i) % all.length]!;
    const end = ends.value[panel.id];
    const short = end && end.key === keyOf(panel) && !panel.table && leavesRoom(end.used, end.height, space.value) ? end : null;
    out.push({ panel, end: short });
    if (!short) break;
  }
  out[out.length - 1]!.end = null;
  return out;
}

/** The lowest pixel that anything is drawn in. */
export function endOf(scene: Scene): number {
  let end = 0;
  for (const layer of scene.layers) {
    const frame = scene.frames[layer.frame];
    const most = Math.min(scene.height, frame ? frame.y + frame.h : scene.height);
    for (const m of layer.marks) end = Math.max(end, Math.min(lowest(m), most));
  }
  return scene.layers.length === 0 ? scene.height : Math.min(end + 4, scene.height);
}

function lowest(m: Mark): number {
  let y = 0;
  const over = (ys: Float32Array, more: (i: number) => number, drawn = (_: number) => true) => {
    for (let i = 0; i < ys.length; i++) if (drawn(i) && ys[i]! + more(i) > y) y = ys[i]! + more(i);
  };
  switch (m.kind) {
    case "rect": over(m.y, (i) => m.h[i]!, (i) => m.fill[i] !== none || ((m.flags?.[i] ?? 0) & Flag.outlined) !== 0); break;
    case "line": over(m.y0, () => 1); over(m.y1, () => 1); break;
    case "path": case "polygon": over(m.y, () => 1); break;
    case "point": over(m.y, (i) => m.r[i]!); break;
    case "text": over(m.y, () => m.size / 4, (i) => m.text[i] !== ""); break;
    default: y = m.y + m.h;
  }
  return y;
}
