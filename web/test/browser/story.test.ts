// A walk through a finding is kept as a story: edited, reordered, told, exported.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { contents, leave, newPage, openBench, ownCache, serve, settled, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { ownCache(); program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => { ({ page, errors } = await newPage({ width: 1440, height: 900 })); });
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

const bar = () => page.locator(".story-bar .story-words");
const dialog = () => page.getByRole("dialog", { name: "Stories" });

test("a walk is kept, told stop by stop, edited, reordered and exported, and one undo goes back", async () => {
  await openBench(page, program.address, "");
  const before = new URL(page.url()).searchParams.toString();
  await page.getByRole("button", { name: "Keep", exact: true }).click();
  await bar().waitFor();
  expect(await bar().innerText()).toMatch(/^Straggler · Who\? Ranks 40–47/);
  await page.getByRole("button", { name: "Next stop" }).click();
  await settled(page);
  expect(await bar().innerText()).toMatch(/Why\?/);
  expect(new URL(page.url()).searchParams.get("story")).toBe("2:Straggler");
  expect(new URL(page.url()).searchParams.get("walk")).toBe("1.why");
  const why = await page.locator(".panel-head .panel-title").allInnerTexts();

  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await dialog().getByLabel("Title of stop 2").fill("The region");
  await dialog().getByLabel("Title of stop 2").press("Enter");
  await dialog().getByLabel("Sentence of stop 2").fill("They compute for longer <in every step>.");
  await dialog().getByLabel("Sentence of stop 2").blur();
  await dialog().getByRole("button", { name: "Move stop 2 up" }).click();
  await expect.poll(() => dialog().getByLabel("Title of stop 1").inputValue()).toBe("The region");

  const [report] = await Promise.all([page.waitForEvent("download"), dialog().getByRole("button", { name: "Report" }).click()]);
  const html = (await contents(report)).toString();
  expect(html).toContain("1. The region");
  expect(html).toContain("They compute for longer &#60;in every step&#62;.");
  expect(html.match(/<section>/g)!.length).toBe(3);
  expect(html.match(/data:image\/svg/g)!.length).toBeGreaterThanOrEqual(3);
  await page.keyboard.press("Shift+Y");
  const [figures] = await Promise.all([page.waitForEvent("download"), dialog().getByRole("button", { name: "Figures" }).click()]);
  expect((await contents(figures)).subarray(0, 2).toString()).toBe("PK");
  expect(await page.locator(".panel-head .panel-title").allInnerTexts()).toEqual(why); // as it was before

  await page.reload();
  await settled(page);
  expect(await bar().innerText()).toMatch(/Straggler · Who\?/); // the second stop, after they changed places
  await page.getByRole("button", { name: "Previous stop" }).click();
  await settled(page);
  expect(await bar().innerText()).toMatch(/The region They compute for longer <in every step>\./);
  await page.keyboard.press("Control+z");
  await settled(page);
  expect(await bar().innerText()).toMatch(/Who\?/);
  await page.getByRole("button", { name: "End", exact: true }).click();
  await settled(page);
  expect(await bar().count()).toBe(0);
  expect(before).not.toContain("story");
});
