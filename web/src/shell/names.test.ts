import { expect, test } from "vitest";
import type { LocationRow } from "../api/types";
import { locationTitle, shortTitle } from "./names";

test("a process is named with its rank where its name does not say it", () => {
  const of = (name: string, rank: number | null, kind = "process") => locationTitle({ name, rank, kind } as LocationRow);
  expect(of("rank 5", 5)).toBe("rank 5");
  expect(of("rank 15", 5)).toBe("rank 15 · rank 5");
  expect(of("python", 5)).toBe("python · rank 5");
  expect(of("node-3", null)).toBe("node-3");
  expect(of("main", 5, "thread")).toBe("main");
});

test("the number of a thread stays where its name has no room", () => {
  const of = (name: string, most: number) => shortTitle({ name, rank: null, kind: "thread" } as LocationRow, most);
  expect(of("thread 25738 (python)", 30)).toBe("thread 25738 (python)");
  expect(of("thread 25738 (python)", 14)).toBe("thread 25738");
  expect(of("thread 25738 (python)", 10)).not.toBe(of("thread 25772 (python)", 10));
  expect(of("main (12)", 6)).toBe("mai…2)");
});
