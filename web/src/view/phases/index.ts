// phases: the whole run is cut, whatever is selected elsewhere; a click on a cell
// selects its phase and its row for all other views.

import type { ViewPlug } from "../../shell/plug";

export const phases: ViewPlug = { name: "phases", follow: { time: "none", locations: "context", regions: "context" } };
