// What the server is asked for the picture, the table and the files of a panel.

import type { SelectionSpec, ViewRequest } from "../api/types";
import type { Scene } from "../scene/scene";
import { hasAxisTo, specBeside } from "./beside";
import type { PanelState } from "./layout";
import { optionsFor } from "./option";
import { followOf, specFor } from "./scope";
import type { Workbench } from "./workbench";

/** What the panel shows, as the server is asked for it. */
export function requestOf(bench: Workbench, panel: PanelState, scene: Scene | null, width: number, height: number): ViewRequest {
  const plug = bench.plug(panel.view);
  const axis = bench.axisOf(panel);
  const further: Record<string, string[]> = axis.window.end > axis.end && hasAxisTo(bench.view(panel.view)) ? { "axis-to": [String(axis.window.end)] } : {};
  return {
    view: panel.view, options: optionsFor(bench.view(panel.view), { ...plug.always, ...further, ...panel.options }, bench.pageOptions(panel)),
    selection: bench.isForeign(panel) ? besideSpec(bench, panel) : specFor(bench.look.value, followOf(scene, plug.follow)), width, height,
  };
}

function besideSpec(bench: Workbench, panel: PanelState): SelectionSpec {
  const beside = bench.beside(panel);
  return specBeside(beside?.window ?? { begin: 0, end: 1 }, beside?.end ?? 0, bench.regionsFor(panel));
}
