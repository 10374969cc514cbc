import { expect, test } from "vitest";
import { fit } from "./shows";

test("rows of the locations fit best, then groups that may hold them", () => {
  const of = new Set([8, 9]);
  const row = (location: number, folded = false) => ({ location, folded });
  expect([fit([row(1), row(2)], of), fit([row(1), row(5, true)], of), fit([row(1), row(9)], of), fit([], of)]).toEqual([0, 1, 2, 0]);
});
