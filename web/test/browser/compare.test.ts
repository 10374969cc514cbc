// Runs that the command line names to be compared: the verdict first, sides by hand or by a
// key, the runs around a change opened by a click, and runs of several sizes.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, picture, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

const nights = Array.from({ length: 10 }, (_, i) => ["--run", `night${i + 1}=demo:stencil?locations=8${i < 5 ? "" : "&balanced"}&seed=${i + 1}`]).flat();

beforeAll(async () => { program = await serve(...nights, "--key", "load=/(balanced|8&seed)/"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors } = await newPage());
  await openBench(page, program.address, "");
});
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

const query = () => new URL(page.url()).searchParams;
const summary = (n = 0) => page.locator(".runs-bar summary").nth(n);

test("several runs open with what changed, and their history", async () => {
  expect(query().get("v")).toMatch(/^compare,history@[\d.]+~timeline/);
  expect(query().get("0.with")).not.toBeNull();
  expect(await summary().textContent()).toBe("10 of 10 runs");
  await page.setViewportSize({ width: 1024, height: 768 });
  await settled(page);
  // Four panels do not fit: they scroll, and none is too low to read.
  expect(Math.min(...await page.locator(".panel").evaluateAll((list) => list.map((p) => p.clientHeight)))).toBeGreaterThanOrEqual(180);
});

test("a run is left out, or put on the other side, and the address keeps it", async () => {
  await summary().click();
  await page.locator('.runs-bar button[title="Leave night2 out"]').first().click();
  await settled(page);
  expect(await summary().textContent()).toBe("9 of 10 runs");
  await page.locator('.runs-bar button[title="night3 is on side A"]').first().click();
  await settled(page);
  expect(query().getAll("0.a")).toEqual(["night1", "night3"]);
  expect(query().getAll("0.b")).toHaveLength(7);
});

test("the head of a column groups the runs by that key, and a click on a change opens the two runs around it", async () => {
  await summary().click();
  await page.locator(".runs-bar th").getByRole("button", { name: "load" }).first().click();
  await settled(page);
  expect(query().get("0.by")).toBe("load");
  const sides = await page.locator(".runs-bar").first().locator("tbody tr").evaluateAll((rows) => rows.map((r) => r.querySelector('[aria-pressed="true"]')?.textContent));
  expect(sides.join("")).toBe("AAAAABBBBB");

  const box = (await picture(page, 1).boundingBox())!;
  const at = await page.evaluate(() => {
    const host = document.querySelectorAll(".picture")[1] as HTMLElement & { picture: { known(x: number, y: number): { compare?: string[] } | null | undefined } };
    for (let y = 4; y < host.clientHeight; y += 4) for (let x = 4; x < host.clientWidth; x += 2) if (host.picture.known(x, y)?.compare) return { x, y, runs: host.picture.known(x, y)!.compare! };
    return null;
  });
  expect(at?.runs).toEqual(["night5", "night6"]);
  await page.mouse.click(box.x + at!.x, box.y + at!.y);
  await settled(page);
  expect((await state(page)).views).toEqual(["compare", "history", "compare", "timeline", "timeline"]);
  expect(["2.a", "2.b", "3.run", "4.run"].map((k) => query().get(k))).toEqual(["night5", "night6", "night5", "night6"]);
});

test("runs of several sizes open with how they scale", async () => {
  await leave(page);
  const sizes = await serve(...[4, 8, 16].flatMap((n) => ["--run", `on${n}=demo:stencil?locations=${n}`]));
  try {
    ({ page, errors } = await newPage());
    await openBench(page, sizes.address, "");
    expect((await state(page)).views).toEqual(["scaling", "compare", "timeline", "timeline"]);
    expect([query().get("1.a"), query().get("1.b"), query().get("3.run")]).toEqual(["on4", "on16", "on16"]);
    await summary().click();
    expect(await page.locator(".runs-bar").first().locator("tbody td.number").allTextContents()).toEqual(["4", "8", "16"]);
  } finally {
    await sizes.stop();
  }
});
