import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Download, Page } from "playwright-core";
import { contents, fingerprints, frameBox, leave, newPage, openBench, picture, putOff, serve, settled, state, type BrowserOptions, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
async function open(options?: BrowserOptions): Promise<void> {
  ({ page, errors } = await newPage(options));
  await openBench(page, program.address);
}
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

describe("with the keyboard alone", () => {
  beforeEach(() => open());
  test("one zooms, moves, goes back, finds help, commands and views", async () => {
    await page.keyboard.press("w");
    await page.keyboard.press("w");
    await settled(page);
    const near = (await state(page)).window;
    expect(near.end - near.begin).toBeLessThan(1.3e9);
    await page.keyboard.press("d");
    expect((await state(page)).window.begin).toBeGreaterThan(near.begin);
    await page.keyboard.press("a");
    await page.keyboard.press("s");
    await page.keyboard.press("s");
    expect((await state(page)).window.begin).toBe(0);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Help" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+Shift+P");
    await page.getByRole("textbox", { name: "Find a command" }).waitFor();
    await page.keyboard.type("dark th");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    const views = (await state(page)).views;
    await page.keyboard.press("2");
    await settled(page);
    expect((await state(page)).views[0]).not.toBe(views[0]);
  });
  test("one chooses in a picture, in the tree and in the regions", async () => {
    await page.locator(".panel").first().focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await state(page)).locations.length).toBe(1);
    await page.keyboard.press("Escape");
    await page.getByRole("tree").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await state(page)).locations.length).toBe(1);
    // What was chosen before is shown in the tree when its rows have come, at any time: the cursor goes there once.
    const turn = (from: string, key: string) => async () => {
      await page.keyboard.press("Home");
      const open = () => page.locator(".tree-row.cursor").getAttribute("aria-expanded");
      if ((await open()) === from) await page.keyboard.press(key);
      return open();
    };
    await expect.poll(turn("true", "ArrowLeft")).toBe("false");
    await expect.poll(turn("false", "ArrowRight")).toBe("true");
    await page.getByRole("listbox", { name: "Regions" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect((await state(page)).regions.length).toBe(1);
  });
  test("Tab reaches every part of the page, and the focus is always seen", async () => {
    const seen = new Set<string>();
    const unseen: string[] = [];
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const e = document.activeElement as HTMLElement;
        const marked = (x: Element | null) => x !== null && getComputedStyle(x).outlineStyle !== "none" && parseFloat(getComputedStyle(x).outlineWidth) > 0;
        const box = e.getBoundingClientRect();
        return {
          name: e === document.body ? "BODY" : e.getAttribute("aria-label") || e.textContent || e.tagName,
          seen: marked(e) || marked(e.querySelector(".cursor")) || (e.id === "search" && getComputedStyle(e.parentElement!).borderColor === "rgb(31, 95, 208)"),
          shown: box.width > 0 && box.height > 0,
          where: e.closest(".bar, .side-left, .crumbs, .minimap, .panel, .side-right, .status")?.className.split(" ")[0] + (e.closest(".side-right") ? "-right" : ""),
        };
      });
      if (at.name === "BODY") continue; // once round
      if (!at.seen || !at.shown) unseen.push(at.name);
      seen.add(at.where);
    }
    expect(unseen).toEqual([]);
    expect([...seen]).toEqual(expect.arrayContaining(["bar", "side", "crumbs", "panel", "side-right", "status"]));
  });
});

describe("exported files", () => {
  beforeEach(() => open());
  const fetchFile = async (label: string): Promise<Buffer> => {
    await page.locator(".panel").first().getByRole("button", { name: "Export this panel" }).click();
    const [download] = await Promise.all([page.waitForEvent("download") as Promise<Download>, page.getByRole("menuitem", { name: new RegExp(`^${label}\\b(?!,)`) }).click()]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`timeline.*\\.${label.slice(0, 3).toLowerCase()}`));
    return contents(download);
  };
  test("are what they say, of what is on screen", async () => {
    await page.getByRole("treeitem", { name: /node05/ }).click();
    await page.keyboard.press("o");
    await settled(page);
    const svg = (await fetchFile("SVG")).toString();
    expect(svg).toMatch(/^(<\?xml[^>]*>\s*)?<svg[\s\S]*<\/svg>\s*$/);
    expect(svg).toContain("node05");
    expect(svg).not.toContain("node04");
    expect((await fetchFile("PNG")).subarray(1, 4).toString()).toBe("PNG");
    expect((await fetchFile("PDF")).subarray(0, 5).toString()).toBe("%PDF-");
    const json = JSON.parse((await fetchFile("JSON")).toString()) as { view: string; data: object };
    expect(json.view).toBe("timeline");
    const csv = (await fetchFile("CSV")).toString().trim().split(/\r?\n/);
    expect(csv.length).toBeGreaterThan(8);
    expect(csv[0]).toMatch(/,/);
    // What is drawn and every row of the selection are two files; the timeline offers both.
    const whole = (await fetchFile("CSV, all")).toString().trim().split(/\r?\n/);
    expect(whole.length).toBeGreaterThan(csv.length);
    expect((await fetchFile("JPG")).subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
  });
});

