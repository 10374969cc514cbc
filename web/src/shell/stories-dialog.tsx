// The window of stories: their stops are edited, moved, given a sentence, and exported.

import { useState } from "preact/hooks";
import type { Story, StoryStop } from "../api/types";
import { Dialog } from "../widget/dialog";
import { Icon } from "../widget/icon";
import { TextField } from "../widget/text-field";
import { useBench } from "./context";
import { middle, plural } from "./format";
import { copyStory, readPlace, saveFigures, saveReport, stopHere, tell } from "./story";

export function StoriesDialog({ close }: { close: () => void }) {
  const bench = useBench();
  const { stories } = bench.notebook.kept.value;
  const [name, setName] = useState("");
  const [open, setOpen] = useState(readPlace(bench.story.peek())?.name ?? stories[0]?.name ?? "");
  const may = !bench.session.value?.readOnly;
  const add = async (e: Event) => {
    e.preventDefault();
    if (!(await bench.notebook.addStory({ name: name.trim(), stops: [stopHere(bench, "Stop 1")] }))) return;
    setOpen(name.trim());
    setName("");
  };
  return (
    <Dialog title="Stories" class="notebook" onClose={close}>
      {stories.length === 0 && <p class="muted">None yet. A story is a walk through states of this page with a sentence at each. “Keep” in the strip keeps the walk through a finding.</p>}
      {stories.map((s) => (
        <section key={s.name} aria-label={`Story ${s.name}`} class="story">
          <h3>
            <button type="button" class="plain" aria-expanded={open === s.name} onClick={() => setOpen(open === s.name ? "" : s.name)}><Icon name={open === s.name ? "down" : "right"} /> <bdi>{middle(s.name, 80)}</bdi> <span class="muted">{plural(s.stops.length, "stop")}</span></button>
          </h3>
          {open === s.name && <StoryForm story={s} may={may} close={close} renamed={setOpen} />}
        </section>
      ))}
      {may && (
        <form class="notebook-form" aria-label="New story" onSubmit={(e) => void add(e)}>
          <input type="text" placeholder="Name of a new story" aria-label="Name of a new story" maxLength={200} value={name} onInput={(e) => setName(e.currentTarget.value)} />
          <button type="submit" disabled={name.trim() === "" || stories.some((s) => s.name === name.trim())}>Begin with this screen</button>
        </form>
      )}
      {!may && <p class="muted">This link is read-only: its owner keeps the stories.</p>}
    </Dialog>
  );
}

function StoryForm({ story, may, close, renamed }: { story: Story; may: boolean; close: () => void; renamed: (name: string) => void }) {
  const bench = useBench();
  const keep = (f: (stops: StoryStop[]) => StoryStop[]) => void bench.notebook.changeStory(story.name, (s) => ({ ...s, stops: f(s.stops) }));
  const change = (i: number, by: Partial<StoryStop>) => keep((stops) => stops.map((s, k) => (k === i ? { ...s, ...by } : s)));
  const move = (i: number, by: number) => keep((stops) => {
    const moved = [...stops];
    moved.splice(i + by, 0, ...moved.splice(i, 1));
    return moved;
  });
  const rename = (text: string) => {
    const name = text.trim();
    if (name === "" || bench.notebook.kept.peek().stories.some((s) => s.name === name && s.name !== story.name)) return false;
    renamed(name);
    void bench.notebook.changeStory(story.name, (s) => ({ ...s, name })).then((done) => { if (!done) renamed(story.name); });
    return true;
  };
  const addStop = () => {
    const stop = stopHere(bench, `Stop ${story.stops.length + 1}`);
    keep((stops) => [...stops, stop]);
  };
  const remove = () => {
    if (readPlace(bench.story.peek())?.name === story.name) bench.setStory("");
    void bench.notebook.removeStory(story.name);
  };
  return (
    <>
      {may && <TextField class="story-field" label="Name of the story" value={story.name} set={rename} />}
      <ol class="notebook-list story-stops">
        {story.stops.map((s, i) => (
          <li key={i} aria-label={`Stop ${i + 1}`}>
            <div class="story-stop">
              {may ? <TextField class="story-field" label={`Title of stop ${i + 1}`} value={s.title} set={(title) => { change(i, { title }); return true; }} /> : <b>{s.title}</b>}
              {may ? <textarea aria-label={`Sentence of stop ${i + 1}`} rows={2} maxLength={5000} value={s.text} onChange={(e) => change(i, { text: e.currentTarget.value })} /> : <p>{s.text}</p>}
            </div>
            <span class="story-tools">
              <button type="button" onClick={() => { tell(bench, story, i); close(); }}>Show</button>
              {may && <>
                <button type="button" title="Use this screen for this stop" onClick={() => change(i, { query: stopHere(bench, "").query })}>Retake</button>
                <button type="button" class="plain" title="Move up" aria-label={`Move stop ${i + 1} up`} disabled={i === 0} onClick={() => move(i, -1)}>↑</button>
                <button type="button" class="plain" title="Move down" aria-label={`Move stop ${i + 1} down`} disabled={i + 1 === story.stops.length} onClick={() => move(i, 1)}>↓</button>
                <button type="button" class="plain" title="Remove" aria-label={`Remove stop ${i + 1}`} onClick={() => keep((stops) => stops.filter((_, k) => k !== i))}><Icon name="close" /></button>
              </>}
            </span>
          </li>
        ))}
      </ol>
      <p class="story-tools">
        {may && <button type="button" onClick={addStop}>Add this screen</button>}
        <button type="button" disabled={story.stops.length === 0} onClick={() => { close(); void saveReport(bench, story); }}>Report</button>
        <button type="button" disabled={story.stops.length === 0} onClick={() => { close(); void saveFigures(bench, story); }}>Figures</button>
        <button type="button" disabled={story.stops.length === 0} onClick={() => void copyStory(bench, story)}>Copy link</button>
        {may && <button type="button" onClick={remove}>Delete story</button>}
      </p>
    </>
  );
}
