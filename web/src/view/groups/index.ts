// groups: all locations of the run are compared, whatever is chosen elsewhere; a
// click on a group chooses its members in all panels.

import type { ViewPlug } from "../../shell/plug";

export const groups: ViewPlug = {
  name: "groups",
  follow: { time: "selection", locations: "context", regions: "filter" },
  choose: (fact) => (fact.locations?.length ? { locations: fact.locations.map((id) => `#${id}`) } : {}),
};
