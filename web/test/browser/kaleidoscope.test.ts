// The picture of calls: a double click opens a subtree and selects nothing.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, openBench, picture, serve, settled, state, type Program } from "./bench";

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
    const host = document.querySelector(".picture") as unknown as { picture: { scene: { layers: { marks: { kind: string; offsets: ArrayLike<number>; x: ArrayLike<number>; y: ArrayLike<number> }[] }[] } } };
    const m = host.picture.scene.layers[0].marks.find((k) => k.kind === "polygon")!;
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
  await page.waitForTimeout(400); // longer than a click waits for a second one
  expect(await state(page)).toMatchObject({ locations: [], regions: [], time: null });
  expect(await options()).toMatchObject({ root: ["4"], paint: ["location"] });
  await page.getByRole("button", { name: "whole tree" }).click();
  await settled(page);
  expect(await options()).toEqual({ paint: ["region"] });
});

it("selects on a single click", async () => {
  await page.mouse.click(...(await shape()));
  await page.waitForFunction(() => location.search.includes("regions="));
  expect((await state(page)).regions).toHaveLength(1);
  expect(errors).toEqual([]);
});
