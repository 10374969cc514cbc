// A run of 100,000 ranks: the lists, the selection and the strip of the run hold what is on the screen, and a gesture
// touches no more of the page than with a hundredth of the ranks.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, drag, openBench, openRun, settled, serve, state, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];
let few = "", many = "";

beforeAll(async () => {
  program = await serve("demo:uniform?locations=1000&intervals=4000");
  ({ context, page, errors } = await browse({ width: 1440, height: 900 }));
  await openBench(page, program.address, "");
  few = await page.evaluate(() => (window as unknown as { parallax: { runID: { value: string } } }).parallax.runID.value);
  many = await openRun(page, "demo:uniform?locations=100000&intervals=400000");
});
afterAll(async () => {
  await context?.close();
  await program?.stop();
  expect(errors).toEqual([]);
});

/** What is in the page. */
const elements = () => page.evaluate(() => document.querySelectorAll("*").length);

/** The longest of the handlers that ran, in ms: for the reader of the test, not for the test. */
const longest = () => page.evaluate(() => {
  const w = window as unknown as { slow: { name: string; duration: number }[] };
  return w.slow.reduce((most, e) => (e.duration > most.duration ? e : most), { name: "none", duration: 0 });
});
const watchHandlers = () => page.evaluate(() => {
  const w = window as unknown as { slow: { name: string; duration: number }[] };
  w.slow = [];
  new PerformanceObserver((list) => {
    for (const e of list.getEntries() as PerformanceEventTiming[]) w.slow.push({ name: e.name, duration: e.processingEnd - e.processingStart });
  }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
});

/** How much of the page a gesture changes: nodes added or removed, attributes and texts that change. */
async function changes(gesture: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const w = window as unknown as { seen: number; watch: MutationObserver };
    w.seen = 0;
    w.watch = new MutationObserver((list) => { for (const m of list) w.seen += Math.max(1, m.addedNodes.length + m.removedNodes.length); });
    w.watch.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  await gesture();
  await settled(page);
  return page.evaluate(() => {
    const w = window as unknown as { seen: number; watch: MutationObserver };
    w.watch.disconnect();
    return w.seen;
  });
}

const tree = () => page.locator(".tree");
const treeRows = () => page.locator(".tree [role=treeitem]");

/** Opens groups along the first child until leaves are on the screen. */
async function openToLeaves(): Promise<void> {
  await tree().focus();
  await page.keyboard.press("Home");
  for (let depth = 0; depth < 6; depth++) {
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(100);
  }
}

/** Each gesture on one run: what it changes, by its name. */
async function gestures(run: string): Promise<Record<string, number>> {
  await openBench(page, program.address, `run=${run}`);
  await page.locator(".strip-text").waitFor({ timeout: 150_000 }); // findings come after the pictures
  const out: Record<string, number> = { "the page": await elements() };
  await watchHandlers();
  await openToLeaves();
  out["the tree to its end"] = await changes(async () => { await tree().focus(); await page.keyboard.press("End"); await page.waitForTimeout(200); });
  out["rows of the tree"] = await treeRows().count();
  const box = (await page.locator(".minimap canvas, .minimap svg").first().boundingBox())!;
  const at = (share: number): [number, number] => [box.x + share * box.width, box.y + box.height / 2];
  out["a pointer over the strip of the run"] = await changes(async () => { for (let i = 1; i <= 20; i++) await page.mouse.move(...at(i / 21)); });
  out["a range of time on the strip"] = await changes(() => drag(page, at(0.3), at(0.6)));
  await page.keyboard.press("Escape");
  await settled(page);
  out["a search"] = await changes(async () => {
    await page.getByLabel("Find locations by name").fill("9");
    await page.locator("[id^=location-hit]").first().waitFor();
  });
  out["rows found"] = await page.locator("[role=option][id^=location-hit]").count();
  await page.getByLabel("Find locations by name").fill("");
  out["the page at the end"] = await elements();
  const slow = await longest();
  console.log(`${run}: the longest handler took ${slow.duration.toFixed(1)} ms (${slow.name})`);
  return out;
}

test("lists hold what is on the screen, and a gesture touches no more than with a hundredth of the ranks", async () => {
  const [a, b] = [await gestures(few), await gestures(many)];
  console.log(Object.keys(a).map((name) => `${name}: ${a[name]} with 1,000 ranks, ${b[name]} with 100,000`).join("\n"));
  for (const name of Object.keys(a)) expect(b[name], name).toBeLessThanOrEqual(2 * a[name]! + 200);
  expect(b["the page at the end"]).toBeLessThan(4000);
});

test("a range of rows is selected whole, rows between that were never on the screen too", async () => {
  await openBench(page, program.address, `run=${many}`);
  await openToLeaves();
  await tree().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await settled(page);
  const first = (await state(page)).locations;
  expect(first.length).toBe(1);
  await tree().evaluate((e) => { e.scrollTop += 24 * 3000; });
  await page.waitForTimeout(300);
  await treeRows().nth(10).click({ modifiers: ["Shift"] });
  await settled(page);
  const chosen = (await state(page)).locations;
  expect(chosen[0]).toBe(first[0]);
  expect(chosen.length).toBeGreaterThan(2500);
  expect(page.url().length).toBeLessThan(2000);
  await expect.poll(() => page.locator(".status-selection").innerText()).toMatch(/of 100 k ranks/);
});

test("a pattern selects ten thousands of ranks by one word", async () => {
  await openBench(page, program.address, `run=${many}&locations=rank:10-60009`);
  expect((await state(page)).locations).toEqual(["rank:10-60009"]);
  await expect.poll(() => page.locator(".status-selection").innerText()).toMatch(/60,000 of 100 k ranks/);
  expect(await elements()).toBeLessThan(4000);
});
