// The picture of calls: a double click opens a subtree and selects nothing.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, openBench, picture, putOff, serve, settled, state, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => {
  program = await serve("demo:quicksort");
  ({ context, page, errors } = await browse());
  await openBench(page, program.address, "v=kaleidoscope&0.paint=region");
});
afterAll(async () => {
  await context?.close();
  await program?.stop();
});

const options = () => page.evaluate(() => {
  const bench = (window as unknown as { parallax: { layout: { value: { rows: { panels: { options: Record<string, string[]> }[] }[] } } } }).parallax;
  return bench.layout.value.rows[0].panels[0].options;
});

/** The middle of the second shape, in the page: the call D of the paper. */
async function shape(): Promise<[number, number]> {
  const box = (await picture(page).boundingBox())!;
  const at = await page.evaluate(() => {
    const host = document.querySelector(".picture") as unknown as { picture: { scene: { layers: { name: string; marks: { kind: string; offsets: ArrayLike<number>; x: ArrayLike<number>; y: ArrayLike<number> }[] }[] } } };
    const m = host.picture.scene.layers.find((l) => l.name === "families")!.marks.find((k) => k.kind === "polygon")!;
    let [x, y] = [0, 0];
    const [from, to] = [m.offsets[1], m.offsets[2]];
    for (let i = from; i < to; i++) [x, y] = [x + m.x[i] / (to - from), y + m.y[i] / (to - from)];
    return { x, y };
  });
  return [box.x + at.x, box.y + at.y];
}

it("opens a subtree on a double click, by location, and selects nothing", async () => {
  await page.mouse.dblclick(...(await shape()));
  await page.waitForFunction(() => location.search.includes("0.root="));
  await settled(page);
  await putOff(page, 400); // longer than a click waits for a second one
  expect(await state(page)).toMatchObject({ locations: [], regions: [], time: null });
  expect(await options()).toMatchObject({ root: ["4"], paint: ["location"] });
  await page.getByRole("button", { name: "whole tree" }).click();
  await settled(page);
  expect(await options()).toEqual({ paint: ["region"] });
});

it("leads up from the subtree of a leaf, which is a disc", async () => {
  await openBench(page, program.address, "v=kaleidoscope&0.root=22");
  const trail = page.getByRole("navigation", { name: "Callers" });
  expect(await trail.getByRole("button").allInnerTexts()).toEqual(["whole tree", "query", "qsort/3", "qsort/3", "qsort/3", "qsort/3 empty"]);
  await trail.getByRole("button", { name: "qsort/3" }).first().click();
  await settled(page);
  expect(await options()).toMatchObject({ root: ["1"] });
  await trail.getByRole("button", { name: "whole tree" }).click();
  await settled(page);
  expect(await trail.getByRole("button").allInnerTexts()).toEqual(["whole tree"]);
});

/** How far the drawn shapes reach from left to right, in pixels. */
const reach = () => page.evaluate(() => {
  const host = document.querySelector(".picture") as unknown as { picture: { scene: { layers: { name: string; marks: { kind: string; x: Float32Array }[] }[] } } };
  const xs = host.picture.scene.layers.find((l) => l.name === "families")!.marks.filter((m) => m.kind === "polygon").flatMap((m) => [...m.x]);
  return { width: Math.max(...xs) - Math.min(...xs) };
});

// The actions of the paper, one after the other.
it("is drawn to scale when the window is resized, and moves with it", async () => {
  await openBench(page, program.address, "v=kaleidoscope&0.paint=region");
  const [before, size] = [await reach(), page.viewportSize()!];
  await page.setViewportSize({ width: Math.round(size.width * 0.9), height: Math.round(size.height * 0.6) });
  await expect.poll(async () => (await reach()).width).toBeLessThan(before.width * 0.75);
  await page.setViewportSize(size);
  await expect.poll(async () => (await reach()).width).toBeCloseTo(before.width, 0);
});

it("zooms with the wheel, changes the centre with a drag, and finds back", async () => {
  const before = await reach();
  const box = (await picture(page).boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -120);
  await page.waitForFunction(() => location.search.includes("0.zoom="));
  await settled(page);
  const larger = await reach();
  expect(larger.width).toBeGreaterThan(before.width * 1.5);
  expect(await page.getByRole("button", { name: "Play" }).isVisible(), "the numbers of a zoom push no control out").toBe(true);
  const side = Math.min(box.width, box.height);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 120, y, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const [factor, centre] = (await options()).zoom[0].split(",").map(Number);
  expect(centre * factor * side / 2, "what is drawn lies 120 pixels further right").toBeCloseTo(-120, 0);
  await page.getByRole("button", { name: "whole tree" }).click();
  await settled(page);
  expect((await reach()).width).toBeCloseTo(before.width, 0);
});

