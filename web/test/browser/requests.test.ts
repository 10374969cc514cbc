// A box round the points of requests, and what separates these from the others.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { drag, frameBox, leave, newPage, openBench, serve, settled, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("demo:shop"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors } = await newPage({ width: 1440, height: 900 }));
  await openBench(page, program.address, "v=requests");
});
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

const chosen = () => new URL(page.url()).searchParams;

test("a box round points chooses exactly these and says what separates them; undo takes it back", async () => {
  const f = await frameBox(page);
  await drag(page, [f.x + f.w * 0.1, f.y + 4], [f.x + f.w * 0.9, f.y + f.h * 0.45]);
  await settled(page);
  expect(decodeURIComponent(chosen().toString())).toMatch(/begin:\d+ns\.\.\d+ns.*took:\d+ns\.\.\d+ns/);
  await expect.poll(async () => (await page.locator(".panel .legend").first().textContent()) ?? "").toContain("chosen");
  if (process.env.PARALLAX_SHOT) await page.screenshot({ path: process.env.PARALLAX_SHOT });
  await page.keyboard.press("Control+z");
  await settled(page);
  expect(decodeURIComponent(chosen().toString())).not.toContain("took:");
});

test("a flat drag still selects time", async () => {
  const f = await frameBox(page);
  await drag(page, [f.x + f.w * 0.3, f.y + f.h / 2], [f.x + f.w * 0.6, f.y + f.h / 2 + 2]);
  await settled(page);
  expect(decodeURIComponent(chosen().toString())).not.toContain("took:");
});
