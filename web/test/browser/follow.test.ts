// From an interval to its causes, areas in tabs, flame graphs, notes, shared looks,
// snapshots, figures, and small screens: one page, used like a person would.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, contents, openBench, serve, settled, state, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => {
  program = await serve("demo:stencil");
  ({ context, page, errors } = await browse({ width: 1440, height: 900 }));
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
});
afterAll(async () => {
  await context?.close();
  await program?.stop();
  expect(errors).toEqual([]);
});

const shot = async (name: string) => { if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` }); };
const run = (id: string) => page.evaluate((name) => {
  (window as unknown as { parallax: { overlay: { value: string } } }).parallax.overlay.value = name;
}, id);
const words = () => page.locator("#area-flame .canvas[role=img], .panel .canvas[role=img]").last().getAttribute("aria-label");

test("an interval that was found leads to its sender by [, and back by ]", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("/");
  await page.keyboard.type("MPI_Waitall >15ms");
  await page.locator(".hit-head").waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".causes").waitFor();
  expect(await page.locator(".causes .cause").first().innerText()).toMatch(/^sent by\s+MPI_Isend/);
  await shot("causes");
  await page.locator("#search").blur();
  const first = (await state(page)).locations;
  await page.keyboard.press("[");
  await expect.poll(() => page.locator(".fact-title").innerText()).toBe("MPI_Isend");
  await page.locator(".causes h3", { hasText: "Effects" }).waitFor();
  const sender = (await state(page)).locations;
  expect(sender).not.toEqual(first);
  expect(await page.locator(".causes .cause", { hasText: "received by" }).first().innerText()).toContain("MPI_Waitall");
  await page.keyboard.press("]");
  await expect.poll(() => page.locator(".fact-title").innerText()).toBe("MPI_Waitall");
  await page.getByRole("button", { name: "Pin its row" }).click();
  await settled(page);
  const top = await page.evaluate(() => (document.querySelector(".picture") as unknown as { picture: { scene: { frames: { yScale: { rows: { label: string }[] } }[] } } }).picture.scene.frames[0].yScale.rows[0].label);
  expect(top).toMatch(/^↑ /);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
});

test("an area has tabs of regions, locations, intervals, links, counters, and a flame graph that zooms and lights up", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline&from=100000000&to=300000000");
  await page.keyboard.press("r");
  for (const [tab, column] of [["regions", "region"], ["locations", "path"], ["intervals", "duration"], ["links", "from path"], ["counters", "samples"]]) {
    await page.locator(`#area-${tab}`).click();
    await page.locator(".area .twin-head", { hasText: column }).waitFor();
    expect(await page.locator(".area [role=row]").count()).toBeGreaterThan(1);
  }
  await page.locator("#area-counters").press("ArrowRight");
  await page.locator("#area-flame .picture").waitFor();
  await settled(page);
  const whole = await words();
  const box = (await page.locator("#area-flame .picture").boundingBox())!;
  await page.mouse.click(box.x + 60, box.y + 50); // a box of the second row
  await page.locator("#area-flame").getByRole("button", { name: "whole tree" }).waitFor();
  await settled(page);
  expect(await words()).not.toBe(whole);
  await page.locator("#area-flame").getByRole("button", { name: "sandwich" }).click();
  await expect.poll(words).toMatch(/^Callers and callees of /);
  await settled(page);
  await shot("sandwich");
  await page.locator("#area-flame").getByRole("button", { name: "top-down" }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("wait");
  const lit = () => page.evaluate(() => (document.querySelector("#area-flame .picture") as unknown as { picture: { scene: { notes: string[] } } }).picture.scene.notes.join("\n"));
  await expect.poll(lit).toMatch(/with "wait" light up: .*[\d.]+ %/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("r");
});

test("notes and workspaces are kept with the run", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline&from=100000000&to=300000000");
  await page.keyboard.press("Shift+M");
  await page.getByLabel("Name of the note").fill("slow start");
  await page.getByRole("button", { name: "Note the selected range" }).click();
  await page.locator(".notebook-go", { hasText: "slow start" }).waitFor();
  await page.getByLabel("Name of the workspace").fill("one timeline");
  await page.getByRole("button", { name: "Save this screen" }).click();
  await page.locator(".notebook-go", { hasText: "one timeline" }).waitFor();
  await shot("notes");
  await page.keyboard.press("Escape");
  await openBench(page, program.address, "run=stencil&v=profile");
  expect(await page.locator(".minimap-note").innerText()).toBe("slow start");
  await page.keyboard.press("Shift+M");
  await page.locator(".notebook-go", { hasText: "one timeline" }).click();
  await settled(page);
  expect(await state(page)).toMatchObject({ views: ["timeline"], time: { begin: 100000000, end: 300000000 } });
  await page.keyboard.press("Shift+M");
  await page.getByRole("button", { name: "Remove slow start" }).click();
  await expect.poll(() => page.locator(".minimap-note").count()).toBe(0);
  await page.keyboard.press("Escape");
});

