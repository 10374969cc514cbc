// When the hand rests. What is computed anew for each window is asked for once the window has not
// moved for a moment: by all panels at one time, so that it is one request. What took the server long
// waits longer: it would be given up at the next turn of the wheel.

/** How long it has not moved, in ms; for what takes long. */
const [restAfter, longRest] = [80, 320];

/** An answer that comes later than this, in ms, took long. */
const longAnswer = 160;

interface Group { waiting: Set<() => void>; timer: number }

const groups: Group[] = [restAfter, longRest].map(() => ({ waiting: new Set(), timer: 0 }));

/** Calls f once nothing else has come for a moment, a longer one where its last answer took long; the result takes it back. */
export function afterRest(f: () => void, took = 0): () => void {
  const long = took > longAnswer;
  const group = groups[long ? 1 : 0]!;
  group.waiting.add(f);
  clearTimeout(group.timer);
  group.timer = setTimeout(() => {
    const all = [...group.waiting];
    group.waiting.clear();
    for (const each of all) each();
  }, long ? longRest : restAfter) as unknown as number;
  return () => void group.waiting.delete(f);
}
