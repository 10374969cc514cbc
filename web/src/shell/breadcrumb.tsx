// Where one is: the zooms from the outside in, a click goes back; and what the
// pictures are narrowed to.

import { Fragment } from "preact";
import { Icon } from "../widget/icon";
import { useBench } from "./context";
import { formatDuration, formatRange, middle, plural } from "./format";

/** How many windows of a run have a button. */
const mostWindows = 8;

export function Breadcrumb() {
  const bench = useBench();
  const { trail, only } = bench.look.value;
  const info = bench.info.value;
  if (!info) return null;
  if (info.end <= 0) return <NoTime />;
  return (
    <nav class="crumbs" aria-label="Zooms">
      <button type="button" class="plain" aria-current={trail.length === 0 ? "page" : undefined} onClick={() => bench.store.back(-1)}>whole run</button>
      {trail.map((r, i) => (
        <Fragment key={i}>
          <span class="crumb-arrow" aria-hidden="true">▸</span>
          <button type="button" class="plain" aria-current={i === trail.length - 1 ? "page" : undefined} onClick={() => bench.store.back(i)}>{formatRange(r.begin, r.end)}</button>
        </Fragment>
      ))}
      {info.windows.length > 0 && (
        <span class="muted crumb-windows" title="No records between them">
          recorded in {info.windows.length} windows:{" "}
          {info.windows.slice(0, mostWindows).map(([begin, end], i) => (
            <button key={i} type="button" class="chip" title={`Zoom to window ${i + 1}: ${formatDuration(end - begin)} from ${formatDuration(begin)} on`} onClick={() => bench.store.zoom({ begin, end })}>{i + 1}</button>
          ))}
        </span>
      )}
      {trail.length > 0 && <span class="muted crumb-span">{formatDuration(bench.store.window.end - bench.store.window.begin)}</span>}
      {only.length > 0 && (
        <button type="button" class="chip" title="Show all locations again (O)" onClick={() => bench.store.select({ only: [] })}>
          <Icon name="only" /><bdi class="name">only {only.length === 1 ? middle(nameOf(bench.book.get(Number(only[0].slice(1)))?.name, only[0]), 40) : plural(only.length, "location")}</bdi><Icon name="close" />
        </button>
      )}
      <span class="bar-space" />
      <span class="crumb-hint muted">drag selects · Ctrl+wheel or W S zoom · A D move · F fits</span>
    </nav>
  );
}

/** A profile has no time: says which views are off, and why. */
function NoTime() {
  const bench = useBench();
  const off = bench.views.value.filter((v) => bench.missing(v.name));
  return (
    <nav class="crumbs" aria-label="Zooms">
      <span class="crumb-text">a profile without time</span>
      {off.length > 0 && <span class="muted crumb-hint" title={off.map((v) => `${v.title}: ${bench.missing(v.name)}`).join("\n")}>off, because the run lacks their data: {off.map((v) => v.title).join(", ")}</span>}
    </nav>
  );
}

function nameOf(name: string | undefined, pattern: string): string {
  return name ?? pattern;
}
