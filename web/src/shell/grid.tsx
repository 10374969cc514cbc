// The panels, in rows with dividers between them, which fit the screen or scroll; or
// the one that is maximised; or a tab for each.

import { Fragment } from "preact";
import { useRef } from "preact/hooks";
import { Guard } from "../widget/guard";
import { Splitter } from "../widget/splitter";
import { useBench } from "./context";
import { panels, resizeColumn, resizeRow, shownAlone, type Layout } from "./layout";
import { Panel } from "./panel";
import { titleOf } from "./title";

/** A tab for each panel; arrow keys go from one to the next, as do Q and E. */
function Tabs({ layout, open }: { layout: Layout; open: string }) {
  const bench = useBench();
  const list = useRef<HTMLDivElement>(null);
  const all = panels(layout);
  const key = (e: KeyboardEvent) => {
    const at = all.findIndex((p) => p.id === open);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[e.key];
    if (to === undefined) return;
    bench.openTab(all[(to + all.length) % all.length]!.id);
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="grid-tabs" role="tablist" aria-label="Panels" ref={list} onKeyDown={key}>
      {all.map((p) => (
        <button
          type="button" role="tab" key={p.id} class="plain grid-tab" aria-selected={p.id === open} tabIndex={p.id === open ? 0 : -1}
          aria-controls={p.id === open ? p.id : undefined} onClick={() => bench.openTab(p.id)}
        >{titleOf(bench, p)}</button>
      ))}
    </div>
  );
}

export function Grid() {
  const bench = useBench();
  const ref = useRef<HTMLDivElement>(null);
  const layout = bench.layout.value;
  const alone = shownAlone(layout);
  if (alone) {
    return (
      <div class="grid">
        {layout.as === "tabs" && <Tabs layout={layout} open={alone.id} />}
        <div class="grid-row"><Guard what="This panel"><Panel key={alone.id} panel={alone} /></Guard></div>
      </div>
    );
  }
  if (layout.rows.length === 0) {
    return (
      <div class="grid">
        <div class="empty-state">
          <p class="empty-what">No panel is open.</p>
          <button type="button" onClick={() => bench.setLayout(bench.overview())}>Show the standard panels</button>
        </div>
      </div>
    );
  }
  const height = () => ref.current?.scrollHeight || 1;
  const width = () => ref.current?.clientWidth || 1;
  const sum = (list: readonly { weight: number }[]) => list.reduce((s, x) => s + x.weight, 0);
  return (
    <div class={layout.as === "scroll" ? "grid grid-scroll" : "grid grid-rows"} ref={ref}>
      {layout.rows.map((row, r) => (
        <Fragment key={row.panels[0].id}>
          {r > 0 && (
            <Splitter along="y" label="Height of the panels above" value={(100 * layout.rows[r - 1].weight) / (layout.rows[r - 1].weight + row.weight)} onMove={(px) => {
              const now = bench.layout.value;
              const pair = now.rows[r - 1].weight + now.rows[r].weight;
              bench.setLayout(resizeRow(now, r - 1, ((px / height()) * sum(now.rows)) / pair));
            }} />
          )}
          <div class="grid-row" style={layout.as === "scroll" ? { "--weight": row.weight } : { "--weight": row.weight, flexGrow: row.weight }}>
            {row.panels.map((p, c) => (
              <Fragment key={p.id}>
                {c > 0 && (
                  <Splitter along="x" label="Width of the panel at the left" value={(100 * row.panels[c - 1].weight) / (row.panels[c - 1].weight + p.weight)} onMove={(px) => {
                    const list = bench.layout.value.rows[r].panels;
                    const pair = list[c - 1].weight + list[c].weight;
                    bench.setLayout(resizeColumn(bench.layout.value, r, c - 1, ((px / width()) * sum(list)) / pair));
                  }} />
                )}
                <div class="grid-cell" style={{ flexGrow: p.weight }}><Guard what="This panel"><Panel panel={p} /></Guard></div>
              </Fragment>
            ))}
          </div>
        </Fragment>
      ))}
    </div>
  );
}
