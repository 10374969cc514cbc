// The first screen of each kind of data: what it is, what is shown of it, and that no
// half of it is blank, on a desk and on a phone. Runs beside each other: beside.test.ts.

import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, fingerprints, openBench, openRun, putOff, serve, settled, state, type Program } from "./bench";

const file = (path: string) => resolve(import.meta.dirname, "../../..", path);

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => {
  program = await serve("demo:stencil");
  ({ context, page, errors } = await browse({ width: 1440, height: 900 }));
  await openBench(page, program.address, "");
});
afterAll(async () => {
  await context?.close();
  await program?.stop();
  expect(errors).toEqual([]);
});

/** How far entries of a legend stand off the line of those beside them: words alone and buttons, in one list. */
const legendOffsets = () => page.evaluate(() => [...document.querySelectorAll(".legend")].flatMap((legend) => {
  const tops = [...legend.querySelectorAll(".legend-entry")].map((e) => e.getBoundingClientRect().top).sort((a, b) => a - b);
  return tops.map((t, i) => t - (tops[i - 1] ?? t)).filter((d) => d > 0.5 && d < 20);
}));

/** What stands in the heads of panels and is not there as a whole. */
const cutInHeads = () => page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".panel-head")].flatMap((head) => {
  const to = head.getBoundingClientRect();
  return [...head.querySelectorAll<HTMLElement>(".panel-title, .panel-tools button, .panel-controls .chip, .chips .chip")].filter((e) => {
    const at = e.getBoundingClientRect();
    const box = (e.closest(".segments, .panel-controls, .chips") ?? head).getBoundingClientRect();
    if (at.width === 0 || at.top >= box.bottom - 1) return false; // left out
    return at.right > Math.min(to.right, box.right) + 0.5 || e.scrollWidth > e.clientWidth + 1;
  }).map((e) => `${head.innerText.split("\n")[0]}: ${e.title || e.innerText}`);
}));

/** Panels that are too low to read. */
const lowPanels = () => page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".panel")].filter((p) => p.clientHeight < 180).map((p) => p.innerText.split("\n")[0]));

/** Legends with entries that are neither seen nor behind a button that says how many. */
const lostEntries = () => page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".legend")].filter((ul) => {
  const end = ul.getBoundingClientRect().bottom;
  const hidden = [...ul.querySelectorAll<HTMLElement>(":scope > li:not(.legend-rest)")].filter((li) => li.getBoundingClientRect().top > end - 8).length;
  return hidden !== Number((ul.querySelector(".legend-rest")?.textContent ?? "+0").slice(1));
}).map((ul) => ul.innerText));

/** Whether the strip leaves out the cost, which stands below its sentence. */
const costCut = () => page.evaluate(() => {
  const cost = document.querySelector(".strip-more b");
  return cost !== null && cost.getBoundingClientRect().bottom > document.querySelector(".strip-words")!.getBoundingClientRect().bottom + 1;
});

const kinds: [string, string, string[]][] = [
  ["a parallel run", "demo:stencil", ["timeline", "moments", "treemap", "boxprofile"]],
  ["a GPU job", file("docs/tutorials/data/training-8"), ["steps", "operators", "timeline"]],
  ["a profile", file("docs/tutorials/data/compile.pprof"), ["calltree", "profile"]],
  ["requests of services", "demo:shop", ["requests", "criticalpath", "services", "timeline"]],
  ["a Go program", file("docs/tutorials/data/tally/one.trace"), ["timeline", "timeline", "calltree"]],
  ["recorded moments", file("internal/importer/recorder/testdata/mpi"), ["moments", "treemap", "profile", "commmatrix"]],
];

