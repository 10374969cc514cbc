// The place of a picture in the page: gives it size, theme and selection, and
// passes pointer events to it.

import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ApiError, ViewInfo } from "../api/types";
import type { Scene } from "../scene/scene";
import { ScrollBar } from "../widget/scroll-bar";
import { hasAxisTo, learnLabelRoom, sharedLabelRoom, specBeside } from "./beside";
import { useBench } from "./context";
import { describeShown, formatRange } from "./format";
import { Gestures } from "./gesture";
import { highlightsOf, regionHighlights, type Brush } from "./highlight";
import { findPanel, type PanelState } from "./layout";
import { controlOf, optionsFor } from "./option";
import { Picture } from "./picture";
import { panelOptions } from "./request";
import { followOf, specFor, type Follow } from "./scope";
import { scrollOf, scrollTo } from "./scroll";
import type { Look, Range } from "./selection";
import { isSpace, markedLocations, splitOptions, withGestures } from "./space";

interface Props {
  panel: PanelState;
  view: ViewInfo;
  onScene: (scene: Scene) => void;
}

export function PictureHost({ panel, view, onScene }: Props) {
  const bench = useBench();
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const busy = useSignal(false);
  const failure = useSignal<ApiError | null>(null);
  const scene = useSignal<Scene | null>(null);
  const retry = useRef(() => {});
  useEffect(() => {
    const element = host.current!;
    const plug = withGestures(bench.plug(view.name), view, () => picture.scene);
    const live = view.options.filter((o) => controlOf(o) === "slider" || o.name === "camera").map((o) => o.name);
    const labels = view.options.some((o) => o.name === "labels");
    const size = { width: element.clientWidth, height: element.clientHeight };
    const state = () => bench.panelOf(panel.id) ?? panel;
    let brush: Brush | null = null;
    const follow = () => followOf(picture.scene, plug.follow);
    const foreign = () => bench.isForeign(state());
    const mark = () => {
      const ringed = isSpace(view) ? markedLocations(bench, panel.id) : [];
      if (scene.value === null || !picture.scene) return; // the signal first: what is marked follows each new scene
      if (foreign()) return picture.highlight(...regionHighlights(picture.scene.frames, follow(), bench.regionsFor(state())));
      picture.highlight(...highlightsOf(bench, panel.id, picture.scene.frames, follow(), brush));
      picture.ring(ringed);
    };
    const picture = new Picture(panel.id, bench.api, bench.newPainter(canvas.current!), {
      scene: (s) => {
        const first = scene.peek() === null;
        const own = labels ? picture.ownLabelRoom : null;
        if (own !== null) learnLabelRoom(panel.id, own);
        scene.value = s;
        onScene(s);
        if (first) update();
      },
      busy: (b) => (busy.value = b),
      failed: (e) => {
        failure.value = e;
        bench.failures.value = { ...bench.failures.peek(), [panel.id]: e };
        if (e) bench.reportGone({ detail: e });
      },
      moved: mark,
    });
    const gestures = new Gestures(bench, picture, { element, panel: state, plug: () => plug, foreign, brush: (b) => { brush = b; mark(); } });
    const specOfForeign = (p: PanelState, beside: { window: Range; end: number } | null) =>
      specBeside(beside?.window ?? { begin: 0, end: 1 }, beside?.end ?? 0, follow().regions === "filter" ? bench.regionsFor(p) : []);
    const update = () => {
      const p = state();
      if (bench.runOf(p) === "") return; // on the way home, where panels are about to go
      const { asked, space } = splitOptions(view, optionsFor(view, panelOptions(bench, p), bench.pageOptions(p)));
      const room = labels && bench.hasForeign.value ? sharedLabelRoom(bench.layout.value, p) : 0;
      if (room > 0 && picture.scene) asked.labels ??= [String(room)];
      const beside = foreign() ? bench.beside(p) : null;
      const timed = follow().time !== "none";
      const axis = timed ? bench.axisOf(p) : { window: bench.store.window, end: bench.store.wholeRun.end };
      const further = axis.window.end > axis.end && hasAxisTo(view);
      picture.update({
        run: bench.runOf(p), coloursOf: foreign() ? bench.runID.value : undefined, view: view.name, options: asked, space,
        spec: !foreign() ? specFor(bench.look.value, follow()) : specOfForeign(p, beside && timed ? beside : null),
        window: axis.window, wholeRun: { begin: 0, end: further ? axis.window.end : axis.end }, runEnd: further ? axis.end : undefined, ...size, theme: bench.tint.value,
        local: plug.local === true && (!foreign() || beside !== null), slides: foreign() ? beside !== null && timed : slides(follow(), bench.look.value), scroll: scrollOf(p), live, labels,
      });
    };
    const stops = [effect(update), effect(mark), effect(() => { if (bench.comebacks.value > 0) picture.reload(); })];
    retry.current = () => picture.reload();
    const observer = new ResizeObserver(() => {
      size.width = element.clientWidth;
      size.height = element.clientHeight;
      update();
    });
    observer.observe(element);
    const box = element.closest<HTMLElement>(".panel");
    const key = (e: KeyboardEvent) => {
      if (e.target !== box) return;
      if (e.key === "Escape" ? gestures.escape() : gestures.key(e)) {
        e.preventDefault();
        e.stopPropagation();
      }
    };
    box?.addEventListener("keydown", key);
    (element as HTMLElement & { picture?: Picture }).picture = picture; // for tests: what is drawn, and where
    return () => {
      box?.removeEventListener("keydown", key);
      observer.disconnect();
      stops.forEach((f) => f());
      gestures.close();
      picture.close();
    };
  }, [panel.id, view.name]);
  const empty = scene.value?.empty;
  const shown = scene.value ? bench.plug(view.name).rowsShown?.(scene.value) : null;
  const window = bench.plug(view.name).local && scene.value ? bench.axisOf(panel).window : null;
  const label = window ? describeShown(scene.value!.description, formatRange(window.begin, window.end)) : scene.value?.description;
  return (
    <div class={`picture ${busy.value ? "busy" : ""}`} ref={host} aria-busy={busy.value}>
      <div class="canvas" ref={canvas} role="img" aria-label={label || `${view.title}: the picture is being made`} />
      {shown && <ScrollBar from={scrollOf(panel)} length={shown.last - shown.first} total={shown.total} label="Rows" onScroll={(to) => scrollTo(bench, findPanel(bench.layout.value, panel.id) ?? panel, shown, to)} />}
      {busy.value && scene.value === null && <div class="empty-state"><p class="empty-hint">Making the picture…</p></div>}
      {busy.value && <div class="progress-line" role="progressbar" aria-label="The exact picture is on its way" />}
      {empty && <div class="empty-state"><p class="empty-what">{empty.what}</p><p class="empty-hint">{empty.hint}</p></div>}
      {failure.value && <Failure error={failure.value} over={scene.value !== null} retry={() => retry.current()} />}
    </div>
  );
}

/** Whether a view's time axis shows the window, and not the brushed range. */
function slides(follow: Follow, look: Look): boolean {
  return follow.time === "window" || (follow.time === "selection" && look.time === null);
}

function Failure({ error, over, retry }: { error: ApiError; over: boolean; retry: () => void }) {
  return (
    <div class={over ? "failure failure-over" : "failure empty-state"} role="alert">
      <p class="empty-what">{error.error}</p>
      {error.hint && <p class="empty-hint">{error.hint}</p>}
      <button type="button" onClick={retry}>Try again</button>
    </div>
  );
}
