// SQL in the page: an answer, its errors, and a row that goes where it lies.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, openBench, serve, settled, state, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => { ({ context, page, errors } = await browse()); });
afterEach(async () => { await context.close(); });

const rows = () => page.locator(".query-rows .twin-row");

async function ask(sql: string): Promise<void> {
  await page.locator(".query-text").fill(sql);
  await page.locator(".query-text").press("Control+Enter");
}

test("a row of an answer selects its location and shows its time", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("Backquote");
  await ask("select location, path, region, begin, duration from intervals where rank = 42 order by duration desc limit 5");
  await rows().nth(4).waitFor();
  expect(await page.locator(".query [role=status]").innerText()).toMatch(/^5 rows in/);
  await rows().nth(1).click();
  await settled(page);
  const s = await state(page);
  expect(s.locations).toHaveLength(1);
  expect(await page.locator(".query-rows .twin-row.chosen").count()).toBe(1);
  expect(await page.locator(".crumbs button").count()).toBe(2);
  expect(errors).toEqual([]);
});

test("what is wrong with a query is said, and nothing can be changed", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("Backquote");
  await ask("select nosuch from intervals");
  await page.locator(".query-failure").waitFor();
  expect(await page.locator(".query-failure").innerText()).toMatch(/no such column: nosuch/);
  await ask("drop table intervals");
  await page.locator(".query-failure", { hasText: "a query only reads" }).waitFor();
  await page.locator(".query-text").press("Escape");
  expect(await page.locator(".query").count()).toBe(0);
});
