// topology: locations in space. It is turned and filtered in the page; beside the
// picture stand the layout's text, what its events are bound to, range and slice.

import { signal } from "@preact/signals";
import { useBench } from "../../shell/context";
import type { PanelState } from "../../shell/layout";
import type { ViewPlug } from "../../shell/plug";
import type { Scene, SpaceMark } from "../../scene/scene";
import { Icon } from "../../widget/icon";
import { Editor } from "./editor";
import { Events } from "./events";
import { Filter } from "./filter";
import { BoxSides, LayoutChoice } from "./layout-choice";
import { MapChoice } from "./map-choice";
import { Suggested } from "./suggested";

export const topology: ViewPlug = {
  name: "topology",
  follow: { locations: "context" },
  Controls,
  Side,
};

/** Panels whose side is open, and the part shown. */
const open = signal<Readonly<Record<string, Part | undefined>>>({});

type Part = "layout" | "events" | "filter";

const parts: { part: Part; label: string; title: string }[] = [
  { part: "layout", label: "formulas", title: "Edit the layout: formulas that place and colour every location" },
  { part: "events", label: "events", title: "Choose the values of event0 to event3" },
  { part: "filter", label: "filter", title: "Range of values, slices and their mean, size and shape" },
];

function Controls({ panel, scene }: { panel: PanelState; scene: Scene | null }) {
  const now = open.value[panel.id];
  return (
    <>
      {parts.map(({ part, label, title }) => (
        <button
          key={part} type="button" class="chip topology-part" aria-pressed={now === part} title={title}
          onClick={() => (open.value = { ...open.value, [panel.id]: now === part ? undefined : part })}
        >{label}</button>
      ))}
      <LayoutChoice panel={panel} scene={scene} />
      <Suggested panel={panel} scene={scene} />
      <BoxSides panel={panel} />
      <MapChoice panel={panel} />
    </>
  );
}

function Side({ panel, scene }: { panel: PanelState; scene: Scene | null }) {
  const bench = useBench();
  const part = open.value[panel.id];
  const space = spaceOf(scene);
  if (!part) return null;
  return (
    <aside class={`topology-side topology-${part}`} aria-label={parts.find((p) => p.part === part)!.title} onKeyDown={(e) => e.stopPropagation()}>
      <div class="topology-tabs" role="tablist">
        {parts.map((p) => (
          <button key={p.part} type="button" role="tab" aria-selected={p.part === part} title={p.title} onClick={() => (open.value = { ...open.value, [panel.id]: p.part })}>{p.label}</button>
        ))}
        <button type="button" class="plain" title="Close" aria-label="Close the side" onClick={() => (open.value = { ...open.value, [panel.id]: undefined })}><Icon name="close" /></button>
      </div>
      {part === "layout" && <Editor panel={panel} scene={scene} space={space} error={bench.failures.value[panel.id] ?? null} />}
      {part === "events" && <Events panel={panel} scene={scene} />}
      {part === "filter" && <Filter panel={panel} space={space} />}
    </aside>
  );
}

export function spaceOf(scene: Scene | null): SpaceMark | null {
  for (const l of scene?.layers ?? []) for (const m of l.marks) if (m.kind === "space") return m;
  return null;
}
