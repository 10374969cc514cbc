import { expect, test } from "vitest";
import type { Frame, Row } from "../scene/scene";
import { crossHair } from "./highlight";

test("the cross-hair of a matrix is the row and the column under the pointer", () => {
  const rows = (from: number) => [0, 1, 2].map((k) => ({ from: from + 10 * k, to: from + 10 * k + 10 }) as Row);
  const f = { x: 100, y: 50, w: 30, h: 30, xScale: { rows: rows(100) }, yScale: { rows: rows(50) } } as unknown as Frame;
  expect(crossHair(f, { x: 115, y: 72 })).toEqual([{ x: 100, y: 70, w: 30, h: 10 }, { x: 110, y: 50, w: 10, h: 30 }]);
  expect(crossHair(f, { x: 90, y: 72 })).toEqual([]);
});
