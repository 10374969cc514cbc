// The whole page.

import { useEffect } from "preact/hooks";
import { Guard } from "../widget/guard";
import { Splitter } from "../widget/splitter";
import { Bar } from "./bar";
import { Breadcrumb } from "./breadcrumb";
import { BenchProvider, useBench } from "./context";
import { Grid } from "./grid";
import { Home } from "./home";
import { Inspector } from "./inspector";
import { listen } from "./keyboard";
import { panels } from "./layout";
import { Minimap } from "./minimap";
import { Overlays } from "./overlays";
import { Panel } from "./panel";
import { QueryPanel } from "./query";
import { RegionList } from "./region-list";
import { Status } from "./status";
import { TipBox } from "./tip";
import { Tree } from "./tree";
import type { Workbench } from "./workbench";

export function App({ bench }: { bench: Workbench }) {
  useEffect(() => listen(bench), []);
  return (
    <BenchProvider value={bench}>
      <Guard what="The page">{bench.embed.value !== "" ? <Embedded /> : <Page />}</Guard>
      <Overlays />
      <TipBox />
    </BenchProvider>
  );
}

function Page() {
  const bench = useBench();
  const ready = bench.runID.value !== "" && bench.info.value !== null;
  return (
    <div class="page">
      <Bar />
      {ready ? <Bench /> : bench.session.value || bench.trouble.value ? <Home /> : <main class="home" aria-busy="true" />}
      <Status />
    </div>
  );
}

function Bench() {
  const bench = useBench();
  const [left, right] = [bench.left.value, bench.right.value];
  return (
    <div class="bench">
      {left > 0 && (
        <>
          <aside class="side side-left" style={{ width: `${left}px` }} aria-label="Locations and regions"><Tree /><RegionList /></aside>
        </>
      )}
      <main class="bench-main" aria-label="Panels">
        {left > 0 && <Splitter along="x" label="Width of locations and regions" value={(100 * left) / innerWidth} onMove={(px) => bench.resizeSide("left", px)} />}
        <div class="centre">
          <h1 class="unseen">{bench.run.value?.name ?? "Parallax"}</h1>
          <Breadcrumb />
          <Minimap />
          <Grid />
          {bench.asking.value && <Guard what="The query"><QueryPanel /></Guard>}
        </div>
        {right > 0 && <Splitter along="x" label="Width of the inspector" value={100 - (100 * right) / innerWidth} onMove={(px) => bench.resizeSide("right", -px)} />}
      </main>
      {right > 0 && (
        <>
          <div class="side-box" style={{ width: `${right}px` }}><Guard what="The inspector"><Inspector /></Guard></div>
        </>
      )}
    </div>
  );
}

/** One panel alone, for an iframe. */
function Embedded() {
  const bench = useBench();
  const panel = panels(bench.layout.value)[0];
  if (bench.trouble.value) return <div class="empty-state" role="alert"><p class="empty-what">{bench.trouble.value.error}</p><p class="empty-hint">{bench.trouble.value.hint}</p></div>;
  if (!panel || bench.runID.value === "") return <div class="empty-state"><p class="empty-hint">{bench.toast.value || "Opening…"}</p></div>;
  return <main class="embedded"><h1 class="unseen">{bench.run.value?.name ?? "Parallax"}</h1><Panel panel={panel} alone /></main>;
}
