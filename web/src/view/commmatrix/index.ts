// commmatrix: senders as rows, receivers as columns. A click on a cell chooses its
// two locations; all others stay to compare with.

import type { ViewPlug } from "../../shell/plug";

export const commmatrix: ViewPlug = {
  name: "commmatrix",
  follow: { time: "selection", locations: "context" },
};
