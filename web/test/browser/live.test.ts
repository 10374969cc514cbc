// A run that grows while it is looked at: the page takes what is new and keeps its place.

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, drag, frameBox, openBench, scratch, serve, settled, state, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];
const file = () => join(scratch(), "growing.json");

/** Calls of a rank from one millisecond to another, as an unfinished Chrome trace has them. */
const calls = (rank: number, from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `,\n{"ph":"X","pid":${rank},"tid":0,"name":"work ${(from + i) % 3}","ts":${(from + i) * 1000},"dur":900}`).join("");

beforeAll(async () => {
  writeFileSync(file(), `[{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"rank 1"}}` + calls(1, 0, 100) + calls(2, 0, 100));
  program = await serve("--follow", file());
});
afterAll(() => program.stop());
beforeEach(async () => { ({ context, page, errors } = await browse()); });
afterEach(async () => {
  await context.close();
  expect(errors).toEqual([]);
});

test("a file that grows is taken in, and the selection, panels and address stay", async () => {
  await openBench(page, program.address, "v=timeline");
  const words = () => page.locator(".panel .canvas[role=img]").first().getAttribute("aria-label");
  const before = await words();
  const f = await frameBox(page);
  await drag(page, [f.x + f.w * 0.3, f.y + 20], [f.x + f.w * 0.5, f.y + 20]);
  await settled(page);
  const chosen = await state(page);
  const place = page.url();
  expect(chosen.time!.end).toBeLessThan(60e6);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/live-before.png` });
  appendFileSync(file(), calls(1, 100, 200) + calls(2, 100, 200) + calls(0, 0, 200)); // one rank is new, before the others
  await expect.poll(words).not.toBe(before);
  await settled(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/live-after.png` });
  const after = await state(page);
  expect(after.time).toEqual(chosen.time);
  expect(after.views).toEqual(chosen.views);
  expect(after.window.end).toBeGreaterThan(1.9 * chosen.window.end); // it showed the whole run, and does
  expect(page.url()).toBe(place);
});
