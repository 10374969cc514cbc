// activity: shares of roles or regions over time. The time axis is the window, so
// the brushed range is marked in it; bins of time move with it under the hand.

import type { ViewPlug } from "../../shell/plug";

export const activity: ViewPlug = {
  name: "activity",
  follow: { time: "window" },
  local: true,
};
