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
  expect(await cards.nth(0).innerText()).toMatch(/Straggler[\s\S]*lost[\s\S]*Ranks 40–47 \(all of node05\) hold up 56 others/);
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
  await expect.poll(() => page.locator(".inspect-findings").innerText()).toMatch(/Nothing stands out in this run/);
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
