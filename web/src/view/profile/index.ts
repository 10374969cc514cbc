// profile: rows of regions with a strip of locations. Its rows are regions, so a
// chosen region is marked and the others stay; a cell of a strip chooses both.

import type { ViewPlug } from "../../shell/plug";

export const profile: ViewPlug = {
  name: "profile",
  follow: { time: "selection", locations: "filter", regions: "context" },
};
