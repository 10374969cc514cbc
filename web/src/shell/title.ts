// The title of a panel: the name of its view, or the option that selects its content, so that two panels of one view have different titles.

import { panels, type PanelState } from "./layout";
import type { Workbench } from "./workbench";

export function titleOf(bench: Workbench, p: PanelState): string {
  return titleBy(bench, p) || (bench.view(p.view)?.title ?? p.view);
}

/** What a panel is called for readers of the screen: no two alike. */
export function spokenTitle(bench: Workbench, p: PanelState): string {
  const title = titleOf(bench, p);
  const alike = panels(bench.layout.value).filter((o) => titleOf(bench, o) === title);
  const at = alike.findIndex((o) => o.id === p.id);
  return `${title}${at > 0 ? ` ${at + 1}` : ""}, panel`;
}

/** The title by an option; "" where it is the view's own. */
export function titleBy(bench: Workbench, p: PanelState): string {
  const by = bench.plug(p.view).titled;
  if (!by) return "";
  const set = p.options[by.option] ?? [bench.view(p.view)?.options.find((o) => o.name === by.option)?.default ?? ""];
  return set.length === 1 ? by.by(set[0]!) : "";
}
