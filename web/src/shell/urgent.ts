// What is more urgent: pictures come before what keeps every core of the server busy for seconds.

import type { Workbench } from "./workbench";

/** From so many locations on, or a hundred times as many intervals, findings and figures take seconds. */
const large = 1e5;
/** How long they wait for pictures, in ms: some pictures take longer than all the rest. */
const mostAwaited = 5000;

/** Resolves when findings and figures of the run on the page may be asked for. */
export function afterPictures(bench: Workbench): Promise<void> {
  const info = bench.info.peek();
  return info && info.locations + info.intervals / 100 >= large ? bench.api.pictures(mostAwaited) : Promise.resolve();
}
