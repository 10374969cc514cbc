// treemap: nested cells. Over it is the curve of gain and loss along p, with a tick at
// every p where the picture changes; a click on a cell chooses its locations.

import type { ViewPlug } from "../../shell/plug";
import { TradeOff } from "../../shell/trade-off";

export const treemap: ViewPlug = {
  name: "treemap",
  follow: { time: "selection", locations: "context" },
  Bar: TradeOff,
};
