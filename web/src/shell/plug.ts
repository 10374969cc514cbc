// What a view may add to its panel. A view without a folder needs none of it.

import type { ComponentType } from "preact";
import type { Fact, IntervalHit } from "../api/types";
import type { Frame, Row, Scene } from "../scene/scene";
import type { PanelState } from "./layout";
import type { Follow } from "./scope";
import type { Look, Range } from "./selection";

/** The parts of the selection that a choice sets. */
export type Choice = { -readonly [K in "time" | "locations" | "regions"]?: Look[K] };

export interface ViewPlug {
  /** As in internal/view. */
  name: string;
  /** Which parts of the selection it takes as a filter, where its rows do not tell. */
  follow?: Partial<Follow>;
  /** Options that the page always sends. */
  always?: Readonly<Record<string, readonly string[]>>;
  /** Options that mean something in one run alone, such as a place in its picture: they are not kept for another. */
  ofRun?: readonly string[];
  /** Options that its bar and its controls show: the panel's head has no chips for them. */
  shows?: readonly string[];
  /** An option whose value says more of a panel than the title of its view, and the title by it; "": that of the view. */
  titled?: { option: string; by(value: string): string };
  /** Its marks do not depend on the window's ends: they may be moved and asked for with overscan. */
  local?: boolean;
  /** A click opens what it hits, where that can be opened; with Ctrl it selects. */
  opens?: boolean;
  /** Which of its rows a scene shows, where they scroll by the option "scroll"; null: all of them. */
  rowsShown?(scene: Scene): RowsShown | null;
  /** What choosing a fact selects; by default all that the fact has. */
  choose?(fact: Fact): Choice;
  /** What a click on a row's label changes: an option with its new values. */
  chooseRow?(row: Row, panel: PanelState, add: boolean): OptionChange[] | null;
  /** The same for a label over a column. */
  chooseColumn?(column: Row, panel: PanelState, add: boolean): OptionChange[] | null;
  /** What a box round points changes, by its time and by its values on the vertical axis; null if it is a time range. */
  enclose?(frame: Frame, time: Range, values: Range): OptionChange[] | null;
  /** What a drag over the picture changes, by pixels since it began with the panel as it was: turning a camera. */
  turn?(panel: PanelState, dx: number, dy: number): OptionChange[];
  /** What a drag with Shift or the middle button changes, by shares of the picture's smaller side. */
  shift?(panel: PanelState, dx: number, dy: number): OptionChange[];
  /** What the wheel changes; a factor above 1 comes closer. The pointer is given in shares of the smaller side, from the middle. */
  magnify?(panel: PanelState, factor: number, at: { x: number; y: number }, scene?: Scene | null): OptionChange[];
  /** What shows an interval that a search found, which may be too small to be drawn so far. */
  fly?(hit: IntervalHit, panel: PanelState, timed: boolean): OptionChange[];
  /** The same for a region that a search found; timed: the run has single calls that count. */
  flyRegion?(region: string, panel: PanelState, timed: boolean): OptionChange[];
  /** Its legend takes two lines even in a wide panel. */
  longLegend?: boolean;
  /** Symbols that a scene has beside its colours, with what they mean. */
  symbols?(scene: Scene): Symbol[];
  /** What stands beside the picture, where it is not null. */
  Side?: ComponentType<{ panel: PanelState; scene: Scene | null }>;
  /** A bar over the full width, between the head and the picture. */
  Bar?: ComponentType<{ panel: PanelState; scene: Scene | null }>;
  /** Further controls in the panel's head, with the scene drawn last. */
  Controls?: ComponentType<{ panel: PanelState; scene: Scene | null }>;
}

/** A symbol of a legend: a character that looks like it, and words. */
export interface Symbol {
  sign: string;
  words: string;
}

/** An option with its new values. */
export interface OptionChange {
  option: string;
  values: string[];
}

/** Rows first … last of total, counted from 0, last not included. */
export interface RowsShown {
  first: number;
  last: number;
  total: number;
}

/** What a fact selects by default: all parts that it has. */
export function chooseAll(fact: Fact): Choice {
  const choice: Choice = {};
  if (fact.locations?.length) choice.locations = fact.locations.map((id) => `#${id}`);
  if (fact.regions?.length) choice.regions = fact.regions.map((id) => `#${id}`);
  if (fact.begin !== undefined && fact.end !== undefined && fact.end > fact.begin) choice.time = { begin: fact.begin, end: fact.end };
  return choice;
}

/** The options of a panel that another run may have too. */
export function forAnotherRun(plug: ViewPlug, options: PanelState["options"]): PanelState["options"] {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([name]) => !plug.ofRun?.includes(name)));
}
