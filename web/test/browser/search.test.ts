// Intervals found by words: how many, one after the other, and where they are.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => { ({ page, errors } = await newPage()); });
afterEach(async () => { await leave(page); });

test("long calls are found, stepped through and marked on the strip of the run", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("/");
  await page.keyboard.type("MPI_Waitall >15ms");
  await page.locator(".hit-head").waitFor();
  const count = Number(/^([\d,]+) intervals/.exec((await page.locator(".hit-head").innerText()))![1].replaceAll(",", ""));
  const { origin, searchParams } = new URL(program.address);
  const sums = await (await fetch(`${origin}/api/runs/stencil/query`, {
    method: "POST", body: JSON.stringify({ sql: "select count(*) from intervals where region = 'MPI_Waitall' and duration > 15000000" }), headers: { Authorization: `Bearer ${searchParams.get("token")}` },
  })).json();
  expect(count).toBe(sums.rows[0][0]);
  expect(count).toBeGreaterThan(2);
  await page.keyboard.press("Enter");
  await settled(page);
  expect(await page.locator(".found-at").innerText()).toBe(`1 of ${count}`);
  const first = await state(page);
  expect(first.locations).toHaveLength(1);
  await page.keyboard.press("Enter");
  await settled(page);
  expect(await page.locator(".found-at").innerText()).toBe(`2 of ${count}`);
  await page.locator(".found-step").first().click();
  await settled(page);
  expect(await page.locator(".found-at").innerText()).toBe(`1 of ${count}`);
  expect(await page.locator(".minimap-found path").getAttribute("d")).toMatch(/^M/);
  await page.locator("#search").focus();
  await page.keyboard.press("Escape");
  expect(await page.locator(".minimap-found").count()).toBe(0);
  expect(errors).toEqual([]);
});

test("what cannot be read is said, and what is nowhere too", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("/");
  await page.keyboard.type(">5parsecs");
  await page.locator(".search-results .empty-note", { hasText: "want a duration" }).waitFor();
  await page.locator("#search").fill("nosuchthing");
  await page.locator(".search-results .empty-note", { hasText: "Nothing is called" }).waitFor();
});

test("another run begins with an empty search", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("/");
  await page.keyboard.type("rank");
  await page.locator(".hit").first().waitFor();
  await page.evaluate(async () => {
    type Run = { id: string; state: string };
    const bench = (window as unknown as { parallax: { api: { open(sources: string[]): Promise<Run[]>; runs(): Promise<Run[]> }; runs: { value: Run[] }; show(id: string, state: null): Promise<void> } }).parallax;
    const { id } = (await bench.api.open(["demo:shop"]))[0]!;
    while ((await bench.api.runs()).find((r) => r.id === id)?.state !== "ready") await new Promise((done) => setTimeout(done, 100));
    bench.runs.value = await bench.api.runs();
    await bench.show(id, null);
  });
  await settled(page);
  expect(await page.locator("#search").inputValue()).toBe("");
  expect(await page.locator(".hit").count()).toBe(0);
  expect(errors).toEqual([]);
});