it("comes closer where two fingers go apart, and back where they come together", async () => {
  const touched = await browse({ touch: true });
  const page = touched.page;
  const reading = () => page.evaluate(() => {
    const bench = (window as unknown as { parallax: { layout: { value: { rows: { panels: { options: Record<string, string[]> }[] }[] } } } }).parallax;
    return bench.layout.value.rows[0].panels[0].options.zoom?.[0] ?? "1,0,0";
  });
  try {
    await openBench(page, program.address, "v=kaleidoscope&0.paint=region");
    const fingers = await page.context().newCDPSession(page);
    const box = (await picture(page).boundingBox())!;
    const [x, y, side] = [box.x + box.width / 2 + 60, box.y + box.height / 2 - 30, Math.min(box.width, box.height)];
    const send = (type: "touchStart" | "touchMove" | "touchEnd", apart?: number) => fingers.send("Input.dispatchTouchEvent", {
      type, touchPoints: apart ? [{ x: x - apart / 2, y, id: 0 }, { x: x + apart / 2, y, id: 1 }] : [],
    });
    const pinch = async (...apart: number[]) => {
      await send("touchStart", apart[0]);
      for (const a of apart.slice(1)) await send("touchMove", a);
      await send("touchEnd");
      await settled(page);
    };
    await pinch(60, 90, 120, 180, 240);
    await page.waitForFunction(() => location.search.includes("0.zoom="));
    await settled(page);
    const [factor, atX, atY] = (await reading()).split(",").map(Number);
    expect(factor, "as much closer as the fingers went apart").toBeCloseTo(4, 1);
    // What was between the fingers stays there: 60 and -30 pixels from the middle.
    expect((60 / (side / 2) - atX) * factor * side / 2).toBeCloseTo(60, 0);
    expect((-30 / (side / 2) - atY) * factor * side / 2).toBeCloseTo(-30, 0);
    await pinch(240, 180, 120);
    await expect.poll(async () => Number((await reading()).split(",")[0])).toBeCloseTo(2, 1);
    expect(touched.errors).toEqual([]);
  } finally {
    await touched.context.close();
  }
});

it("has the three views of one image", async () => {
  const shapes: number[] = [];
  for (const paint of ["location", "time", "region"]) {
    await openBench(page, program.address, `v=kaleidoscope&0.paint=${paint}`);
    shapes.push((await reach()).width);
  }
  expect(new Set(shapes).size).toBe(1);
});

it("tells the procedure of the node under the pointer", async () => {
  await page.mouse.move(...(await shape()));
  await page.getByText("(qsort/3 5, 3, 1)").first().waitFor();
});

it("exits when the panel is closed", async () => {
  await openBench(page, program.address, "v=kaleidoscope,profile");
  await page.getByRole("button", { name: "Close panel" }).first().click();
  expect(await page.getByRole("img", { name: /^Kaleidoscope/ }).count()).toBe(0);
});

it("selects on a single click", async () => {
  await openBench(page, program.address, "v=kaleidoscope&0.paint=region");
  await page.mouse.click(...(await shape()));
  await page.waitForFunction(() => location.search.includes("regions="));
  expect((await state(page)).regions).toHaveLength(1);
  expect(errors).toEqual([]);
});

it("flies to a call that is not drawn, and opens sectors on a double click", async () => {
  const large = await serve("demo:stencil?intervals=60000");
  try {
    await openBench(page, large.address, "v=kaleidoscope&0.paint=region");
    const calls = () => page.evaluate(() => {
      const host = document.querySelector(".picture") as unknown as { picture: { scene: { description: string } } };
      return host.picture.scene.description;
    });
    expect(await calls()).toMatch(/Kaleidoscope of [67]\d,\d+ calls/);
    await page.locator("#search").fill("MPI");
    const hit = page.locator(".hit").filter({ hasText: " at " }).first();
    await hit.waitFor();
    await hit.click();
    await page.waitForFunction(() => /0\.zoom=[\d.e]+(,|%2C)/.test(location.search));
    await settled(page);
    expect(Number((await options()).zoom[0].split(",")[0])).toBeGreaterThan(20);
    await page.getByRole("button", { name: "whole tree" }).click();
    await settled(page);
    const box = (await picture(page).boundingBox())!;
    await page.mouse.dblclick(box.x + box.width / 2 + box.height * 0.36, box.y + box.height / 2 + box.height * 0.1);
    await page.waitForFunction(() => location.search.includes("0.zoom="));
    await settled(page);
    expect(Number((await options()).zoom[0].split(",")[0])).toBeGreaterThan(2);
  } finally {
    await large.stop();
  }
});
