import { expect, test } from "vitest";
import { stepDetail, stepWord } from "./causes";

const step = { location: 1, path: "p", lane: 0, row: 0, region: 2, begin: 0, duration: 5000, by: "message", from: 1000, to: 3000, size: 2048 };

test("a step is named from where one stands", () => {
  expect([stepWord("message", true), stepWord("message", false)]).toEqual(["sent by", "received by"]);
  expect([stepWord("spawn", true), stepWord("wake", false), stepWord("caller", true), stepWord("flow", true)]).toEqual(["started by", "wakes", "called by", "follows"]);
});

test("a step tells how long the link took and its size, a caller how long it is", () => {
  expect(stepDetail(step)).toBe("2.00 µs, 2.00 KiB");
  expect(stepDetail({ ...step, size: null, to: 500 })).toBe("\u2212500 ns");
  expect(stepDetail({ ...step, by: "caller" })).toBe("5.00 µs");
});
