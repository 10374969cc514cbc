// overview: boxes over locations and time. Over it is the curve of gain and loss along p.

import type { ViewPlug } from "../../shell/plug";
import { TradeOff } from "../../shell/trade-off";

export const overview: ViewPlug = {
  name: "overview",
  follow: { time: "window", locations: "context" },
  Bar: TradeOff,
};
