// scatter: a point for each location, placed by two or three numbers. A point chooses
// its locations; all others stay to compare with.

import type { ViewPlug } from "../../shell/plug";

export const scatter: ViewPlug = {
  name: "scatter",
  follow: { time: "selection", locations: "context", regions: "filter" },
};
