import { expect, test } from "vitest";
import { rowsOnScreen } from "./virtual-list";

test("only the rows on screen are drawn", () => {
  expect(rowsOnScreen(0, 100, 1000, 20)).toEqual({ first: 0, last: 6, top: 0 });
  expect(rowsOnScreen(55, 100, 1000, 20)).toEqual({ first: 2, last: 9, top: 40 });
  expect(rowsOnScreen(0, 100, 2, 20)).toEqual({ first: 0, last: 2, top: 0 });
});

test("a list taller than a page may be still reaches its last row", () => {
  const { first, last } = rowsOnScreen(8_000_000 - 500, 500, 10_000_000, 20);
  expect(last).toBe(10_000_000);
  expect(first).toBe(10_000_000 - 25);
  expect(rowsOnScreen(0, 500, 10_000_000, 20).first).toBe(0);
});
