// landscape: regions × locations in space. A place chooses its region and its
// locations; the picture keeps all of them, so that the eye keeps its bearings.

import type { ViewPlug } from "../../shell/plug";

export const landscape: ViewPlug = {
  name: "landscape",
  follow: { time: "selection", locations: "context", regions: "context" },
};