test("a shared address looks and keeps nothing, in another browser", async () => {
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("menuitem", { name: /^Share/ }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/token=.*v=timeline/);
  const shared = await page.evaluate(() => navigator.clipboard.readText());
  expect(new URL(shared).searchParams.get("token")).not.toBe(new URL(program.address).searchParams.get("token"));
  const other = await browse();
  try {
    await other.page.goto(shared);
    await settled(other.page);
    expect((await state(other.page)).time).toEqual({ begin: 100000000, end: 300000000 });
    await other.page.keyboard.press("Shift+M");
    await other.page.getByText("This link is read-only").waitFor();
    const status = await other.page.evaluate(async () => (await fetch("/api/runs/stencil", { method: "DELETE" })).status);
    expect(status).toBe(403);
  } finally {
    await other.context.close();
  }
});

test("a snapshot is one file with every picture and its numbers", async () => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export", exact: true }).click().then(() => page.getByRole("menuitem", { name: /^Snapshot/ }).click())]);
  const file = (await contents(download)).toString();
  expect(file).toMatch(/<h2>Timeline<\/h2><img alt="Timeline" src="data:image\/svg\+xml/);
  expect(file).toMatch(/download="1-timeline\.csv" href="data:text\/csv/);
  expect(file).not.toMatch(/<script/);
});

test("a figure of 84 mm has a preview, and its files have that width", async () => {
  await run("figure");
  const preview = page.locator(".figure-preview img");
  await preview.waitFor();
  await expect.poll(() => preview.evaluate((i: HTMLImageElement) => i.complete && i.naturalWidth)).toBeGreaterThan(200);
  await shot("figure");
  await page.getByLabel("Letter").fill("b");
  expect(await page.getByLabel("Caption").inputValue()).toMatch(/^\(b\) Timeline of stencil\. .*\b39\.5 s\b/);
  const href = await page.locator(".figure-files a", { hasText: "SVG" }).getAttribute("href");
  const svg = await page.evaluate(async (url) => (await fetch(url)).text(), href!);
  expect(svg).toMatch(/<svg[^>]* width="84mm"/);
  expect(svg).toContain("(b)");
  await page.keyboard.press("Escape");
});

test("a note that names a flag has a button that does it, and options offer what the run has", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  const button = page.locator(".panel-head .note-action", { hasText: "draw all links" });
  await button.click();
  await settled(page);
  expect(page.url()).toMatch(/0\.links=all/);
  await page.getByRole("button", { name: "Options of Timeline" }).click();
  expect(await page.locator("#option-counters-list option").evaluateAll((list) => list.map((o) => (o as HTMLOptionElement).value))).toContain("*");
  expect(await page.locator("#option-pin-list option").count()).toBeGreaterThan(1);
  await page.keyboard.press("Escape");
});

test("at 390, 768 and 1024 pixels nothing sticks out, and a narrow screen shows one panel with drawers", async () => {
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll(".bar > *, .switcher > *")].every((e) => e.getBoundingClientRect().right <= innerWidth + 0.5));
  for (const width of [1024, 768, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await openBench(page, program.address, "run=stencil&v=timeline~treemap,moments");
    expect(await fits(), `${width}`).toBe(true);
    expect(await page.locator(".panel").count()).toBe(width < 900 ? 1 : 3);
    await shot(`width-${width}`);
  }
  await page.getByLabel("Panel on the screen").selectOption({ label: "2 of 3: Treemap" });
  await page.locator(".panel[aria-label^=Treemap]").waitFor();
  await page.getByRole("button", { name: "Findings, facts" }).click();
  await page.locator(".finding").first().waitFor();
  await shot("narrow-facts");
  await page.getByRole("button", { name: "Lists" }).click();
  await page.locator(".side-tree").waitFor();
});
