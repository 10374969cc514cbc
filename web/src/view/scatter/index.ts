// scatter: a point for each location, placed by two or three numbers. A point chooses
// its locations; all others stay to compare with. Only three numbers make a space,
// which can be turned; a plane stays as it is.

import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";
import { spaceGestures } from "../../shell/space";

export const scatter: ViewPlug = {
  name: "scatter",
  follow: { time: "selection", locations: "context", regions: "filter" },
  turn: (panel, dx, dy) => (isSpace(panel) ? spaceGestures.turn(panel, dx, dy) : []),
  shift: (panel, dx, dy) => (isSpace(panel) ? spaceGestures.shift(panel, dx, dy) : []),
  magnify: (panel, factor, at) => (isSpace(panel) ? spaceGestures.magnify(panel, factor, at) : []),
};

/** Whether a third number is bound. */
export function isSpace(panel: PanelState): boolean {
  return (panel.options.event2?.[0] ?? "") !== "";
}
