// Hovering: the page finds by itself what is under the cursor, and has its facts.

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, openBench, serve, type Program } from "./bench";

let program: Program;
let context: BrowserContext | undefined;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
afterEach(async () => {
  await context?.close();
  expect(errors).toEqual([]);
});

/** Moves over a grid of places of the first picture; how many had a tip, and how many requests that took. */
async function wander(view: string): Promise<{ tips: number; requests: number }> {
  ({ context, page, errors } = await browse({ width: 1200, height: 800 }));
  await openBench(page, program.address, `v=${view}`);
  const box = (await page.locator(".picture").first().boundingBox())!;
  let requests = 0;
  page.on("request", (r) => { if (r.url().includes("/pick")) requests++; });
  let tips = 0;
  for (let i = 1; i < 6; i++) {
    for (let k = 1; k < 6; k++) {
      await page.mouse.move(box.x + (box.width * i) / 6, box.y + (box.height * k) / 6);
      await page.waitForTimeout(90); // longer than the page waits before it asks
      tips += await page.locator(".tip").count();
    }
  }
  return { tips, requests };
}

test.each(["histogram"])("the facts of %s are shown without a request", async (view) => {
  const { tips, requests } = await wander(view);
  expect(tips).toBeGreaterThan(5);
  expect(requests).toBe(0);
});
