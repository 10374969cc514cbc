// requests: a point for each request, by begin and duration. A box round some chooses exactly these, and the picture says
// what separates them from the others.

import type { ViewPlug } from "../../shell/plug";

export const requests: ViewPlug = {
  name: "requests",
  enclose: (frame, time, values) => {
    if (frame.name !== "requests") return null;
    const range = (a: number, b: number) => `${Math.max(0, Math.floor(a))}ns..${Math.max(0, Math.ceil(b))}ns`;
    return [{ option: "request", values: [`begin:${range(time.begin, time.end)}`, `took:${range(values.begin, values.end)}`] }];
  },
};
