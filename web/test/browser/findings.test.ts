// The answers before the first click: cards, what they select, and what proves them.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, putOff, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("--run", "slow=demo:stencil", "--run", "even=demo:stencil?balanced"); });
afterAll(() => program.stop());
beforeEach(async () => { ({ page, errors } = await newPage()); });
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

test("the slow node is named on opening, with the time lost by it", async () => {
  await openBench(page, program.address, "run=slow&v=timeline");
  const cards = page.locator(".finding");
  await cards.first().waitFor();
  expect(await cards.count()).toBe(2);
  // The strip has the sentence of the first: its card has the cost alone, so that there is room for the others.
  await expect.poll(() => page.locator(".strip-text").innerText()).toMatch(/^Ranks 40–47 \(all of node05\) hold up 56 others/);
  expect(await cards.nth(0).innerText()).toMatch(/^Straggler\s+39\.5 s lost · 31\.2 % of all time\s*$/);
  expect(await cards.nth(1).innerText()).toMatch(/Late sender[\s\S]*lost[\s\S]*Rank 11/);
  const fold = page.getByRole("button", { name: "Main finding with its evidence" });
  await fold.click();
  expect(await cards.nth(0).innerText()).toMatch(/Straggler[\s\S]*Ranks 40–47/);
  await fold.click();
  const [first, second] = await page.locator(".finding-bar > span").evaluateAll((list) => list.map((x) => x.getBoundingClientRect().width));
  expect(first).toBeGreaterThan(20 * second);
});

test("a card selects what it is about and opens the view that proves it", async () => {
  await openBench(page, program.address, "run=slow&v=timeline");
  await page.locator(".finding").first().click();
  await settled(page);
  expect((await state(page)).views).toEqual(["timeline", "phases"]);
  expect((await state(page)).locations).toHaveLength(8);
  expect(await page.locator('.panel[aria-label^="Phases"] .canvas').last().getAttribute("aria-label")).toMatch(/^64 rows by 20 phases \(iteration\)/);
  expect(await page.locator(".finding.chosen").count()).toBe(1);
});

test("a balanced run is told that nothing stands out", async () => {
  await openBench(page, program.address, "run=even&v=timeline");
  await expect.poll(() => page.locator(".inspect-findings").innerText()).toMatch(/Nothing stands out: [\d.]+ % of the time is work/);
  expect(await page.locator(".strip").innerText()).toMatch(/Nothing stands out[\s\S]*Next:/);
});

test("the strip has the answer with its cost, proof and next step before the first click, and walks through it", async () => {
  await openBench(page, program.address, "run=slow&v=timeline");
  await expect.poll(() => page.locator(".strip-text").innerText()).toMatch(/^Ranks 40–47 \(all of node05\) hold up 56 others/);
  expect(await page.locator(".strip-more").innerText()).toMatch(/39\.5 s lost · 31\.2 % of all time[\s\S]*Next:/);
  const widths = () => page.locator(".strip-bar").evaluateAll((list) => list.map((x) => x.getBoundingClientRect().width));
  const [slow, others] = await widths();
  expect(slow / others).toBeCloseTo(1.92 / 1.2, 1);
  await page.getByRole("button", { name: "Who?" }).click();
  await settled(page);
  expect((await state(page)).locations).toHaveLength(8);
  expect((await state(page)).views).toEqual(["timeline"]);
  await page.getByRole("button", { name: "Why?" }).click();
  await settled(page);
  expect((await state(page)).views).toEqual(["timeline", "phases"]);
  await page.getByRole("button", { name: "What if?" }).click();
  expect(await page.locator(".strip-more").innerText()).toMatch(/^The run would be 632 ms shorter[\s\S]*replay/);
  const [now, then] = await widths();
  expect(then / now).toBeCloseTo(1 - 0.319, 2);
  await expect.poll(() => new URL(page.url()).searchParams.get("walk")).toBe("1.if");
  await page.reload();
  await expect.poll(() => page.locator(".strip-more").innerText()).toMatch(/^The run would be 632 ms shorter/);
});

test("one undo goes back over a stop of the walk", async () => {
  await openBench(page, program.address, "run=slow&v=timeline");
  await page.getByRole("button", { name: "Why?" }).click();
  await settled(page);
  expect((await state(page)).views).toEqual(["timeline", "phases"]);
  await page.keyboard.press("Control+z");
  await settled(page);
  expect([(await state(page)).views, (await state(page)).locations, await page.locator(".finding.chosen").count()]).toEqual([["timeline"], [], 0]);
});

test("on a phone the strip is the first thing below the bar, whole", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openBench(page, program.address, "run=slow&v=timeline");
  await page.locator(".strip-bar").first().waitFor();
  const box = (await page.locator(".strip").boundingBox())!;
  expect([box.x, box.width]).toEqual([0, 390]);
  expect(box.y).toBeLessThan(50);
  expect(await page.locator(".strip").evaluate((e) => e.scrollWidth <= e.clientWidth)).toBe(true);
});

test("a run that is renewed while findings and a table are still made leaves no error behind", async () => {
  const refused: string[] = [];
  page.on("response", (r) => { if (r.status() >= 400) refused.push(`${r.status()} ${r.url()}`); });
  await page.goto(`${program.address}&run=slow&v=timeline&table=0`);
  await page.waitForSelector(".panel");
  for (let i = 0; i < 30; i++) {
    await page.evaluate(() => { (window as unknown as { parallax: { comebacks: { value: number } } }).parallax.comebacks.value++; });
    await putOff(page, 10);
  }
  await page.locator(".finding").first().waitFor();
  expect(refused).toEqual([]);
});
