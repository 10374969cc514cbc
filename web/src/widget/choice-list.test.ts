import { expect, test } from "vitest";
import { moveCursor } from "./choice-list";

test("keys move the cursor inside the list, and others are left alone", () => {
  expect(moveCursor("ArrowDown", 0, 5)).toBe(1);
  expect(moveCursor("ArrowDown", 4, 5)).toBe(4);
  expect(moveCursor("ArrowUp", 0, 5)).toBe(0);
  expect(moveCursor("PageDown", 3, 1000)).toBe(18);
  expect(moveCursor("End", 3, 1000)).toBe(999);
  expect(moveCursor("Home", 3, 1000)).toBe(0);
  expect(moveCursor("a", 3, 1000)).toBe(-1);
});
