import { expect, it } from "vitest";
import type { Api } from "../api/client";
import type { IntervalHit, IntervalSearch } from "../api/types";
import { IntervalFinder, marksOf } from "./found";
import { SelectionStore } from "./selection";

// A run of 300 calls of 10 ns, one each 100 ns; the server names 50 at once.
function finder(begins: number[] = Array.from({ length: 300 }, (_, i) => 100 * i)) {
  const asked: string[] = [];
  const said: string[] = [];
  const api = {
    intervals: async (_run: string, query: string, at: number, before: boolean): Promise<IntervalSearch> => {
      asked.push(`${before ? "before" : "from"} ${at}`);
      const k = begins.findIndex((b) => b >= at);
      const here = k < 0 ? begins.length : k;
      const [lo, hi] = before ? [Math.max(0, here - 50), here] : [here, Math.min(begins.length, here + 50)];
      const hits = begins.slice(lo, hi).map((begin, i): IntervalHit => ({ location: 3, path: "rank 3", lane: 0, row: lo + i, region: 7, begin, duration: 10 }));
      return { query, count: begins.length, index: lo, hits, bins: [], inAttributes: [] };
    },
  } as unknown as Api;
  const store = new SelectionStore();
  store.reset(30_000);
  const f = new IntervalFinder({ api, store, run: () => "r", say: (w) => said.push(w), track: () => {} });
  return { f, store, asked, said };
}

it("walks all that is found, and asks for more on the way", async () => {
  const { f, store, asked, said } = finder();
  await f.search("work");
  expect(f.found.value?.at).toBe(-1);
  for (let i = 0; i < 120; i++) {
    await f.step(1);
    expect(f.found.value?.at).toBe(i);
    expect(store.look.time).toEqual({ begin: 100 * i, end: 100 * i + 10 });
  }
  expect(asked).toEqual(["from 0", "from 4900", "from 9800"]);
  expect(store.look.locations).toEqual(["#3"]);
  expect(store.look.regions).toEqual(["#7"]);
  for (let i = 118; i >= 0; i--) {
    await f.step(-1);
    expect(f.found.value?.at).toBe(i);
  }
  await f.step(-1);
  expect(said).toEqual(["That is the first one found."]);
});

it("begins where the window does", async () => {
  const { f, store } = finder();
  store.zoom({ begin: 12_345, end: 13_000 });
  await f.search("work");
  await f.step(1);
  expect(f.found.value?.at).toBe(124);
  await f.step(-1);
  expect(f.found.value?.at).toBe(123);
});

it("gets past a time at which more begin than are named at once", async () => {
  const { f } = finder([...Array<number>(120).fill(500), 900, 1000]);
  await f.search("work");
  for (let i = 0; i < 60; i++) await f.step(1);
  expect(f.found.value!.at).toBeGreaterThanOrEqual(120);
});

it("draws marks where hits are, longer where there are more", () => {
  expect(marksOf([0, 1, 0, 9])).toBe("M1 0v0.511h1v-0.511zM3 0v1.000h1v-1.000z");
});
