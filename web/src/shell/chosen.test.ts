import { describe, expect, test } from "vitest";
import type { Api } from "../api/client";
import type { LocationRow, Places } from "../api/types";
import type { Painter } from "../scene/painter";
import { palette } from "../scene/palette";
import { Chosen } from "./chosen";
import { Workbench } from "./workbench";

const places = (id: number[], last: number[]): Places => ({ id, last, above: [0], aboveLast: [99], rows: id.length, path: [{ id: id[0] } as LocationRow] });

describe("chosen locations", () => {
  test("hold what lies in them, once that is known", () => {
    const alone = new Chosen([20, 5]);
    expect([5, 7, 20, 21, 0].map((id) => alone.holds(id))).toEqual([true, false, true, false, false]);
    const placed = new Chosen([20, 5], places([5, 20], [9, 20]));
    expect([4, 5, 7, 9, 10, 20, 21].map((id) => placed.holds(id))).toEqual([false, true, true, true, false, true, false]);
    expect([placed.has(5), placed.has(7), placed.above.get(0), placed.rows]).toEqual([true, false, 99, 2]);
  });
});

describe("their places", () => {
  const answers: { patterns: readonly string[]; answer: (p: Places) => void; fail: (e: Error) => void }[] = [];
  const bench = new Workbench({ places: (_: string, patterns: readonly string[]) => new Promise<Places>((answer, fail) => answers.push({ patterns, answer, fail })) } as unknown as Api, [], palette, () => ({}) as Painter);
  bench.store.reset(1000);
  const soon = () => new Promise((done) => setTimeout(done));

  test("are asked for once, however the window moves meanwhile", async () => {
    bench.choose({ locations: ["#5", "#20", "rank:3"] });
    expect(answers.map((a) => a.patterns)).toEqual([["#5", "#20"]]);
    bench.store.select({ time: { begin: 1, end: 9 } });
    expect(answers.length).toBe(1);
    answers[0]!.answer(places([5, 20], [9, 20]));
    await soon();
    expect(bench.chosen.value.holds(7)).toBe(true);
    bench.store.select({ time: null });
    expect(answers.length).toBe(1);
  });
  test("of a choice that is gone are left alone, and what failed is asked again", async () => {
    bench.choose({ locations: ["#1"] });
    bench.choose({ locations: ["#2"] });
    answers[1]!.answer(places([1], [4]));
    answers[2]!.fail(new Error("gone"));
    await soon();
    expect([bench.chosen.value.ids, bench.chosen.value.holds(3)]).toEqual([[2], false]);
    bench.store.select({ time: { begin: 1, end: 9 } });
    answers[3]!.answer(places([2], [4]));
    await soon();
    expect(bench.chosen.value.holds(3)).toBe(true);
  });
});
