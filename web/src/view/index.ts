// The views that add something to their panel, one line each. A view that is not
// listed gets the panel that every view has.

import type { ViewPlug } from "../shell/plug";
import { activity } from "./activity";
import { alignment } from "./alignment";
import { calltree } from "./calltree";
import { commmatrix } from "./commmatrix";
import { boxprofile } from "./boxprofile";
import { callmatrix } from "./callmatrix";
import { contrast } from "./contrast";
import { findings } from "./findings";
import { groups } from "./groups";
import { kaleidoscope } from "./kaleidoscope";
import { histogram } from "./histogram";
import { landscape } from "./landscape";
import { moments } from "./moments";
import { overview } from "./overview";
import { phases } from "./phases";
import { profile } from "./profile";
import { requests } from "./requests";
import { compare, history, scaling } from "./runs";
import { scatter } from "./scatter";
import { source } from "./source";
import { steps } from "./steps";
import { timeline } from "./timeline";
import { topology } from "./topology";
import { treemap } from "./treemap";

export const views: ViewPlug[] = [
  activity,
  alignment,
  calltree,
  commmatrix,
  boxprofile,
  callmatrix,
  compare,
  contrast,
  findings,
  groups,
  kaleidoscope,
  histogram,
  history,
  landscape,
  moments,
  overview,
  phases,
  profile,
  requests,
  scaling,
  scatter,
  source,
  steps,
  timeline,
  topology,
  treemap,
];
