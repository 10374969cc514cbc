// The title of a panel: the name of its view, or the option that selects its content, so that two panels of one view have different titles.

import type { PanelState } from "./layout";
import type { Workbench } from "./workbench";

export function titleOf(bench: Workbench, p: PanelState): string {
  return titleBy(bench, p) || (bench.view(p.view)?.title ?? p.view);
}

/** The title by an option; "" where it is the view's own. */
export function titleBy(bench: Workbench, p: PanelState): string {
  const by = bench.plug(p.view).titled;
  if (!by) return "";
  const set = p.options[by.option] ?? [bench.view(p.view)?.options.find((o) => o.name === by.option)?.default ?? ""];
  return set.length === 1 ? by.by(set[0]!) : "";
}
