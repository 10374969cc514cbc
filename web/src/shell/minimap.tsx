// The whole run in one strip: who was busy when, as activity or as moments. The window lies on it as a frame
// that can be moved and sized, the brushed range as a band.

import { effect } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Scene } from "../scene/scene";
import { useSignal } from "@preact/signals";
import { useBench } from "./context";
import { formatInstant, formatRange } from "./format";
import { marksOf } from "./found";
import { isTime } from "./geometry";
import { Picture } from "./picture";
import type { Range } from "./selection";

const strip = 48;

export function Minimap() {
  const bench = useBench();
  const canvas = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const scene = useSignal<Scene | null>(null);
  const name = bench.minimap.value;
  const view = bench.view(name);
  const usable = view !== undefined && !bench.missing(name);
  useEffect(() => {
    if (!usable || !canvas.current || !host.current) return;
    const element = host.current;
    const size = { width: element.clientWidth };
    const picture = new Picture("minimap", bench.api, bench.newPainter(canvas.current), {
      scene: (s) => (scene.value = s), busy: () => {}, moved: () => {}, failed: (e) => { if (e) bench.reportGone({ detail: e }); },
    });
    const update = () => {
      if (bench.runID.value === "") return; // on the way home
      picture.update({
        run: bench.runID.value, view: name, options: {}, spec: bench.look.value.only.length > 0 ? { locations: [...bench.look.value.only] } : {},
        window: bench.store.wholeRun, wholeRun: bench.store.wholeRun, width: size.width, height: strip, theme: bench.tint.value, local: false, slides: false, scroll: 0, live: [],
      });
    };
    const stops = [effect(update), effect(() => { if (bench.comebacks.value > 0) picture.reload(); })];
    const observer = new ResizeObserver(() => {
      size.width = element.clientWidth;
      update();
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      stops.forEach((f) => f());
      picture.close();
    };
  }, [usable, name, bench.runID.value]);
  if (!bench.info.value || bench.info.value.end <= 0 || !usable) return null; // recorded moments have no activity over time
  const frame = scene.value?.frames.find(isTime);
  const width = host.current?.clientWidth || 1;
  const plot = frame ? { x: frame.x, w: frame.w } : { x: 0, w: width };
  return (
    <div class="minimap" ref={host}>
      <div class="canvas" ref={canvas} role="img" aria-label={scene.value?.description || "Activity over the whole run"} />
      <Overlay plot={plot} />
    </div>
  );
}

interface Plot {
  x: number;
  w: number;
}

function Overlay({ plot }: { plot: Plot }) {
  const bench = useBench();
  const run = bench.store.wholeRun;
  const look = bench.look.value; // the window follows it
  const window = bench.store.window;
  const at = (t: number) => plot.x + ((t - run.begin) / Math.max(1, run.end - run.begin)) * plot.w;
  const toTime = (px: number) => run.begin + ((px - plot.x) / plot.w) * (run.end - run.begin);
  const zoomed = look.trail.length > 0;
  const drag = (e: PointerEvent, move: (from: number, to: number, start: Range) => Range | null) => {
    if (e.button !== 0) return;
    e.preventDefault();
    e.stopPropagation();
    const target = e.currentTarget as HTMLElement;
    const box = target.closest(".minimap")!.getBoundingClientRect();
    const [from, start, gesture] = [toTime(e.clientX - box.left), window, `minimap-${e.timeStamp}`];
    target.setPointerCapture(e.pointerId);
    const step = (m: PointerEvent) => {
      const to = move(from, toTime(m.clientX - box.left), start);
      if (to && to.end - to.begin > 0) bench.store.zoom(to, { gesture });
    };
    const stop = () => {
      target.removeEventListener("pointermove", step);
      target.removeEventListener("pointerup", stop);
      target.removeEventListener("pointercancel", stop);
    };
    target.addEventListener("pointermove", step);
    target.addEventListener("pointerup", stop);
    target.addEventListener("pointercancel", stop);
  };
  const edge = (side: "begin" | "end") => ({
    class: `minimap-edge minimap-${side}`, tabIndex: 0, role: "slider" as const, "aria-label": side === "begin" ? "Begin of the window" : "End of the window",
    "aria-valuemin": run.begin, "aria-valuemax": run.end, "aria-valuenow": window[side], "aria-valuetext": formatInstant(window[side], window.end - window.begin),
    onPointerDown: (e: PointerEvent) => drag(e, (_, to, start) => ordered(side === "begin" ? to : start.begin, side === "end" ? to : start.end)),
    onKeyDown: (e: KeyboardEvent) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (!by) return;
      e.preventDefault();
      e.stopPropagation();
      const d = ((run.end - run.begin) / 200) * by * (e.shiftKey ? 5 : 1);
      bench.store.zoom({ ...window, [side]: window[side] + d }, { gesture: `minimap-${side}` });
    },
  });
  const { time } = look;
  const found = bench.finder.found.value;
  return (
    <div
      class="minimap-over" title="Drag to choose the window; double click shows the whole run"
      onPointerDown={(e) => drag(e, (from, to) => (Math.abs(to - from) / (run.end - run.begin) > 3 / plot.w ? ordered(from, to) : null))}
      onDblClick={() => bench.store.zoom(run)}
    >
      {time && <div class="minimap-band" style={{ left: `${at(time.begin)}px`, width: `${Math.max(1, at(time.end) - at(time.begin))}px` }} />}
      {found && found.answer.count > 0 && (
        <svg class="minimap-found" style={{ left: `${at(run.begin)}px`, width: `${plot.w}px` }} viewBox={`0 0 ${found.answer.bins.length} 1`} preserveAspectRatio="none" aria-hidden="true">
          <path d={marksOf(found.answer.bins)} />
        </svg>
      )}
      {bench.notebook.kept.value.notes.map((n) => (
        <Fragment key={n.name}>
          {n.end > n.begin && <div class="minimap-range" style={{ left: `${at(n.begin)}px`, width: `${Math.max(2, at(n.end) - at(n.begin))}px` }} />}
          <div class="minimap-note" style={{ left: `${Math.min(at(n.begin), plot.x + plot.w - 60)}px` }}>{n.name}</div>
        </Fragment>
      ))}
      {bench.marks.value.map((m) => <div key={m} class="minimap-mark" style={{ left: `${at(m)}px` }} />)}
      {bench.hover.value?.time != null && <div class="minimap-cross" style={{ left: `${at(bench.hover.value.time)}px` }} />}
      {zoomed && (
        <>
          <div class="minimap-shade" style={{ left: `${plot.x}px`, width: `${Math.max(0, at(window.begin) - plot.x)}px` }} />
          <div class="minimap-shade" style={{ left: `${at(window.end)}px`, width: `${Math.max(0, plot.x + plot.w - at(window.end))}px` }} />
          <div
            class="minimap-window" style={{ left: `${at(window.begin)}px`, width: `${Math.max(2, at(window.end) - at(window.begin))}px` }} title={`Window ${formatRange(window.begin, window.end)}: drag to move`}
            onPointerDown={(e) => drag(e, (from, to, start) => ({ begin: start.begin + to - from, end: start.end + to - from }))}
          >
            <div {...edge("begin")} /><div {...edge("end")} />
          </div>
        </>
      )}
    </div>
  );
}

function ordered(a: number, b: number): Range {
  return a < b ? { begin: a, end: b } : { begin: b, end: a };
}
