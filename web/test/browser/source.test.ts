// The lines of the program: from a region to its line, from a line to the next, and out to an editor.

import { resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, picture, serve, settled, state, type Program } from "./bench";

const data = resolve(import.meta.dirname, "../../../internal/importer/callgrind/testdata");
let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("--source", data, "--editor", "vscode", resolve(data, "callgrind.out.gz")); });
afterAll(() => program.stop());
beforeEach(async () => { ({ page, errors } = await newPage({ width: 1400 })); });
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

const query = "v=source&0.file=work.c";

/** Where a line of the file is on the page: all of them fit. */
async function lineAt(line: number): Promise<[number, number]> {
  const box = (await picture(page).boundingBox())!;
  const frame = await page.evaluate(() => {
    const host = document.querySelector(".picture") as unknown as { picture: { shown: { scene: { frames: { name: string; x: number; y: number }[] } } } };
    return host.picture.shown.scene.frames.find((f) => f.name === "lines")!;
  });
  return [box.x + frame.x + 100, box.y + frame.y + 17 * (line - 1) + 8];
}

test("a line that is chosen selects its region and opens in the editor, at the file that was found", async () => {
  await openBench(page, program.address, query);
  expect(await page.locator(".canvas").last().getAttribute("aria-label")).toMatch(/^Lines of work\.c/);
  await page.mouse.click(...(await lineAt(5)));
  await settled(page);
  await page.mouse.move(5, 5); // away from the line, whose numbers stay
  const link = page.getByRole("link", { name: "Open in editor" });
  expect(await link.getAttribute("href")).toBe(`vscode://file${data}/work.c:5`);
  expect(await page.locator(".side-right").innerText()).toMatch(/work\.c:5/);
});

test("n and p go from the hottest line to the next and back", async () => {
  await openBench(page, program.address, query);
  await page.mouse.click(...(await lineAt(16))); // a line without a value: the panel has the keys
  await page.keyboard.press("n");
  await expect.poll(() => page.url()).toContain("hot");
  await settled(page);
  expect(decodeURIComponent(page.url())).toContain("0.line=hot:2");
  await page.keyboard.press("p");
  await expect.poll(() => decodeURIComponent(page.url())).not.toContain("0.line=hot:2");
});

test("a region in the list leads to its line", async () => {
  await openBench(page, program.address, "v=profile");
  await page.locator(".region-row", { hasText: /^fib/ }).first().dblclick();
  await settled(page);
  expect((await state(page)).views).toEqual(["profile", "source"]);
  expect(decodeURIComponent(page.url())).toMatch(/1\.file=[^&]*\/work\.c&1\.line=5$/);
});
