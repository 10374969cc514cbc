// Which locations a closed line over the picture goes round.

import type { SpaceMark } from "../scene";
import { at, places, type Projection } from "./project";
import { barHeight, Form } from "./body";

/** The locations of the things that are shown with their middle, of bars their top, inside the line; ascending, each once. */
export function locationsInside(m: SpaceMark, look: Uint16Array, p: Projection, line: readonly (readonly [number, number])[]): number[] {
  const found = new Set<number>();
  const shown = places(m, look, p, 1);
  for (let k = 0; k < shown.count; k++) {
    const i = shown.index[k]!;
    let [x, y] = [shown.x[k]!, shown.y[k]!];
    if (m.form === Form.bars) [x, y] = at(p, m.px[i]!, m.py[i]!, m.pz[i]! + barHeight(m, i));
    const location = locationOf(m, i);
    if (location !== null && inside(line, x, y)) found.add(location);
  }
  return [...found].sort((a, b) => a - b);
}

/** The location that a thing is; null: none is known. */
function locationOf(m: SpaceMark, thing: number): number | null {
  const { runFirst, runLocation, runStep } = m;
  if (!runFirst || !runLocation || !runStep || runFirst.length === 0) return null;
  let [low, high] = [0, runFirst.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (runFirst[middle]! <= thing) low = middle;
    else high = middle - 1;
  }
  return runFirst[low]! > thing ? null : runLocation[low]! + (thing - runFirst[low]!) * runStep[low]!;
}

/** Whether a pixel lies inside a line that is closed from its end to its begin. */
function inside(line: readonly (readonly [number, number])[], x: number, y: number): boolean {
  let odd = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [[ax, ay], [bx, by]] = [line[i]!, line[j]!];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  }
  return odd;
}
