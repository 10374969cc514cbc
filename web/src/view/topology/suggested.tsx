// The layouts that a run suggests, as small pictures in order: the first is the one that it opens with.

import { useEffect, useRef } from "preact/hooks";
import type { Scene } from "../../scene/scene";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import { requestOf } from "../../shell/request";
import { Menu } from "../../widget/menu";
import { proposalsOf } from "./layout-choice";

const width = 160;
const height = 100;

export function Suggested({ panel, scene }: { panel: PanelState; scene: Scene | null }) {
  const bench = useBench();
  const proposed = proposalsOf(scene);
  return proposed.length < 2 ? null : (
    <Menu label="pictures" title="Suggested pictures" class="chip" items={() => proposed.map((p, k) => ({
      label: <Thumbnail panel={panel} layout={p.layout} />, note: p.label, checked: p.layout === (panel.options.layout?.[0] ?? proposed[0]!.layout),
      run: () => bench.setOption(panel.id, "layout", k === 0 ? [] : [p.layout]),
    }))} />
  );
}

function Thumbnail({ panel, layout }: { panel: PanelState; layout: string }) {
  const bench = useBench();
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const painter = bench.newPainter(host.current!);
    const request = requestOf(bench, panel, null, width, height);
    const options = { ...request.options, layout, axes: "hidden", key: "hidden" };
    // Where it fails it stays empty, and its name says which it is.
    bench.api.scene(bench.runOf(panel), { ...request, options }).then((s) => host.current && painter.draw(s, bench.tint.peek()), () => {});
    return () => painter.destroy();
  }, []);
  return <div ref={host} style={`position:relative;width:${width}px;height:${height}px`} />;
}
