// The address: every choice is a step of the browser's history, a restarted server
// lets the page go on, and a copied address opens elsewhere.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, drag, frameBox, openBench, ownAddress, serveAt, settled, state, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => {
  program = await serveAt(`${ownAddress()}:0`, "demo:stencil");
  ({ context, page, errors } = await browse());
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await openBench(page, program.address);
});
afterAll(async () => {
  await context?.close();
  await program?.stop();
});

it("goes back over a choice and forward to it, on the same panels", async () => {
  const whole = await state(page);
  await page.evaluate(() => document.querySelectorAll<HTMLElement>(".panel").forEach((p) => (p.dataset.kept = "yes")));
  const box = await frameBox(page);
  await drag(page, [box.x + box.w * 0.3, box.y + 8], [box.x + box.w * 0.5, box.y + 10]);
  await settled(page);
  const brushed = await state(page);
  expect(brushed.time).not.toBeNull();
  await page.keyboard.press("KeyF"); // zoom to the brush
  await settled(page);
  const zoomed = await state(page);
  expect(zoomed.window).not.toEqual(whole.window);
  await page.goBack();
  await settled(page);
  expect(await state(page)).toEqual(brushed);
  await page.goBack();
  await settled(page);
  expect(await state(page)).toEqual(whole);
  expect(page.url()).toContain("run=");
  await page.goForward();
  await settled(page);
  expect(await state(page)).toEqual(brushed);
  expect(await page.locator('.panel[data-kept="yes"]').count()).toBe(whole.views.length); // not built anew
});

it("goes back over a panel that was closed and an option that was set", async () => {
  const { views } = await state(page);
  await page.evaluate(() => {
    const bench = (window as unknown as { parallax: { layout: { value: { rows: { panels: { id: string }[] }[] } }; setOption(id: string, name: string, values: string[]): void } }).parallax;
    bench.setOption(bench.layout.value.rows[0].panels[0].id, "show", ["max"]);
  });
  await page.waitForFunction(() => location.search.includes("0.show=max"));
  await page.getByRole("button", { name: "Close panel" }).last().click();
  await settled(page);
  expect((await state(page)).views).toEqual(views.slice(0, -1));
  await page.goBack();
  await settled(page);
  expect((await state(page)).views).toEqual(views);
  expect(page.url()).toContain("0.show=max");
  await page.goBack();
  await settled(page);
  expect(page.url()).not.toContain("0.show=max");
});

it("copies an address that opens in another browser", async () => {
  await page.keyboard.press("Control+Shift+KeyP");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.type("copy the address");
  await page.keyboard.press("Enter");
  const read = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(read).toContain("token="); // waitForFunction takes a promise itself for true
  const address = await read();
  const other = await browse();
  await other.page.goto(address);
  await settled(other.page);
  expect(await state(other.page)).toEqual(await state(page));
  expect(other.page.url()).not.toContain("token");
  await other.context.close();
});

it("goes on when the server was restarted on its port", async () => {
  const before = await state(page);
  await program.stop();
  await page.keyboard.press("KeyW"); // a request that fails
  await page.waitForFunction(() => /does not answer/.test(document.body.textContent ?? ""));
  program = await serveAt(`${ownAddress()}:${program.port}`, "demo:stencil");
  await page.waitForFunction(() => !/does not answer/.test(document.body.textContent ?? ""));
  await page.goBack();
  await settled(page);
  expect(await state(page)).toEqual(before);
  expect(errors).toEqual([]);
});
