// The whole page.

import { useEffect, useRef } from "preact/hooks";
import { Guard } from "../widget/guard";
import { Splitter } from "../widget/splitter";
import { Bar } from "./bar";
import { Breadcrumb } from "./breadcrumb";
import { BenchProvider, useBench } from "./context";
import { Grid } from "./grid";
import { Home } from "./home";
import { Inspector } from "./inspector";
import { Later } from "./lazy";
import { listen } from "./keyboard";
import { panels } from "./layout";
import { Minimap } from "./minimap";
import { together, watchSpace } from "./narrow";
import { Panel } from "./panel";
import { RegionList } from "./region-list";
import { Status } from "./status";
import { Strip } from "./strip";
import { TipBox } from "./tip";
import { titleOf } from "./title";
import { Tree } from "./tree";
import type { Workbench } from "./workbench";

export function App({ bench }: { bench: Workbench }) {
  useEffect(() => listen(bench), []);
  return (
    <BenchProvider value={bench}>
      <Guard what="The page">{bench.embed.value !== "" ? <Embedded /> : <Page />}</Guard>
      {bench.overlay.value !== "" && <Later part="Overlays" />}
      <TipBox />
    </BenchProvider>
  );
}

function Page() {
  const bench = useBench();
  const ready = bench.runID.value !== "" && bench.info.value !== null;
  // A run that is ready is a moment away: its page is awaited, not the way to others.
  const near = bench.runs.value.find((r) => r.id === bench.awaited.value)?.state === "ready";
  return (
    <div class="page">
      <Bar />
      {ready ? <div class="answers"><Strip />{bench.story.value !== "" && <Later part="StoryBar" />}</div> : <span />}
      {ready ? <Bench /> : near && !bench.trouble.value ? <main class="home" aria-busy="true" /> : bench.session.value || bench.trouble.value ? <Home /> : <main class="home" aria-busy="true" />}
      <Status />
    </div>
  );
}

function Bench() {
  const bench = useBench();
  if (bench.narrow.value) return <NarrowBench />;
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
          {bench.area.value !== "" && <Guard what="The area"><Later part="AreaPanel" /></Guard>}
          {bench.asking.value && <Guard what="The query"><Later part="QueryPanel" /></Guard>}
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

/** On a narrow screen: one panel, and those after it where it ends early, a switcher for the others, lists and facts as drawers. */
function NarrowBench() {
  const bench = useBench();
  const drawer = bench.drawer.value;
  const all = panels(bench.layout.value);
  const top = useRef("");
  const wanted = all.find((p) => p.id === bench.layout.value.maximised) ?? all.find((p) => p.id === bench.focused.value) ?? all[0];
  // A panel that is on the screen already stays where it is when it is touched.
  const before = all.find((p) => p.id === top.current);
  const shown = before && together(all, before).some((t) => t.panel.id === wanted?.id) ? before : wanted;
  top.current = shown?.id ?? "";
  const list = shown ? together(all, shown) : [];
  const toggle = (side: "left" | "right", label: string) => (
    <button type="button" aria-expanded={drawer === side} onClick={() => (bench.drawer.value = drawer === side ? "" : side)}>{label}</button>
  );
  return (
    <div class="bench narrow">
      <main class="centre" aria-label="Panels">
        <h1 class="unseen">{bench.run.value?.name ?? "Parallax"}</h1>
        <Breadcrumb />
        <Minimap />
        <nav class="switcher" aria-label="Panels and lists">
          {toggle("left", "Lists")}
          <select aria-label="Panel on the screen" value={shown?.id ?? ""} onChange={(e) => { bench.drawer.value = ""; top.current = bench.focused.value = e.currentTarget.value; }}>
            {all.map((p, i) => <option key={p.id} value={p.id}>{i + 1} of {all.length}: {titleOf(bench, p)}</option>)}
          </select>
          {toggle("right", "Findings, facts")}
        </nav>
        {drawer === "left" ? (
          <aside class="side side-left drawer" aria-label="Locations and regions"><Tree /><RegionList /></aside>
        ) : drawer === "right" ? (
          <div class="side-box drawer"><Guard what="The inspector"><Inspector /></Guard></div>
        ) : shown ? (
          <div class="grid" ref={watchSpace}>
            {list.map(({ panel, end }) => (
              <div key={panel.id} class={`grid-row ${end ? "grid-row-short" : ""}`} style={end ? { "--used": `${end.used}px`, "--kept": `${end.height}px` } : undefined}><Guard what="This panel"><Panel panel={panel} /></Guard></div>
            ))}
          </div>
        ) : <Grid />}
        {bench.area.value !== "" && <Guard what="The area"><Later part="AreaPanel" /></Guard>}
        {bench.asking.value && <Guard what="The query"><Later part="QueryPanel" /></Guard>}
      </main>
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
