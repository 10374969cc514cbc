// The call tree zooms to a node and back, and lines of counters follow a finding.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, serve, settled, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("--run", "slow=demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => { ({ page, errors } = await newPage()); });
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

test("a double click on a box of the call tree shows what lies below it, and the head leads back", async () => {
  await openBench(page, program.address, "run=slow&v=calltree");
  const words = () => page.locator(".panel .canvas[role=img]").first().getAttribute("aria-label");
  const whole = await words();
  const box = (await page.locator(".picture").first().boundingBox())!;
  // The widest box of the second row, which begins at the left.
  await page.mouse.dblclick(box.x + 40, box.y + 60);
  await page.getByRole("button", { name: "whole tree" }).waitFor();
  await settled(page);
  expect(page.url()).toMatch(/0\.root=/);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/root.png` });
  const below = await words();
  expect(below).not.toBe(whole);
  expect(Number(/: ([\d,]+) paths/.exec(below!)![1].replace(",", ""))).toBeLessThan(Number(/: ([\d,]+) paths/.exec(whole!)![1].replace(",", "")));
  await page.reload();
  await page.waitForSelector(".panel .picture");
  await settled(page);
  expect(await words()).toBe(below);
  await page.mouse.dblclick(box.x + 40, box.y + 20); // the topmost box: up to its caller
  await expect.poll(() => decodeURIComponent(page.url())).not.toMatch(/0\.root=.*→/);
  await page.getByRole("button", { name: "whole tree" }).click();
  await settled(page);
  expect(await words()).toBe(whole);
  expect(page.url()).not.toMatch(/0\.root=/);
});

test("lines of counters are those of a finding's ranks", async () => {
  await openBench(page, program.address, "run=slow&v=timeline&0.counters=*");
  // Counters have rows of their own, without a box for the label's click: their ranks are known by the row above.
  const lines = () => page.evaluate(() => {
    const { rows } = (document.querySelector(".picture") as unknown as { picture: { scene: { frames: { yScale: { rows: { label: string }[] } }[] } } }).picture.scene.frames[0].yScale;
    return rows.flatMap((r, i) => (i > 0 && /cells per second/.test(r.label) ? [rows[i - 1].label] : []));
  });
  expect((await lines())[0]).not.toMatch(/4[0-7]$/);
  await page.locator(".finding").first().click();
  await settled(page);
  const after = await lines();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/counters.png` });
  expect(after.length).toBeGreaterThan(0);
  for (const label of after) expect(label).toMatch(/\b4[0-7]\b|node05/);
});
