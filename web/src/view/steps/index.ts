// steps: the whole run is shown, whatever is selected elsewhere; a click on a bar
// selects its step and rank for all other views.

import type { ViewPlug } from "../../shell/plug";

export const steps: ViewPlug = { name: "steps", follow: { time: "none", locations: "context", regions: "context" } };
