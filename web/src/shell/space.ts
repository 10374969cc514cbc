// Views whose scene is a space: they are turned, moved and filtered in the page. The
// options that do so stay in the address and in exports, but are not asked for.

import type { ViewInfo } from "../api/types";
import { parseCamera, usualCamera, writeCamera, type SpaceChoice } from "../scene/space/look";
import type { Scene, SpaceCamera } from "../scene/scene";
import type { LocationRange } from "../scene/space/runs";
import { atOrBefore } from "./chosen";
import type { PanelState } from "./layout";
import type { OptionChange, ViewPlug } from "./plug";
import type { Workbench } from "./workbench";

/** Options that the page applies by itself. */
export const spaceOptions = ["camera", "min", "max", "slice", "point", "detail", "axes"] as const;

/** Degrees a pixel. */
const turnRate = 0.4;

export function isSpace(view: ViewInfo | undefined): boolean {
  return view?.options.some((o) => o.name === "camera") === true;
}

/** The locations that are chosen, and the one under the cursor in another panel; ascending. */
export function markedLocations(bench: Workbench, panel: string): LocationRange[] {
  const { first, last } = bench.chosen.value;
  const out = first.map((id, i) => ({ from: id, last: last[i]! }));
  const hover = bench.hover.value;
  if (!hover || hover.panel === panel || hover.location === null || bench.chosen.value.holds(hover.location)) return out;
  out.splice(atOrBefore(first, hover.location) + 1, 0, { from: hover.location, last: hover.location });
  return out;
}

/** What is left to ask for, and what the page does with the rest. */
export function splitOptions(view: ViewInfo, options: Record<string, string[]>): { asked: Record<string, string[]>; space: SpaceChoice } {
  if (!isSpace(view)) return { asked: options, space: {} };
  const asked = { ...options };
  const space: SpaceChoice = {};
  for (const name of spaceOptions) {
    if (options[name]?.[0] !== undefined) space[name] = options[name]![0];
    delete asked[name];
  }
  return { asked, space };
}

/** The camera of a panel; where none is set, the one that its scene begins with. */
export function cameraOf(panel: PanelState, usual = usualCamera): SpaceCamera {
  return parseCamera(panel.options.camera?.[0], usual);
}

/** The camera that a scene begins with. */
export function cameraIn(scene: Scene | null): SpaceCamera {
  for (const l of scene?.layers ?? []) for (const m of l.marks) if (m.kind === "space") return m.camera;
  return usualCamera;
}

function holdsSpace(scene: Scene | null): boolean {
  return scene === null || scene.layers.some((l) => l.marks.some((m) => m.kind === "space"));
}

/** Turning, moving and coming closer, from the camera that the scene begins with. */
export function gesturesOf(scene: () => Scene | null): Required<Pick<ViewPlug, "turn" | "shift" | "magnify">> {
  const change = (c: SpaceCamera): OptionChange[] => {
    const text = writeCamera(c);
    return [{ option: "camera", values: text === writeCamera(cameraIn(scene())) ? [] : [text] }];
  };
  const now = (panel: PanelState) => cameraOf(panel, cameraIn(scene()));
  return {
    turn: (panel, dx, dy) => {
      const c = now(panel);
      return change({ ...c, azimuth: c.azimuth + dx * turnRate, elevation: Math.max(-90, Math.min(90, c.elevation + dy * turnRate)) });
    },
    shift: (panel, dx, dy) => {
      const c = now(panel);
      return change({ ...c, panX: c.panX + dx, panY: c.panY + dy });
    },
    magnify: (panel, factor, at) => {
      const c = now(panel);
      const zoom = Math.max(0.2, Math.min(100, c.zoom * factor));
      const by = zoom / c.zoom;
      // What is under the pointer stays there.
      return change({ ...c, zoom, panX: c.panX * by + (1 - by) * at.x, panY: c.panY * by + (1 - by) * at.y });
    },
  };
}

/** The same for views that have the usual camera. */
export const spaceGestures = gesturesOf(() => null);

/** The gestures of a view: its own, and those of its space. */
export function withGestures(plug: ViewPlug, view: ViewInfo, scene: () => Scene | null): ViewPlug {
  if (!isSpace(view)) return plug;
  const own = gesturesOf(scene);
  // A matrix or a tree is a space only if the user asks for it: the scene says what it is now.
  const when = <T>(f: T): T | undefined => (holdsSpace(scene()) ? f : undefined);
  return Object.defineProperties({ ...plug }, {
    turn: { get: () => plug.turn ?? when(own.turn) },
    shift: { get: () => plug.shift ?? when(own.shift) },
    magnify: { get: () => plug.magnify ?? when(own.magnify) },
  });
}
