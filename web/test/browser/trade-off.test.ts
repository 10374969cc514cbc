// The slider of p tells of the picture that is shown, and of no other.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, serve, settled, type Program } from "./bench";

let program: Program;
beforeAll(async () => { program = await serve("demo:g5k188"); });
afterAll(() => program.stop());

interface Step { from: number; to: number }

const slider = (page: Page) => page.locator(".tick-slider output").innerText();
const note = async (page: Page) => (await page.locator(".panel-note").first().getAttribute("title"))!.split("\n")[0]!;
const numbers = (text: string) => /gain (.*? %), loss (.*? %)/.exec(text)?.slice(1, 3);

/** What the slider and the note in the panel tell of the same picture. */
async function told(page: Page): Promise<void> {
  await settled(page);
  await expect.poll(async () => numbers(await slider(page))).toEqual(numbers(await note(page)));
  expect(numbers(await note(page))).toBeDefined();
}

for (const [view, more] of [["treemap", ""], ["overview", "&0.bins=8"]] as const) {
  test(`${view}: slider and note agree at the first p and beside every threshold`, async () => {
    const { page, errors } = await newPage();
    await openBench(page, program.address, `v=${view}${more}`);
    await told(page);
    expect((await page.locator(".panel-note").first().getAttribute("title"))!).toMatch(/p = [\d.]+, chosen: /);
    // Asked for by itself: the page may send it in one request with others.
    const steps = await page.evaluate(async ([name, options]) => {
      const run = new URL(location.href).searchParams.get("run") ?? "g5k188";
      const r = await fetch(`/api/runs/${run}/views/${name}/data?p=1${options}`);
      return ((await r.json()) as { data: { stretches: Step[] } }).data.stretches;
    }, [view, more.replace("0.", "")] as const);
    expect(steps.length).toBeGreaterThan(3);
    for (const k of [1, Math.floor(steps.length / 2), steps.length - 1]) {
      for (const by of [-1e-7, 1e-7]) {
        await openBench(page, program.address, `v=${view}${more}&0.p=${steps[k]!.from + by}`);
        await told(page);
      }
    }
    expect(errors).toEqual([]);
    await leave(page);
  });
}

test.each([1000, 1500, 1920])("the slider's text is whole in a page of %d pixels, beside other panels", async (width) => {
  const { page, errors } = await newPage({ width, height: 900 });
  await openBench(page, program.address, "v=timeline,moments~treemap,profile");
  await settled(page);
  await expect.poll(() => slider(page)).toMatch(/loss .* %, \d+ parts$/);
  const cut = await page.locator(".tick-slider output").evaluate((e) => {
    const [text, bar] = [document.createRange(), e.closest(".tick-slider")!.getBoundingClientRect()];
    text.selectNodeContents(e);
    const [t, o] = [text.getBoundingClientRect(), e.getBoundingClientRect()];
    return { right: t.right > Math.min(o.right, bar.right) + 1, left: t.left < o.left - 1, below: t.bottom > o.bottom + 3 };
  });
  expect(cut).toEqual({ right: false, left: false, below: false });
  expect(errors).toEqual([]);
  await leave(page);
});
