// Two runs side by side: one zoom, and a shift by hand.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { drag, frameBox, leave, newPage, openBench, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("--run", "slow=demo:stencil", "--run", "even=demo:stencil?balanced"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors } = await newPage());
  await openBench(page, program.address, "run=slow&t=400000000-900000000&v=timeline~timeline&1.run=even");
});
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

/** The time that a panel's picture shows. */
const shown = (n: number) => page.evaluate((i) => {
  const host = document.querySelectorAll(".picture")[i] as unknown as { picture: { wants: { window: { begin: number; end: number } } } };
  return host.picture.wants.window;
}, n);

test("zooming in either run zooms both", async () => {
  const f = await frameBox(page, 0);
  await page.mouse.move(f.x + f.w / 2, f.y + f.h / 2);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -400);
  await page.keyboard.up("Control");
  await settled(page);
  const { window } = await state(page);
  expect(await shown(1)).toEqual(window);
  const g = await frameBox(page, 1);
  await page.mouse.move(g.x + g.w / 3, g.y + g.h / 2);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -400);
  await page.keyboard.up("Control");
  await settled(page);
  const closer = (await state(page)).window;
  expect(closer.end - closer.begin).toBeLessThan(window.end - window.begin);
  expect(await shown(1)).toEqual(closer);
});

test("the other run is moved by a drag along its axis or by a number, and the address keeps it", async () => {
  const { window } = await state(page);
  const g = await frameBox(page, 1);
  await drag(page, [g.x + g.w / 2, g.y + g.h + 8], [g.x + g.w * 0.75, g.y + g.h + 8]);
  await settled(page);
  const moved = await shown(1);
  const quarter = (window.end - window.begin) / 4;
  expect(Math.abs(window.begin - moved.begin - quarter)).toBeLessThan(quarter * 0.1);
  expect((await state(page)).window).toEqual(window);
  expect(page.url()).toMatch(/1\.moved=\d+/);
  await page.reload();
  await page.waitForSelector(".panel .picture");
  await settled(page);
  expect(await shown(1)).toEqual(moved);
  const field = page.getByLabel("Move this run by this much time");
  await field.fill("-5 ms");
  await field.press("Enter");
  await settled(page);
  expect((await shown(1)).begin).toBe(window.begin + 5e6);
  await field.fill("");
  await field.press("Enter");
  await settled(page);
  expect(await shown(1)).toEqual(window);
});

/** The time axis of a panel, where its run ends on it, and how many colours there are just before the axis' end. */
const axis = (n: number) => page.evaluate((i) => {
  const host = document.querySelectorAll(".picture")[i] as unknown as { clientWidth: number; picture: { wants: { runEnd?: number }; read(): ImageData; scene: { frames: { x: number; y: number; w: number; h: number; xScale: { begin: number; end: number } }[] } } };
  const [{ x, y, w, h, xScale }] = host.picture.scene.frames;
  const pixels = host.picture.read();
  const colours = (at: number) => new Set(Array.from({ length: Math.floor(h) - 2 }, (_, k) => {
    const o = 4 * ((Math.floor(y) + 1 + k) * pixels.width + Math.floor(at));
    return pixels.data.slice(o, o + 3).join();
  })).size;
  const runEnd = host.picture.wants.runEnd ?? xScale.end;
  const last = x + (w * (runEnd - xScale.begin)) / (xScale.end - xScale.begin);
  return { begin: xScale.begin, end: xScale.end, w, runEnd, inside: colours((x + last) / 2), after: last < x + w - 3 ? colours((last + x + w) / 2) : -1 };
}, n);

