// What the page asks for: nothing twice, nothing for a hover, and little before the first picture.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { frameBox, leave, newPage, openBench, picture, putOff, restAfter, serve, settled, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];
let requests: string[];
let asked: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => { ({ page, errors, requests, asked } = await newPage({ width: 1440, height: 900 })); });
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

/** The pictures that were asked for since the last call, by panel. On a slow line one question has two answers, the first of them coarse. */
function scenes(): string[] {
  const pictures = new Set(asked.filter((u) => u.includes("/scene?")).map((u) => {
    const { pathname, searchParams } = new URL(u);
    return `${pathname.split("/")[5]} ${searchParams.get("panel")!.replace(/^\w+-/, "")} ${searchParams.get("seq")}`;
  }));
  asked.length = 0;
  return [...pictures].map((a) => a.replace(/ \d+$/, "")).sort();
}

/** Each panel once. */
function once(asked: string[]): void {
  expect(asked.filter((a, i) => asked.indexOf(a) !== i)).toEqual([]);
}

test("every picture is asked for once at opening, and once after a change", async () => {
  await openBench(page, program.address, "");
  const first = scenes();
  once(first);
  expect(first.map((a) => a.split(" ")[0])).toEqual(["activity", "boxprofile", "moments", "timeline", "treemap"]);
  for (let zoom = 1; zoom <= 2; zoom++) { // the first one too, where labels would take more of a wider picture
    await page.keyboard.press("w");
    await settled(page);
    const zoomed = scenes();
    once(zoomed);
    expect(zoomed.length).toBe(4); // all but the strip of the whole run
  }
  await page.getByRole("treeitem", { name: /node05/ }).click();
  await settled(page);
  once(scenes());
});

test("the first picture waits for five short answers and its own", async () => {
  const before = new Set<string>();
  let drawn = false;
  page.on("response", (r) => {
    const { pathname } = new URL(r.url());
    if (!drawn && pathname.startsWith("/api/")) before.add(pathname.replace("/api/", "").replace("runs/stencil/", ""));
    drawn ||= pathname.endsWith("timeline/scene");
  });
  await page.route("**/api/runs/stencil/views/findings/**", async () => undefined); // never answered
  await page.route("**/api/runs/stencil/{summary,notes,locations}**", async () => undefined);
  await page.goto(program.address);
  await page.waitForFunction(() => [...document.querySelectorAll(".picture")].some((h) => (h as unknown as { picture?: { scene: unknown } }).picture?.scene));
  // Other panels ask at the same time, together, and may be answered first.
  const waited = [...before].filter((p) => !p.includes("views/") && p !== "together");
  expect(waited).toEqual(expect.arrayContaining(["session", "views", "runs", "info", "regions"]));
  expect(waited.length).toBe(5);
});

test("hovering over what carries its facts asks for nothing", async () => {
  await openBench(page, program.address, "v=histogram");
  const box = (await picture(page).boundingBox())!;
  requests.length = 0;
  let tips = 0;
  for (let i = 1; i < 5; i++) {
    for (let k = 1; k < 5; k++) {
      await page.mouse.move(box.x + (box.width * i) / 5, box.y + (box.height * k) / 5);
      await putOff(page, 70); // longer than the page waits before it asks
      tips += await page.locator(".tip").count();
    }
  }
  expect(tips).toBeGreaterThan(3);
  expect(requests).toEqual([]);
});

test("hovering over a timeline tells intervals, and rows and colours where many are drawn as one, and asks for nothing; a click does", async () => {
  await openBench(page, program.address, "v=timeline&t=500000000-520000000");
  await restAfter(page, 3_600_000);
  const tips = async () => {
    const box = (await picture(page).boundingBox())!;
    const out = new Set<string>();
    for (let i = 2; i < 10; i++) {
      await page.mouse.move(box.x + (box.width * i) / 10, box.y + box.height * (0.2 + i / 20));
      await putOff(page, 20);
      for (const t of await page.locator(".tip").allInnerTexts()) out.add(t);
    }
    return [...out];
  };
  requests.length = 0;
  expect((await tips()).filter((t) => /duration [\d.]+ [mµn]?s/.test(t)).length).toBeGreaterThan(3);
  await openBench(page, program.address, "v=timeline&0.collapse=node*");
  await restAfter(page, 3_600_000);
  requests.length = 0;
  expect((await tips()).filter((t) => /time [\d.]+ m?s\nlargest first (compute|communication)/.test(t)).length).toBeGreaterThan(3);
  expect(requests.filter((u) => u.includes("/pick?"))).toEqual([]);
  const box = (await picture(page).boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.6, box.y + box.height * 0.5);
  await expect.poll(() => requests.filter((u) => u.includes("/pick?")).length).toBe(1);
});

test("a pointer that rests asks once", async () => {
  await openBench(page, program.address, "v=timeline&0.collapse=node*");
  await restAfter(page, 0);
  requests.length = 0;
  const box = (await picture(page).boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5);
  await page.waitForFunction(() => {
    const shown = (window as unknown as { parallax: { hoverFact: { value: { fact: { more?: boolean } } | null } } }).parallax.hoverFact.value;
    return shown !== null && !shown.fact.more;
  });
  expect(requests.filter((u) => u.includes("/pick?"))).toHaveLength(1);
});

test("after a tick of the wheel the picture under it asks, and all others together", async () => {
  await openBench(page, program.address, "");
  await restAfter(page, 3_600_000); // a pointer that rests asks too, sooner or later
  const frame = await frameBox(page);
  await page.mouse.move(frame.x + frame.w * 0.6, frame.y + frame.h * 0.5);
  for (let tick = 0; tick < 3; tick++) {
    requests.length = 0;
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -240);
    await page.keyboard.up("Control");
    await expect.poll(() => requests.some((u) => u.endsWith("/together"))).toBe(true);
    await settled(page);
    // On a slow line the picture under the wheel comes coarse first, and once more if that left something out.
    expect([...new Set(requests.map((u) => new URL(u).pathname.split("/").pop()))].sort()).toEqual(["scene", "together"]);
    expect(requests.filter((u) => !u.includes("coarse=1")).length).toBeLessThanOrEqual(2);
  }
});

test("a timeline says the time that is on the screen, not all that was asked for", async () => {
  await openBench(page, program.address, "v=timeline&t=500000000-900000000");
  const label = () => picture(page).locator(".canvas").getAttribute("aria-label");
  expect(await label()).toContain(", 500–900 ms: ");
  await page.keyboard.press("d");
  await settled(page);
  expect(await label()).toContain(", 560–960 ms: ");
});