describe("the look", () => {
  test("is dark where the system is, without asking the server again", async () => {
    await open({ dark: true });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await ground()).toBe("rgb(20, 22, 26)");
    const corner = () => page.evaluate(() => [...(document.querySelector(".picture") as unknown as { picture: { read(): ImageData } }).picture.read().data.subarray(0, 3)]);
    expect(await corner()).toEqual([20, 22, 26]);
    let asked = 0;
    page.on("request", () => asked++);
    await page.emulateMedia({ colorScheme: "light" });
    await expect.poll(ground).toBe("rgb(255, 255, 255)");
    await expect.poll(corner).toEqual([255, 255, 255]);
    expect(asked).toBe(0);
  });
  test.each([[1280, 720, 1], [1920, 1080, 1], [3840, 2160, 1], [1920, 1080, 2]])("fits %d × %d at scale %d", async (width, height, scale) => {
    await open({ width, height, scale });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight)).toBe(true);
    const boxes = await page.evaluate(() => [...document.querySelectorAll(".panel-body")].map((e) => e.getBoundingClientRect()).map((r) => ({ w: r.width, h: r.height, right: r.right, bottom: r.bottom })));
    for (const b of boxes) {
      expect(b.w).toBeGreaterThan(200);
      expect(b.h).toBeGreaterThan(90);
      expect(b.right).toBeLessThanOrEqual(width);
      expect(b.bottom).toBeLessThanOrEqual(height);
    }
    const size = await page.evaluate(() => (document.querySelector(".picture") as unknown as { picture: { read(): ImageData } }).picture.read().width / document.querySelector(".picture")!.clientWidth);
    expect(size).toBeCloseTo(scale, 1);
    for (const f of await fingerprints(page)) expect(f.colours).toBeGreaterThan(3);
  });
});

describe("for those who do not see it", () => {
  beforeEach(() => open());
  test("the page has landmarks, names and a sentence for each picture", async () => {
    const tree = await page.locator("body").ariaSnapshot();
    for (const part of ["banner", "main", "contentinfo", 'complementary "Inspector"', 'complementary "Locations and regions"', 'tree "Locations"', 'listbox "Regions"', 'navigation "Zooms"', "search"]) expect(tree).toContain(part);
    const labels = await page.locator(".canvas[role=img]").evaluateAll((l) => l.map((e) => e.getAttribute("aria-label") ?? ""));
    expect(labels.length).toBeGreaterThan(1);
    for (const l of labels) expect(l.split(" ").length).toBeGreaterThan(3);
    const nameless = await page.evaluate(() => [...document.querySelectorAll<HTMLElement>("button, input, select, [role=slider], [role=separator]")]
      .filter((e) => e.getAttribute("aria-hidden") !== "true" && !(e.getAttribute("aria-label") || e.textContent?.trim() || e.title || (e as HTMLInputElement).labels?.length))
      .map((e) => `${e.tagName}.${e.className}`));
    expect(nameless).toEqual([]);
  });
  test("each picture has a table with the numbers of its files, sorted as one likes", async () => {
    await openBench(page, program.address, "v=timeline~activity&1.bins=50");
    const panel = page.locator(".panel").last();
    await panel.focus();
    await page.keyboard.press("t");
    const table = panel.getByRole("grid");
    await table.waitFor();
    expect(await table.getAttribute("aria-rowcount")).toBe("51");
    const headers = await panel.getByRole("columnheader").allInnerTexts();
    const csv = await (await page.request.get(`http://127.0.0.1:${program.port}/api/runs/stencil/views/activity/export?format=csv&bins=50`)).text();
    expect(csv.trim().split(/\r?\n/).length).toBe(51);
    expect(headers.map((h) => h.trim())).toEqual(csv.split(/\r?\n/)[0].split(","));
    const begin = panel.getByRole("columnheader").first();
    const firstCell = () => panel.getByRole("row").nth(1).getByRole("cell").first().innerText();
    expect(await firstCell()).toBe("0 s");
    await begin.getByRole("button").click();
    await expect.poll(() => begin.getAttribute("aria-sort")).toBe("descending");
    await expect.poll(firstCell).toBe("1.94 s");
  });
});

test("going home asks for nothing of a run that is not there, and the run is found again", async () => {
  await open();
  await page.locator(".panel").first().focus();
  await page.keyboard.press("t");
  await page.locator(".twin").waitFor();
  const refused: string[] = [];
  page.on("response", (r) => { if (r.status() >= 400) refused.push(r.url()); });
  await page.getByTitle("Home: open another run").click();
  await page.getByLabel("Files to open").waitFor({ state: "attached" });
  await putOff(page, 300);
  expect(refused).toEqual([]);
  await page.goBack();
  await settled(page);
});

test("one panel alone can be embedded", async () => {
  await open();
  await page.goto(`http://127.0.0.1:${program.port}/?embed=timeline&run=stencil&0.links=none&theme=dark`);
  await page.waitForSelector(".picture");
  await settled(page);
  expect(await page.locator(".panel").count()).toBe(1);
  expect(await page.locator(".bar").count()).toBe(0);
  expect((await frameBox(page)).w).toBeGreaterThan(800);
  expect(page.url()).toContain("embed=timeline");
  expect(page.url()).toContain("0.links=none");
  expect(await picture(page).count()).toBe(1);
});