test.each(kinds)("%s opens with what is asked about it, every panel with something in it", async (title, source, views) => {
  const run = await openRun(page, source);
  await page.setViewportSize({ width: 1440, height: 900 });
  await openBench(page, program.address, `run=${run}`);
  expect((await state(page)).views).toEqual(views);
  expect(await page.locator(".view-as").textContent()).toContain(title);
  expect(await page.locator(".empty-state").count()).toBe(0);
  for (const p of await fingerprints(page)) expect(p.colours).toBeGreaterThan(3);
  expect(await legendOffsets()).toEqual([]);
  await page.setViewportSize({ width: 1024, height: 768 });
  await settled(page);
  expect(await cutInHeads()).toEqual([]);
  expect(await legendOffsets()).toEqual([]);
  expect(await lowPanels()).toEqual([]);
  expect(await lostEntries()).toEqual([]);
  expect(await costCut()).toBe(false);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator(".narrow .panel").first().waitFor();
  await settled(page);
  // What a picture leaves blank below it the next panel has, and no picture is asked for anew for that.
  const free = () => page.evaluate(() => {
    const rows = [...document.querySelectorAll(".narrow .grid-row")];
    const last = rows[rows.length - 1]!;
    const { shown } = (last.querySelector(".picture") as unknown as { picture: { shown: { scene: { frames: { y: number; h: number }[] } } } }).picture;
    const end = Math.max(0, ...shown.scene.frames.map((f) => f.y + f.h));
    const body = last.querySelector(".panel-body")!.clientHeight;
    return { rows: rows.length, blank: (body - end) / innerHeight };
  });
  await expect.poll(async () => { const { rows, blank } = await free(); return rows === Math.min(3, views.length) || blank < 0.4; }).toBe(true);
  expect(await costCut()).toBe(false);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/kind-${views[0]}-390.png` });
});

test("on a phone a panel below the first stays there when it is touched, and the list leads to any", async () => {
  const titles = () => page.locator(".narrow .panel").evaluateAll((list) => list.map((p) => p.getAttribute("aria-label")!.replace(", panel", "")));
  await page.setViewportSize({ width: 390, height: 1040 }); // a long one: the strip is above
  await expect.poll(async () => (await titles()).length).toBeGreaterThan(1); // three ranks leave room below their moments
  const before = await titles();
  await page.locator(".narrow .panel").nth(1).locator(".panel-body").click();
  await settled(page);
  expect(await titles()).toEqual(before);
  await page.getByLabel("Panel on the screen").selectOption({ label: "3 of 4: Profile" });
  await expect.poll(async () => (await titles())[0]).toBe("Profile");
});

/** A file of the test's own. */
async function written(name: string, content: unknown): Promise<string> {
  const at = join(await mkdtemp(join(tmpdir(), "parallax-kinds-")), name);
  await writeFile(at, JSON.stringify(content));
  return at;
}

test("a run that is mostly blank opens on the first of its windows, with a button for each", async () => {
  const bursts = [0, 400e6].flatMap((from) => Array.from({ length: 20 }, (_, i) => ({ name: `work${i % 3}`, ph: "X", ts: from + i * 5e4, dur: 4e4, pid: 1, tid: 1 })));
  const run = await openRun(page, await written("windows.json", { traceEvents: bursts }));
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.evaluate((id) => (window as unknown as { parallax: { show(id: string, state: null): Promise<void> } }).parallax.show(id, null), run);
  await settled(page);
  const shown = async () => (await state(page)).window as { begin: number; end: number };
  expect((await shown()).end).toBeLessThan(2e9);
  await page.locator(".crumb-windows button").nth(1).click();
  await settled(page);
  expect((await shown()).begin).toBeGreaterThan(399e9);
});

test("a legend that has more entries in a higher picture leaves that picture in peace", async () => {
  const asked: string[] = [];
  const see = (r: { url(): string }) => { if (/views\/calltree\/scene/.test(r.url())) asked.push(r.url()); };
  page.on("request", see);
  try {
    // Eight regions are a line of the legend. Rows below the boxes bring two more entries and a second line, for which
    // there may be no room for the rows.
    const id = await openRun(page, file("internal/importer/tau/testdata/cpi"));
    await openBench(page, program.address, `run=${id}`);
    await settled(page);
    const seen = [];
    for (let height = 820; height <= 940; height += 20) {
      await page.setViewportSize({ width: 1440, height });
      await putOff(page, 100);
      await settled(page);
      asked.length = 0;
      await putOff(page, 500);
      seen.push([height, asked.length]); // one or two may still come: without end they are 17 and more
    }
    expect(seen.filter(([, n]) => n! > 2)).toEqual([]);
  } finally {
    page.off("request", see);
    await page.setViewportSize({ width: 1440, height: 900 });
  }
});

test("a note of clocks that disagree has a button that fits them", async () => {
  const run = await openRun(page, file("internal/importer/zipkin/testdata/messaging-kafka.json"));
  await openBench(page, program.address, `run=${run}`);
  await page.getByRole("button", { name: "Fit clocks by calls" }).first().click();
  await expect.poll(async () => page.evaluate(() => (window as unknown as { parallax: { info: { value: { properties: Record<string, string> } } } }).parallax.info.value.properties["clock alignment"] ?? "")).not.toBe("");
});

test("entries of a legend that do not fit are behind a button, over the picture", async () => {
  const run = await openRun(page, file("docs/tutorials/data/tally/one.trace"));
  await page.setViewportSize({ width: 1024, height: 768 });
  await openBench(page, program.address, `run=${run}`);
  const legend = page.locator(".legend", { has: page.locator(".legend-rest") }).first();
  const last = legend.locator("li:not(.legend-rest)").last();
  const seen = () => last.evaluate((li) => li.getBoundingClientRect().bottom <= li.closest(".panel")!.getBoundingClientRect().bottom + 1);
  expect(await seen()).toBe(false);
  await legend.getByRole("button", { name: /all of the legend$/ }).click();
  await last.scrollIntoViewIfNeeded();
  expect(await seen()).toBe(true);
  await legend.getByRole("button", { name: "Less of the legend" }).click();
  expect(await seen()).toBe(false);
});

test("heads of lists hold what they have, also of a run with thousands of locations", async () => {
  const run = await openRun(page, "demo:stencil?locations=2000&intervals=100000");
  await page.setViewportSize({ width: 1024, height: 768 });
  await openBench(page, program.address, `run=${run}`);
  expect(await page.locator(".side-head", { hasText: "Locations" }).innerText()).toMatch(/\d,\d{3}/);
  expect(await page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".side-part > .side-head")].filter((h) => h.scrollWidth > h.clientWidth).map((h) => h.innerText))).toEqual([]);
  expect(await cutInHeads()).toEqual([]);
});
