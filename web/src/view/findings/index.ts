// findings: those of the whole run stay while one of them is followed; a click on
// one selects what it is about.

import type { ViewPlug } from "../../shell/plug";

export const findings: ViewPlug = { name: "findings", follow: { time: "none", locations: "context", regions: "context" } };
