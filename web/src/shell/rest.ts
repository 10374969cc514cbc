// When the hand rests. What is computed anew for each window is asked for once the window has not
// moved for a moment: by all panels at one time, so that it is one request.

/** How long it has not moved, in ms. */
const restAfter = 80;

const waiting = new Set<() => void>();
let timer = 0;

/** Calls f once nothing else has come for a moment; the result takes it back. */
export function afterRest(f: () => void): () => void {
  waiting.add(f);
  clearTimeout(timer);
  timer = setTimeout(() => {
    const all = [...waiting];
    waiting.clear();
    for (const each of all) each();
  }, restAfter) as unknown as number;
  return () => void waiting.delete(f);
}
