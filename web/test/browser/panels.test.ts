// Panels as tabs and in rows that scroll, and the colours of categories for colour-blind readers.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { fingerprints, leave, newPage, openBench, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];
let requests: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors, requests } = await newPage());
  await openBench(page, program.address, "v=timeline~activity,histogram");
});
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

const panels = () => page.locator(".panel").count();
const openTab = () => page.getByRole("tablist", { name: "Panels" }).getByRole("tab", { selected: true }).innerText();

test("panels are tabs: opened by a click, by arrows, by Q and E, kept by the address and by undo", async () => {
  await page.getByRole("button", { name: "Views and panels" }).click();
  await page.getByRole("menuitemradio", { name: /^Tabs/ }).or(page.getByRole("menuitem", { name: /^Tabs/ })).click();
  await settled(page);
  expect(await panels()).toBe(1);
  expect(await openTab()).toBe("Timeline");
  await page.getByRole("tab", { name: "Histogram" }).click();
  await settled(page);
  expect(await page.locator(".panel").getAttribute("aria-label")).toBe("Histogram, panel");
  expect(page.url()).toContain("max=2&panels=tabs");
  await page.getByRole("tab", { name: "Histogram" }).press("ArrowLeft");
  expect(await openTab()).toBe("Activity");
  await page.keyboard.press("e");
  await settled(page);
  expect(await openTab()).toBe("Histogram");
  await page.keyboard.press("e");
  expect(await openTab()).toBe("Timeline");
  await settled(page);
  await page.goBack();
  await settled(page);
  expect(await openTab()).toBe("Histogram");
  await page.reload();
  await page.waitForSelector(".picture");
  await settled(page);
  expect(await openTab()).toBe("Histogram");
  await page.keyboard.press("Escape");
  expect(await panels()).toBe(1);
  await page.keyboard.press("v"); // all on the screen again
  await settled(page);
  expect(await panels()).toBe(3);
  await page.keyboard.press("Control+z");
  expect(await openTab()).toBe("Histogram");
});

test("rows that scroll keep their height; the wheel goes from panel to panel, Ctrl zooms, keys bring a panel into sight", async () => {
  await page.keyboard.press("v");
  await settled(page);
  expect(page.url()).toContain("panels=scroll");
  await openBench(page, program.address, "v=timeline~activity,histogram~profile~boxprofile&panels=scroll");
  const grid = page.locator(".grid-scroll");
  expect(await grid.evaluate((e) => e.scrollHeight > e.clientHeight + 200)).toBe(true);
  const box = (await grid.boundingBox())!;
  const heights = await page.locator(".panel").evaluateAll((l) => l.map((e) => e.clientHeight));
  expect(Math.min(...heights)).toBeGreaterThan(200);
  await page.mouse.move(box.x + box.width / 2, box.y + 150);
  const { window } = await state(page);
  await page.mouse.wheel(0, 300);
  await expect.poll(() => grid.evaluate((e) => e.scrollTop)).toBeGreaterThan(200);
  expect((await state(page)).window).toEqual(window);
  for (let i = 0; i < 5; i++) await page.keyboard.press("e");
  await expect.poll(() => grid.evaluate((e) => e.scrollTop)).toBe(0); // once round, to the first
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await settled(page);
  expect((await state(page)).window.begin).toBeGreaterThan(0);
});

test("colours for colour-blind readers are drawn without a request, explained in words, and kept by the address", async () => {
  const before = await fingerprints(page);
  requests.length = 0;
  await page.getByRole("button", { name: "Theme and colours" }).click();
  await page.getByText("Safe", { exact: true }).click();
  await expect.poll(async () => (await fingerprints(page))[0].hash).not.toBe(before[0].hash);
  expect(requests).toEqual([]);
  await settled(page);
  expect(page.url()).toContain("region-colours=safe");
  const colours = await page.locator(".panel").first().locator(".legend .swatch").evaluateAll((l) => l.map((e) => (e as HTMLElement).style.background));
  expect(new Set(colours).size).toBe(colours.length);
  await page.locator(".panel").first().getByRole("button", { name: "Export this panel" }).click();
  expect(await page.getByRole("menuitem", { name: /^SVG/ }).getAttribute("href")).toContain("region-colours=safe");
  await page.keyboard.press("Escape");
  const safe = await fingerprints(page);
  await page.reload();
  await page.waitForSelector(".picture");
  await settled(page);
  expect(await fingerprints(page)).toEqual(safe);
});
