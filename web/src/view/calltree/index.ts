// calltree: boxes of call paths. A click on a box chooses its region, which must
// not throw the other boxes away.

import type { ViewPlug } from "../../shell/plug";

export const calltree: ViewPlug = {
  name: "calltree",
  follow: { time: "selection", locations: "filter", regions: "context" },
};
