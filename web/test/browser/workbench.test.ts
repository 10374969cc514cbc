import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { drag, fingerprints, frameBox, leave, newPage, openBench, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];
let requests: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors, requests } = await newPage());
  await openBench(page, program.address);
});
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

const status = () => page.locator(".status-selection").innerText();

test("opens on an overview with pictures, tree, regions and figures", async () => {
  await page.goto(`http://127.0.0.1:${program.port}/`);
  await page.waitForSelector(".panel .picture");
  await settled(page);
  expect((await state(page)).views).toContain("timeline");
  for (const f of await fingerprints(page)) expect(f.colours).toBeGreaterThan(3);
  await expectText(page.locator(".run-menu"), /stencil.*64 ranks/s);
  expect(await page.locator(".tree-row").count()).toBeGreaterThan(7);
  await page.getByRole("option", { name: /relax_tile/ }).waitFor();
  await page.locator(".summary tbody tr").first().waitFor();
  expect(await status()).toBe("selection: whole run × all 64 ranks × all regions");
  expect(page.url()).not.toContain("token");
});

describe("zooming", () => {
  test("with the wheel moves the picture at once and ends with the exact one", async () => {
    const f = await frameBox(page);
    const now = await page.evaluate(([x, y]) => {
      const host = document.querySelector(".picture") as unknown as HTMLElement & { picture: { transform(i: number): { scaleX: number } } };
      host.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, ctrlKey: true, clientX: x, clientY: y, cancelable: true, bubbles: true }));
      return host.picture.transform(0).scaleX;
    }, [f.x + f.w / 2, f.y + f.h / 2]);
    expect(now).toBeCloseTo(Math.exp(0.25), 5);
    await settled(page);
    const { window } = await state(page);
    expect(window.begin).toBeGreaterThan(0);
    expect(await page.locator(".crumbs button").count()).toBe(2);
    await page.getByRole("button", { name: "whole run" }).click();
    await settled(page);
    expect((await state(page)).window.begin).toBe(0);
  });
  test("with a double click goes to the interval", async () => {
    const f = await frameBox(page);
    await page.mouse.dblclick(f.x + f.w * 0.31, f.y + f.h * 0.7);
    await settled(page);
    const { window } = await state(page);
    expect(window.end - window.begin).toBeLessThan(1.9e9);
  });
  test("on the minimap by dragging", async () => {
    const m = (await page.locator(".minimap").boundingBox())!;
    await drag(page, [m.x + m.width * 0.25, m.y + 20], [m.x + m.width * 0.5, m.y + 20]);
    await settled(page);
    const { window } = await state(page);
    expect(window.begin / 1.98e9).toBeCloseTo(0.25, 1);
    expect(window.end / 1.98e9).toBeCloseTo(0.5, 1);
  });
});

describe("one selection", () => {
  test("a brush in one panel is seen in the others, in words and in the address", async () => {
    const before = await fingerprints(page);
    const f = await frameBox(page);
    await drag(page, [f.x + f.w * 0.25, f.y + f.h / 2], [f.x + f.w * 0.5, f.y + f.h / 2 + 2]);
    await settled(page);
    const { time, locations } = await state(page);
    expect(time!.begin / 1.98e9).toBeCloseTo(0.25, 1);
    expect(time!.end / 1.98e9).toBeCloseTo(0.5, 1);
    expect(locations).toEqual([]);
    expect(page.url()).toMatch(/from=\d+&to=\d+/);
    expect(await status()).toMatch(/selection: \d+–\d+ ms × all 64 ranks/);
    expect((await fingerprints(page)).length).toBe(before.length);
    expect(await page.locator(".minimap-band").count()).toBe(1);
  });
  test("a click in the tree changes a second panel; undo brings it back", async () => {
    const n = (await state(page)).views.indexOf("activity");
    expect(n).toBeGreaterThanOrEqual(0);
    const before = (await fingerprints(page))[n];
    await page.getByRole("treeitem", { name: /node05/ }).click();
    await settled(page);
    await expect.poll(status).toMatch(/8 of 64 ranks/);
    const after = (await fingerprints(page))[n];
    expect(after.hash).not.toBe(before.hash);
    await page.keyboard.press("Control+z");
    await settled(page);
    expect((await fingerprints(page))[n].hash).toBe(before.hash);
    await page.keyboard.press("Control+Shift+z");
    await settled(page);
    expect((await fingerprints(page))[n].hash).toBe(after.hash);
    await page.keyboard.press("Escape");
    expect(await status()).toMatch(/all 64 ranks/);
  });
  test("a click in the picture keeps its facts and chooses its location", async () => {
    const f = await frameBox(page);
    await page.mouse.click(f.x + f.w * 0.31, f.y + f.h * 0.695);
    await page.locator(".fact-title").waitFor();
    await expect.poll(async () => (await state(page)).locations.length).toBe(1);
    await page.mouse.move(5, 5);
    expect(await page.locator(".fact-lines dt").allInnerTexts()).toContain("duration");
    await page.getByRole("button", { name: "Select its time" }).click();
    expect((await state(page)).time).not.toBeNull();
  });
  test("regions are chosen in the list, more with Ctrl, and by role", async () => {
    await page.getByLabel("Filter regions by name").fill("MPI");
    await page.getByRole("option", { name: /MPI_Waitall/ }).click();
    await page.getByRole("option", { name: /MPI_Allreduce/ }).click({ modifiers: ["Control"] });
    expect((await state(page)).regions.length).toBe(2);
    await expect.poll(status).toMatch(/2 of 25 regions/);
    await page.locator(".role-row", { hasText: "communication" }).click();
    expect((await state(page)).regions).toEqual(["role:communication"]);
  });
  test("hovering lights up the same instant and location elsewhere", async () => {
    const f = await frameBox(page);
    await page.mouse.move(f.x + f.w * 0.5, f.y + f.h * 0.31);
    await page.locator(".minimap-cross").waitFor();
    await page.locator(".inspect-facts .fact-title").waitFor();
    expect(await page.locator(".tip").innerText()).not.toBe("");
    await page.mouse.move(2, 2);
    await page.locator(".minimap-cross").waitFor({ state: "detached" });
  });
  test("a search selects", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("waitall");
    await page.locator("#search-results").getByRole("option", { name: /MPI_Waitall/ }).first().waitFor();
    await page.keyboard.press("Enter");
    expect((await state(page)).regions.length).toBe(1);
    expect(await page.getByRole("search").locator("input").inputValue()).toBe(""); // the next search begins anew
  });
});

