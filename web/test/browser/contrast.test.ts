// Why is the selection different, the undo of panels, and two runs side by side.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { drag, fingerprints, frameBox, leave, newPage, openBench, putOff, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("--run", "slow=demo:stencil", "--run", "even=demo:stencil?balanced"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors } = await newPage());
  await openBench(page, program.address, "run=slow&v=timeline@1.6~treemap");
});
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

/** What the picture of a view says of itself. */
const says = async (view: string) => {
  await settled(page);
  return (await page.locator(`.panel[aria-label^="${view}"] .canvas`).last().getAttribute("aria-label")) ?? "";
};

test("a brush and one key say why the selection is different, and follow it", async () => {
  await page.getByRole("treeitem", { name: /node05/ }).first().click();
  await settled(page);
  await page.keyboard.press("c");
  await page.waitForSelector('.panel[aria-label^="Contrast"] .picture');
  expect(await says("Contrast")).toMatch(/^rank 40–47 against the 56 other ranks: \w+ time /);
  const f = await frameBox(page);
  await page.keyboard.press("Escape");
  await drag(page, [f.x + f.w * 0.25, f.y + f.h / 2], [f.x + f.w * 0.5, f.y + f.h / 2 + 2]);
  await expect.poll(() => says("Contrast")).toMatch(/ against before .* and after /);
  expect((await state(page)).views).toEqual(["timeline", "treemap", "contrast"]);
});

test("undo goes back over panels and the selection in their order", async () => {
  await page.getByRole("treeitem", { name: /node05/ }).first().click();
  await page.keyboard.press("c");
  await settled(page);
  await page.keyboard.press("Shift+X");
  expect((await state(page)).views).toEqual(["timeline", "treemap"]);
  await page.keyboard.press("Control+z");
  expect((await state(page)).views).toEqual(["timeline", "treemap", "contrast"]);
  await page.keyboard.press("Control+z");
  expect((await state(page)).views).toEqual(["timeline", "treemap"]);
  expect((await state(page)).locations).toHaveLength(1);
  await page.keyboard.press("Control+z");
  expect((await state(page)).locations).toEqual([]);
  await page.getByRole("button", { name: "Redo" }).click();
  await page.getByRole("button", { name: "Redo" }).click();
  expect((await state(page)).views).toEqual(["timeline", "treemap", "contrast"]);
});

test("a chosen location is marked in the treemap", async () => {
  const overlay = () => page.evaluate(() => {
    const c = [...document.querySelectorAll('.panel[aria-label^="Treemap"] canvas')].at(-1) as HTMLCanvasElement;
    const d = c.getContext("2d")?.getImageData(0, 0, c.width, c.height).data ?? new Uint8ClampedArray();
    let n = 0;
    for (let i = 3; i < d.length; i += 4) if (d[i] > 0) n++;
    return n;
  });
  const before = await overlay();
  await page.getByRole("treeitem", { name: /node05/ }).first().click();
  await settled(page);
  expect(await overlay()).toBeGreaterThan(before + 10_000);
  await page.keyboard.press("Escape");
  await settled(page);
  // What the pointer rests on in the tree stays outlined.
  expect(await overlay()).toBeLessThan(before + 2000);
});

test("another run opens beside, stays after a reload, and is held against this one", async () => {
  await page.locator(".panel").first().getByRole("button", { name: /More for this panel/ }).click();
  await page.getByText("the same view of this run, side by side").click();
  await settled(page);
  const [own, other] = await fingerprints(page);
  expect(other.colours).toBeGreaterThan(3);
  expect(other.hash).not.toBe(own.hash);
  // Nothing in it can be selected: its locations are not those of the page's run.
  const f = await frameBox(page, 1);
  await page.mouse.click(f.x + f.w / 2, f.y + f.h / 2);
  await putOff(page, 500);
  expect((await state(page)).locations).toEqual([]);
  await page.reload();
  await page.waitForSelector(".panel .picture");
  await settled(page);
  expect(await page.locator(".chips", { hasText: "even" }).count()).toBe(1);
  await page.goto(`http://127.0.0.1:${program.port}/?run=slow&v=contrast&0.with=even`);
  await page.waitForSelector(".panel .picture");
  expect(await says("Contrast")).toMatch(/^slow against even: /);
});

test("the licences of others are a click away", async () => {
  const text = await (await page.request.get(`http://127.0.0.1:${program.port}/licences.txt`)).text();
  expect(text).toContain("Jason Miller");
  await page.keyboard.press("?");
  expect(await page.getByRole("link", { name: /Licences/ }).getAttribute("href")).toBe("licences.txt");
});
