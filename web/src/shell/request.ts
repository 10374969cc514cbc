// What the server is asked for the picture, the table and the files of a panel.

import type { SelectionSpec, ViewRequest } from "../api/types";
import type { Scene } from "../scene/scene";
import { hasAxisTo, specBeside } from "./beside";
import { panels, type PanelState } from "./layout";
import { optionsFor } from "./option";
import { followOf, specFor } from "./scope";
import type { Workbench } from "./workbench";

/** What the panel shows, as the server is asked for it. */
export function requestOf(bench: Workbench, panel: PanelState, scene: Scene | null, width: number, height: number): ViewRequest {
  const plug = bench.plug(panel.view);
  const axis = bench.axisOf(panel);
  const further: Record<string, string[]> = axis.window.end > axis.end && hasAxisTo(bench.view(panel.view)) ? { "axis-to": [String(axis.window.end)] } : {};
  return {
    view: panel.view, options: optionsFor(bench.view(panel.view), { ...further, ...panelOptions(bench, panel) }, bench.pageOptions(panel)),
    selection: bench.isForeign(panel) ? besideSpec(bench, panel) : specFor(bench.look.value, followOf(scene, plug.follow)), width, height,
    coloursOf: bench.isForeign(panel) ? bench.runID.value : undefined,
  };
}

/** The options of a panel, with those that the page always sends of its view. The strip says the verdict of the first comparison. */
export function panelOptions(bench: Workbench, panel: PanelState): PanelState["options"] {
  const said = panel.view === "compare" && bench.embed.value === "" && panels(bench.layout.value).find((p) => p.view === "compare")?.id === panel.id;
  return { ...bench.plug(panel.view).always, ...(said && { verdict: ["none"] }), ...panel.options };
}

function besideSpec(bench: Workbench, panel: PanelState): SelectionSpec {
  const beside = bench.beside(panel);
  return specBeside(beside?.window ?? { begin: 0, end: 1 }, beside?.end ?? 0, bench.regionsFor(panel));
}