describe("panels", () => {
  test("are added, maximised, shown as a table, closed", async () => {
    const many = (await state(page)).views.length;
    await page.locator(".panel").first().getByRole("button", { name: "More for this panel" }).click();
    await page.getByRole("menuitem", { name: "Split to the right" }).click();
    await settled(page);
    expect((await state(page)).views.length).toBe(many + 1);
    await page.locator(".panel").first().getByRole("button", { name: "Maximise" }).click();
    expect(await page.locator(".panel").count()).toBe(1);
    await page.getByRole("button", { name: "Restore" }).click();
    await page.locator(".panel").nth(1).getByRole("button", { name: "Close panel" }).click();
    expect((await state(page)).views.length).toBe(many);
    await page.locator(".panel").last().getByRole("button", { name: "Table view" }).click();
    await page.locator(".twin-row").first().waitFor();
    expect(Number(await page.locator(".twin").getAttribute("aria-rowcount"))).toBeGreaterThan(10);
  });
  test("have options from the one table, and say which are set", async () => {
    const before = (await fingerprints(page))[0];
    await page.locator(".panel").first().getByRole("button", { name: /^Options of/ }).click();
    await page.locator("#option-collapse").fill("node05");
    await page.keyboard.press("Enter");
    await settled(page);
    expect((await fingerprints(page))[0].hash).not.toBe(before.hash);
    expect(page.url()).toContain("0.collapse=node05");
    await page.keyboard.press("Escape");
    await page.locator(".panel-head .chip", { hasText: "Always as one row: node05" }).click();
    await settled(page);
    expect((await fingerprints(page))[0].hash).toBe(before.hash);
  });
});

test("groups of the timeline open and close by their labels, and many rows scroll", async () => {
  const before = (await fingerprints(page))[0];
  const f = await frameBox(page);
  const [x, y] = [f.x - 60, f.y + 4];
  await page.mouse.click(x, y);
  await settled(page);
  expect(page.url()).toMatch(/0\.collapse=%23\d+/);
  expect((await fingerprints(page))[0].hash).not.toBe(before.hash);
  expect(await page.getByRole("scrollbar", { name: "Rows" }).count()).toBe(0);
  await page.locator(".panel").first().getByRole("button", { name: /^Options of/ }).click();
  await page.locator("#option-expand").fill("*");
  await page.keyboard.press("Enter");
  await page.locator("#option-depth").fill("6");
  await page.keyboard.press("Escape");
  await settled(page);
  await page.getByRole("scrollbar", { name: "Rows" }).waitFor();
  const top = (await fingerprints(page))[0];
  await page.mouse.move(f.x + 50, f.y + 50);
  await page.mouse.wheel(0, 200);
  await settled(page);
  expect(page.url()).toMatch(/0\.scroll=\d+/);
  expect((await fingerprints(page))[0].hash).not.toBe(top.hash);
  await page.getByRole("scrollbar", { name: "Rows" }).focus();
  await page.keyboard.press("Home");
  await settled(page);
  expect(page.url()).not.toMatch(/scroll/);
});

test("a reload gives the same pictures", async () => {
  const f = await frameBox(page);
  await page.locator(".panel").first().getByRole("button", { name: /^Options of/ }).click();
  await page.locator("#option-links").selectOption("none");
  await page.keyboard.press("Escape");
  await page.getByRole("treeitem", { name: /node05/ }).click();
  await drag(page, [f.x + f.w * 0.3, f.y + 5], [f.x + f.w * 0.4, f.y + 6]);
  await page.keyboard.press("f");
  await settled(page);
  await page.mouse.move(2, 2);
  const [before, url, words] = [await fingerprints(page), page.url(), await status()];
  await page.reload();
  await page.waitForSelector(".picture");
  await settled(page);
  expect(page.url()).toBe(url);
  expect(await status()).toBe(words);
  expect((await state(page)).locations.length).toBe(1);
  expect(await fingerprints(page)).toEqual(before);
});

test("no request leaves for another host, and the page loads in less than 150 kB", async () => {
  expect(requests.filter((u) => !u.startsWith(`http://127.0.0.1:${program.port}/`) && !u.startsWith("data:"))).toEqual([]);
  const files = await Promise.all(["", "main.js", "main.css"].map(async (f) => (await page.request.get(`http://127.0.0.1:${program.port}/${f}`)).body()));
  expect(files.reduce((n, b) => n + gzipSync(b).length, 0)).toBeLessThan(150_000);
});

async function expectText(locator: { innerText(): Promise<string> }, pattern: RegExp): Promise<void> {
  expect(await locator.innerText()).toMatch(pattern);
}
