// The story that is shown, below the strip: its title, the sentence of the stop, and the way on.

import { useBench } from "./context";
import { middle } from "./format";
import { tell, told } from "./story";

export function StoryBar() {
  const bench = useBench();
  const now = told(bench);
  if (!now) return null;
  const { story, at, stop } = now;
  return (
    <section class="story-bar" aria-label="Story">
      <span class="strip-line">
        <button type="button" class="plain strip-step" title="Previous stop" aria-label="Previous stop" disabled={at === 0} onClick={() => tell(bench, story, at - 1)}>‹</button>
        <span class="strip-count" aria-live="polite">{at + 1} of {story.stops.length}</span>
        <button type="button" class="plain strip-step" title="Next stop" aria-label="Next stop" disabled={at + 1 >= story.stops.length} onClick={() => tell(bench, story, at + 1)}>›</button>
      </span>
      <p class="story-words"><b><bdi>{middle(story.name, 80)}</bdi></b> · <b><bdi>{middle(stop.title, 120)}</bdi></b> <bdi>{middle(stop.text, 600)}</bdi></p>
      <button type="button" onClick={() => (bench.overlay.value = "stories")}>Edit</button>
      <button type="button" onClick={() => bench.setStory("")}>End</button>
    </section>
  );
}
