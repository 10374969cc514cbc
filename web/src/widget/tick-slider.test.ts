import { expect, test } from "vitest";
import { nextPicture, percent, said, spread, steps, stretchAt, type Stretch } from "./tick-slider";

const list: Stretch[] = [
  { from: 0, to: 0.2, gain: 0, loss: 0, parts: 16 },
  { from: 0.2, to: 0.4, gain: 0.4, loss: 0.001, parts: 10 },
  { from: 0.4, to: 0.405, gain: 0.6, loss: 0.238, parts: 7 },
  { from: 0.405, to: 1, gain: 1, loss: 1, parts: 1 },
];

test("gain and loss are those of the stretch, on either side of a threshold", () => {
  expect(said("p", list, 0.3999)).toBe("p 0.4, gain 40.0 %, loss 0.1 %, 10 parts");
  expect(said("p", list, 0.4)).toBe("p 0.4, gain 40.0 %, loss 0.1 %, 10 parts");
  expect(said("p", list, 0.4001)).toBe("p 0.4, gain 60.0 %, loss 23.8 %, 7 parts");
  expect(said("p", list, 0.9)).toBe("p 0.9, gain 100.0 %, loss 100.0 %, 1 part");
});

test("the ends of the slider are all detail and one part, whatever lies beside them", () => {
  expect(said("p", list, 0)).toBe("p 0, all detail");
  expect(said("p", list, 1)).toBe("p 1, all drawn as one");
});

test("nothing is told where the list is cut, or not there yet", () => {
  expect(said("p", list.slice(2), 0.3)).toBe("p 0.3, finer than is listed");
  expect(said("p", [], 0.3)).toBe("p 0.3");
  expect(stretchAt(list.slice(2), 0.4)).toBeUndefined();
});

test("the curve is steps", () => {
  expect(steps(list.slice(0, 2), "gain")).toBe("0,1 0.2,1 0.2,0.6 0.4,0.6");
});

test("a step goes to the next picture, not to the next number", () => {
  expect(nextPicture(list, 0.1, 1)).toBeCloseTo(0.3);
  expect(nextPicture(list, 0.3, 1)).toBeCloseTo(0.4025);
  expect(nextPicture(list, 0.3, -1)).toBeCloseTo(0.1);
  expect(nextPicture(list, 0, 1)).toBeCloseTo(0.1);
  expect(nextPicture(list, 1, -1)).toBeCloseTo(0.4025);
  expect(nextPicture(list.slice(2), 0.1, 1)).toBeCloseTo(0.4025);
});

test("past the first and last picture the slider goes to its ends", () => {
  expect(nextPicture(list, 0.1, -1)).toBe(0);
  expect(nextPicture(list, 0.5, 1)).toBe(1);
  expect(nextPicture([], 0.5, 1)).toBe(1);
});

test("shares are written as in the notes of a picture", () => {
  expect(percent(0.0001)).toBe("< 0.1 %");
  expect(percent(0.1225)).toBe("12.2 %");
  expect(percent(0.238)).toBe("23.8 %");
});

test("ticks that cannot be told apart are drawn once", () => {
  const many = Array.from({ length: 10000 }, (_, i) => i / 10000);
  expect(spread(many).length).toBeLessThanOrEqual(301);
  expect(spread([0.1, 0.5])).toEqual([0.1, 0.5]);
});
