// A telephone: fingers move, zoom, choose and select, and everything they meet is large enough.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { CDPSession, Page } from "playwright-core";
import { frameBox, leave, newPage, openBench, ownCache, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];
let fingers: CDPSession;

beforeAll(async () => { ownCache(); program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors } = await newPage({ width: 390, height: 844, touch: true }));
  fingers = await page.context().newCDPSession(page);
  await openBench(page, program.address, "v=timeline&0.expand=*&0.depth=6");
});
afterEach(async () => {
  await fingers.detach();
  await leave(page);
  expect(errors).toEqual([]);
});

type Point = [number, number];

async function touch(type: "touchStart" | "touchMove" | "touchEnd", ...at: Point[]): Promise<void> {
  await fingers.send("Input.dispatchTouchEvent", { type, touchPoints: at.map(([x, y], id) => ({ x, y, id })) });
}

test("one finger moves the time and scrolls the rows, two zoom it", async () => {
  const f = await frameBox(page);
  const [x, y] = [f.x + f.w / 2, f.y + f.h / 2];
  await touch("touchStart", [x - 30, y], [x + 30, y]);
  for (const d of [40, 60, 90]) await touch("touchMove", [x - d, y], [x + d, y]);
  await touch("touchEnd");
  await settled(page);
  const near = (await state(page)).window;
  expect((near.end - near.begin) / 1.98e9).toBeCloseTo(1 / 3, 1);
  await touch("touchStart", [x, y]);
  for (const d of [20, 40, 60]) await touch("touchMove", [x - d, y - d]);
  await touch("touchEnd");
  await settled(page);
  const moved = (await state(page)).window;
  expect(moved.end - moved.begin).toBeCloseTo(near.end - near.begin, -3);
  expect((moved.begin - near.begin) / (near.end - near.begin)).toBeCloseTo(60 / f.w, 1);
  expect(page.url()).toMatch(/0\.scroll=\d+/);
  expect((await state(page)).time).toBeNull();
});

test("a tap chooses, and a finger that is held and then moved selects a time", async () => {
  const f = await frameBox(page);
  await page.touchscreen.tap(f.x + f.w * 0.31, f.y + f.h * 0.5);
  await expect.poll(async () => (await state(page)).locations.length).toBe(1);
  await page.keyboard.press("Escape");
  await touch("touchStart", [f.x + f.w * 0.25, f.y + f.h / 2]);
  await page.getByText("Move the finger to select").waitFor();
  for (const share of [0.35, 0.5]) await touch("touchMove", [f.x + f.w * share, f.y + f.h / 2 + 1]);
  await touch("touchEnd");
  const { time, window } = await state(page);
  expect(time!.begin / window.end).toBeCloseTo(0.25, 1);
  expect(time!.end / window.end).toBeCloseTo(0.5, 1);
});

test("fingers reach the panels, lists and facts", async () => {
  await openBench(page, program.address, "");
  await page.getByLabel("Panel on the screen").selectOption({ index: 1 });
  await settled(page);
  await page.getByRole("button", { name: "Lists" }).tap();
  await page.getByRole("treeitem", { name: /node05/ }).tap();
  expect((await state(page)).locations.length).toBe(1);
  await page.getByRole("button", { name: "Findings, facts" }).tap();
  await page.getByRole("complementary", { name: "Inspector" }).waitFor();
  const small = await page.evaluate(() => [...document.querySelectorAll<HTMLElement>("button, a[href], input, select, [role=tab], [role=treeitem], [role=option]")]
    .map((e) => ({ e, r: e.getBoundingClientRect() })).filter(({ r }) => r.width > 0 && (r.width < 23.5 || r.height < 23.5)).map(({ e, r }) => `${Math.round(r.width)}×${Math.round(r.height)} ${e.className} ${e.textContent?.slice(0, 20)}`));
  expect(small).toEqual([]);
});

test("the page is as wide as the screen, with all that the strip offers in it", async () => {
  for (const width of [390, 768, 1024]) {
    await page.setViewportSize({ width, height: 844 });
    await openBench(page, program.address, "");
    await page.locator(".strip-tools").getByRole("button", { name: "Keep" }).waitFor();
    const beyond = await page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".bar button, .strip button, .panel-head button, .crumbs button, .narrow select")]
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5 && e.getBoundingClientRect().width > 0).map((e) => e.textContent || e.title));
    expect(beyond).toEqual([]);
    expect(await page.evaluate(() => document.querySelector(".page")!.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }
});