test("runs that the command line names open with the verdict, and one above the other on one scale, the shorter one ending earlier", async () => {
  for (const dark of [false, true]) {
    await leave(page);
    ({ page, errors } = await newPage({ dark }));
    await openBench(page, program.address, "");
    await expect.poll(async () => (await axis(2)).end === (await axis(3)).end).toBe(true); // once both lengths are known
    await settled(page);
    expect((await state(page)).views).toEqual(["compare", "compare", "timeline", "timeline"]);
    const [a, b] = [await axis(2), await axis(3)];
    expect([b.begin, b.end, Math.round(b.w)]).toEqual([a.begin, a.end, Math.round(a.w)]);
    const short = a.runEnd < b.runEnd ? a : b;
    expect(short.runEnd).toBeLessThan(short.end);
    expect(short.inside).toBeGreaterThan(3);
    expect(short.after).toBeGreaterThanOrEqual(1);
    expect(short.after).toBeLessThanOrEqual(2); // the ground, and lines between rows
    expect(await page.getByText("another scale").count()).toBe(0);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/beside-${dark ? "dark" : "light"}.png` });
  }
});

test("a run that is moved before its beginning says that it has another scale", async () => {
  await page.goto(page.url().replace(/&t=[^&]*/, ""));
  await page.waitForSelector(".panel .picture");
  await settled(page);
  const field = page.getByLabel("Move this run by this much time");
  await field.fill("200 ms");
  await field.press("Enter");
  await settled(page);
  expect(await page.locator(".panel").nth(1).innerText()).toContain("another scale");
});

test("beside another run every panel says whose it is, and only time axes can be moved", async () => {
  const names = () => page.$$eval(".panel-head", (heads) => heads.map((h) => h.querySelector(".chips .chip .name")?.textContent ?? ""));
  const [own, other] = await names();
  expect(own).not.toBe("");
  expect(other).not.toBe("");
  expect(own).not.toBe(other);
  const field = page.getByLabel("Move this run by this much time");
  expect(await field.count()).toBe(1);
  await page.evaluate(() => {
    const bench = (window as unknown as { parallax: { layout: { value: { rows: { panels: { id: string }[] }[] } }; setView(id: string, view: string): void } }).parallax;
    bench.setView(bench.layout.value.rows.flatMap((r) => r.panels)[1]!.id, "profile");
  });
  await settled(page);
  expect(await field.count()).toBe(0);
  expect((await names())[1]).toBe(other);
});

test("the other run is laid over the page's own where a step begins", async () => {
  const before = await shown(1);
  await page.getByRole("button", { name: "align by phase" }).click();
  await page.getByText("begins at the same place in both").waitFor();
  await settled(page);
  expect(new URL(page.url()).searchParams.get("1.moved")).not.toBeNull();
  expect((await shown(1)).begin).not.toBe(before.begin);
  expect((await shown(1)).end - (await shown(1)).begin).toBe((await shown(0)).end - (await shown(0)).begin);
});

test("a region that is chosen in the picture of the other run is chosen in both, by its name", async () => {
  await page.goto(page.url().replace(/([?&])v=[^&]*/, "$1v=profile~profile"));
  await page.waitForSelector(".panel .picture");
  await settled(page);
  const at = await page.evaluate(() => {
    const host = document.querySelectorAll(".picture")[1] as HTMLElement & { picture: { known(x: number, y: number): { regions?: number[] } | null | undefined } };
    for (let y = 4; y < host.clientHeight; y += 4) for (let x = 4; x < host.clientWidth; x += 8) if (host.picture.known(x, y)?.regions?.length === 1) return { x, y };
    return { x: 0, y: 0 };
  });
  const box = (await page.locator(".picture").nth(1).boundingBox())!;
  await page.mouse.click(box.x + at.x, box.y + at.y);
  await expect.poll(async () => (await state(page)).regions.length).toBe(1);
  await settled(page);
  const regions = await page.evaluate(() => {
    type Rows = { id: number; name: string }[];
    const bench = (window as unknown as { parallax: { layout: { value: { rows: { panels: unknown[] }[] } }; regionsFor(p: unknown): string[]; regionsOf(run: string): Rows; regions: { value: Rows } } }).parallax;
    const panels = bench.layout.value.rows.flatMap((r) => r.panels);
    const name = (rows: Rows, p: unknown) => rows.find((r) => `#${r.id}` === bench.regionsFor(p)[0])?.name;
    return [name(bench.regions.value, panels[0]), name(bench.regionsOf("even"), panels[1])];
  });
  expect(regions[0]).toBeTruthy();
  expect(regions[1]).toBe(regions[0]);
});
