import { describe, expect, test } from "vitest";
import { describeShown, formatBytes, formatCount, formatDuration, formatInstant, formatRange, formatShare, formatUnit, middle, plural, thousands } from "./format";

describe("durations have three significant digits and a unit", () => {
  test.each([
    [0, "0 s"], [1, "1.00 ns"], [999, "999 ns"], [999.6, "1.00 µs"], [1240, "1.24 µs"], [12_400_000, "12.4 ms"],
    [999_499_999, "999 ms"], [999_500_000, "1.00 s"], [8_520_000_000, "8.52 s"], [-1500, "-1.50 µs"], [3_600e9, "3,600 s"],
  ])("%d ns is %s", (ns, text) => expect(formatDuration(ns)).toBe(text));
});

test("counts, sizes and shares read as in the pictures", () => {
  expect([0, 9999, 10_000, 3_100_000, 2.5e9, 0.5].map(formatCount)).toEqual(["0", "9,999", "10.0 k", "3.10 M", "2.50 G", "0.50"]);
  expect([0, 512, 1024, 5e6].map(formatBytes)).toEqual(["0 B", "512 B", "1.00 KiB", "4.77 MiB"]);
  expect([0, 0.5, 0.0001, 5e-7, -5e-7, 1].map(formatShare)).toEqual(["0.0 %", "50.0 %", "< 0.1 %", "< 0.1 %", "> -0.1 %", "100.0 %"]);
  expect([0, 999, 1000, 1234567, -1234].map(thousands)).toEqual(["0", "999", "1,000", "1,234,567", "-1,234"]);
});

describe("a range shows as many decimals as its length needs", () => {
  test.each([
    [2e9, 2.2e9, "2.0–2.2 s"], [0, 8.52e9, "0.00–8.52 s"], [1_204_300_000, 1_204_500_000, "1.2043–1.2045 s"],
    [0, 100, "0–100 ns"], [5, 5, "5–5 ns"], [100_000, 300_000, "100–300 µs"], [0, 100e9, "0–100 s"],
  ])("%d to %d is %s", (b, e, text) => expect(formatRange(b, e)).toBe(text));
  test("an instant has the digits that its window can tell apart", () => {
    expect(formatInstant(2.123456789e9, 8e9)).toBe("2.123 s");
    expect(formatInstant(2.123456789e9, 1000)).toBe("2.123456789 s");
  });
});

test("cells follow the unit of their column, and missing ones are a dash", () => {
  expect(formatUnit(1500, "ns")).toBe("1.50 µs");
  expect(formatUnit(1234567, "ns", true)).toBe("1,234,567 ns");
  expect(formatUnit(null, "ns")).toBe("–");
  expect(formatUnit("<b>x</b>", "")).toBe("<b>x</b>");
  expect(formatUnit(0.123456, "")).toBe("0.1235");
  expect(formatUnit(42, "")).toBe("42");
});

test("long names are shortened in the middle, between characters", () => {
  expect(middle("MPI_Allreduce", 20)).toBe("MPI_Allreduce");
  expect(middle("abcdefghij", 5)).toBe("ab…ij");
  expect(middle("😀".repeat(10), 5)).toBe("😀😀…😀😀");
  expect(middle("x".repeat(100_000), 9)).toBe("xxxx…xxxx");
});

test("one is singular", () => {
  expect(plural(1, "rank")).toBe("1 rank");
  expect(plural(0, "rank")).toBe("0 ranks");
  expect(plural(2, "process", "processes")).toBe("2 processes");
});

test("a picture is described with the time on the screen, not with all that was asked for", () => {
  const said = "Timeline of 72 rows from 1.5 s to 2.5 s: the innermost region of each location over time.";
  expect(describeShown(said, "1.7–2.2 s")).toBe("Timeline of 72 rows, 1.7–2.2 s: the innermost region of each location over time.");
  expect(describeShown(said, "")).toBe("Timeline of 72 rows: the innermost region of each location over time.");
  expect(describeShown("Histogram of calls.", "1–2 s")).toBe("Histogram of calls.");
});
