// histogram: how many locations have about the same of a region's metric, and a bar
// for each. A bar chooses the locations that it stands for, and leaves the regions
// as they are, which decide what is measured; all locations stay to compare with.

import type { Fact } from "../../api/types";
import { chooseAll, type Choice, type ViewPlug } from "../../shell/plug";

export const histogram: ViewPlug = {
  name: "histogram",
  follow: { time: "selection", locations: "context", regions: "filter" },
  choose: (fact: Fact): Choice => {
    const { locations } = chooseAll(fact);
    return locations ? { locations } : {};
  },
};
