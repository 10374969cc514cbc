// Runs that the command line names to be compared: the verdict first, sides by hand.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, serve, settled, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("--run", "slow=demo:stencil", "--run", "even=demo:stencil?balanced", "--run", "small=demo:stencil?locations=16"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ context, page, errors } = await browse());
  await page.goto(program.address);
  await page.waitForSelector(".panel .picture");
  await settled(page);
});
afterEach(async () => {
  await context.close();
  expect(errors).toEqual([]);
});

const views = () => page.evaluate(() => new URL(location.href).searchParams.get("v") ?? "");

test("several runs open with what changed, and their history", async () => {
  expect(await views()).toMatch(/^compare,history@[\d.]+~timeline/);
  expect(new URL(page.url()).searchParams.get("0.with")).not.toBeNull();
  expect(await page.locator(".runs-bar summary").first().textContent()).toBe("3 of 3 runs");
});

test("a run is left out, or put on the other side, and the address keeps it", async () => {
  await page.locator(".runs-bar summary").first().click();
  await page.locator('.runs-bar button[title="Leave small out"]').first().click();
  await settled(page);
  expect(await page.locator(".runs-bar summary").first().textContent()).toBe("2 of 3 runs");
  await page.locator('.runs-bar button[title="slow is on side B"]').first().click();
  await settled(page);
  const query = new URL(page.url()).searchParams;
  expect([query.get("0.a"), query.get("0.b"), query.getAll("0.with").join()]).toEqual(["even", "slow", "even"]);
});
