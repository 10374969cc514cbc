// Rows of all panels in the order of the groups that behave alike.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, serve, settled, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors } = await newPage({ width: 1600, height: 1200 }));
  await openBench(page, program.address, "v=groups,phases@1.5~moments,histogram");
});
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

/** The locations of a panel's rows from the top. */
const rows = (n: number) => page.evaluate((i) => {
  const host = document.querySelectorAll(".picture")[i] as unknown as { picture: { shown: { scene: { frames: { yScale: { rows: { location: number; count: number }[] } }[] } } } };
  return host.picture.shown.scene.frames.flatMap((f) => f.yScale.rows.map((r) => r.location));
}, n);

const sorted = (list: number[]) => [...list].sort((a, b) => a - b);

test("one button in the groups orders the rows of all panels, the address keeps it, undo takes it back", async () => {
  const tree = [await rows(1), await rows(2), await rows(3)];
  for (const t of tree) expect(sorted(t)).toEqual(t);
  await page.getByRole("button", { name: "order rows by these groups" }).click();
  await expect.poll(() => page.url()).toContain("arrange=groups");
  await settled(page);
  const grouped = [await rows(1), await rows(2), await rows(3)];
  grouped.forEach((g, i) => {
    expect(g).not.toEqual(tree[i]);
    expect(sorted(g)).toEqual(tree[i]);
  });
  // All panels have one order: that of their first location each is the same.
  expect(grouped[0]).toEqual(grouped[1]);
  expect(page.url()).toContain("arrange=groups");
  expect(await page.locator(".chips .chip", { hasText: "by groups" }).count()).toBe(3);
  expect(await page.locator(".legend", { hasText: "group 1" }).count()).toBeGreaterThan(0);

  await page.reload();
  await page.waitForSelector(".panel .picture");
  await settled(page);
  expect(await rows(1)).toEqual(grouped[0]);
  expect(await page.getByRole("button", { name: "rows are in this order" }).getAttribute("aria-pressed")).toBe("true");

  await page.locator(".chips .chip", { hasText: "by groups" }).first().click();
  await settled(page);
  expect(await rows(1)).toEqual(tree[0]);
  await page.keyboard.press("Control+z");
  await settled(page);
  expect(await rows(1)).toEqual(grouped[0]);
});

test("the order is that of the groups shown, and stays while the selection moves", async () => {
  await page.goto(`http://127.0.0.1:${program.port}/?${new URL(page.url()).searchParams.toString()}&0.k=3`);
  await page.waitForSelector(".panel .picture");
  await settled(page);
  await page.getByRole("button", { name: "order rows by these groups" }).click();
  await settled(page);
  expect(decodeURIComponent(page.url())).toContain("arrange=groups:k=3");
  const before = await rows(2);
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await settled(page);
  expect(await rows(2)).toEqual(before);
});

test("a key orders rows by groups, and the form of any panel shows it", async () => {
  await page.locator(".panel").nth(2).click({ position: { x: 300, y: 8 } });
  await page.keyboard.press("g");
  await settled(page);
  expect(page.url()).toContain("arrange=groups");
  await page.locator(".panel").nth(1).getByRole("button", { name: /Options of Phases/ }).click();
  const select = page.locator("#option-arrange");
  expect(await select.inputValue()).toBe("groups");
  await select.selectOption("tree");
  await settled(page);
  expect(page.url()).not.toContain("arrange=");
});
