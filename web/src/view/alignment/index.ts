// alignment: a band a location. Its axis adds up the longest times and is no clock, so
// time, locations and regions that are chosen are what it aligns.

import type { ViewPlug } from "../../shell/plug";

export const alignment: ViewPlug = { name: "alignment", follow: { time: "selection", locations: "filter", regions: "filter" } };
