import { expect, test } from "vitest";
import { at, gainAndLoss, nextPicture, spread } from "./tick-slider";

test("a step goes to the next picture, not to the next number", () => {
  const ticks = [0.2, 0.4, 0.9];
  expect(nextPicture(ticks, 0.1, 1)).toBeCloseTo(0.3);
  expect(nextPicture(ticks, 0.3, 1)).toBeCloseTo(0.65);
  expect(nextPicture(ticks, 0.3, -1)).toBeCloseTo(0.1);
});

test("past the first and last picture the slider goes to its ends", () => {
  expect(nextPicture([0.2], 0.1, -1)).toBe(0);
  expect(nextPicture([0.2], 0.5, 1)).toBe(1);
  expect(nextPicture([], 0.5, 1)).toBe(1);
});

test("ticks that cannot be told apart are drawn once", () => {
  const many = Array.from({ length: 10000 }, (_, i) => i / 10000);
  expect(spread(many).length).toBeLessThanOrEqual(301);
  expect(spread([0.1, 0.5])).toEqual([0.1, 0.5]);
});

test("gain and loss are said for the value nearest on the curve", () => {
  const curve = { p: [0, 0.5, 1], gain: [0, 0.6, 1], loss: [0, 0.1, 1] };
  expect(gainAndLoss(curve, 0.45)).toBe(": gain 60.0 %, loss 10.0 %");
  expect(gainAndLoss(curve, 7)).toBe(": gain 100.0 %, loss 100.0 %");
});

test("places of the curve need not be evenly spaced", () => {
  const curve = { p: [0, 0.001, 1], gain: [0, 0.9, 1], loss: [0, 0.2, 1] };
  expect(at(curve, "gain", 0.002)).toBe(0.9);
  expect(at(curve, "loss", 0.8)).toBe(1);
});
