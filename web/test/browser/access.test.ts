// Accessibility by axe-core, on the main screens in both themes, and the size of
// what is clicked.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, openBench, openRun, ownCache, serve, settled, type Program } from "./bench";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let program: Program;
beforeAll(async () => { ownCache(); program = await serve("demo:stencil"); });
afterAll(async () => { await program?.stop(); });

const file = (path: string) => resolve(import.meta.dirname, "../../..", path);

/** A sample of each kind of data that has a first screen of its own. */
const others = {
  "a GPU job": file("docs/tutorials/data/training-8"), "a profile": file("docs/tutorials/data/compile.pprof"), "requests": "demo:shop",
  "a Go program": file("docs/tutorials/data/tally/one.trace"), "recorded moments": file("internal/importer/recorder/testdata/mpi"),
};

interface Violation { id: string; nodes: { target: unknown[] }[] }

/** What axe finds wrong, a line each. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const run = (window as unknown as { axe: { run(root: Document, options: unknown): Promise<{ violations: Violation[] }> } }).axe;
    return (await run.run(document, { resultTypes: ["violations"] })).violations;
  });
  return found.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`));
}

/**
 * Targets of less than 24 by 24 pixels that have another within 24 pixels of their
 * middle (WCAG 2.5.8). Hairlines between panels are moved by arrow keys too.
 */
async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const all = [...document.querySelectorAll<HTMLElement>("button, a[href], input, select, [role=button], [role=option], [role=menuitem], [role=treeitem]")]
      .map((e) => ({ e, r: e.getBoundingClientRect() })).filter(({ e, r }) => r.width > 0 && r.height > 0 && getComputedStyle(e).visibility !== "hidden");
    const middle = (r: DOMRect) => ({ x: r.x + r.width / 2, y: r.y + r.height / 2 });
    const small = all.filter(({ r }) => r.width < 23.5 || r.height < 23.5);
    const crowded = small.filter(({ e, r }) => all.some((o) => {
      if (o.e === e || o.e.contains(e) || e.contains(o.e)) return false;
      const m = middle(r);
      const dx = Math.max(o.r.x - m.x, 0, m.x - o.r.right);
      const dy = Math.max(o.r.y - m.y, 0, m.y - o.r.bottom);
      if (Math.hypot(dx, dy) < 12) return true;
      const p = middle(o.r);
      return (o.r.width < 23.5 || o.r.height < 23.5) && Math.hypot(m.x - p.x, m.y - p.y) < 24;
    }));
    return crowded.map(({ e, r }) => `${Math.round(r.width)} × ${Math.round(r.height)} ${e.tagName.toLowerCase()}.${e.className} ${e.getAttribute("aria-label") ?? e.textContent?.slice(0, 30) ?? ""}`);
  });
}

for (const dark of [false, true]) {
  describe(dark ? "dark" : "light", () => {
    let context: BrowserContext;
    let page: Page;
    beforeAll(async () => { ({ context, page } = await browse({ width: 1440, height: 900, dark })); });
    afterAll(async () => { await context?.close(); });

    it("the workbench has no violation and no small target", async () => {
      await openBench(page, program.address, "");
      expect(await violations(page)).toEqual([]);
      expect(await smallTargets(page)).toEqual([]);
    });
    it("a table has none", async () => {
      await page.goto(`${new URL(program.address).origin}/?run=stencil&v=profile,kaleidoscope&table=0`);
      await page.waitForSelector(".twin [role=row]");
      await settled(page);
      expect(await violations(page)).toEqual([]);
      expect(await smallTargets(page)).toEqual([]);
    });
    it("the help and the commands have none", async () => {
      for (const key of ["?", "Control+Shift+KeyP"]) {
        await page.keyboard.press(key);
        await page.waitForSelector("dialog[open]");
        expect(await violations(page)).toEqual([]);
        await page.keyboard.press("Escape");
      }
    });
    it("the area, notes and figure have none", async () => {
      await page.keyboard.press("r");
      await page.waitForSelector(".area .twin [role=row]");
      expect(await violations(page)).toEqual([]);
      expect(await smallTargets(page)).toEqual([]);
      await page.keyboard.press("r");
      for (const command of ["notes", "figure"]) {
        await page.evaluate((name) => ((window as unknown as { parallax: { overlay: { value: string } } }).parallax.overlay.value = name), command);
        await page.waitForSelector("dialog[open]");
        expect(await violations(page)).toEqual([]);
        await page.keyboard.press("Escape");
      }
    });
    it("a screen of 390 pixels has none, with its drawers", async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      for (const name of ["Lists", "Findings, facts"]) {
        await page.getByRole("button", { name }).click();
        expect(await violations(page)).toEqual([]);
        expect(await smallTargets(page)).toEqual([]);
      }
      await page.setViewportSize({ width: 1440, height: 900 });
    });
    it("stories and options have none", async () => {
      await openBench(page, program.address, "");
      await page.getByRole("button", { name: "Keep", exact: true }).click();
      await page.locator(".story-bar .story-words").waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await smallTargets(page)).toEqual([]);
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.waitForSelector("dialog[open]");
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "End", exact: true }).click();
      await page.getByRole("button", { name: "Options of Timeline" }).click();
      await page.locator("form.options").waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await smallTargets(page)).toEqual([]);
      await page.keyboard.press("Escape");
    });
    it.each(Object.entries(others))("the first screen of %s has none", async (_, source) => {
      await page.goto(`${new URL(program.address).origin}/?run=${await openRun(page, source)}`);
      await page.waitForSelector(".panel .picture");
      await settled(page);
      await page.waitForSelector(".strip .strip-text");
      expect(await violations(page)).toEqual([]);
      expect(await smallTargets(page)).toEqual([]);
    });
    it("two runs beside each other have none", async () => {
      await page.goto(`${new URL(program.address).origin}/?run=stencil&v=compare~timeline~timeline&0.with=${await openRun(page, "demo:stencil?balanced")}`);
      await page.waitForSelector(".panel .picture");
      await settled(page);
      await page.locator(".runs-bar summary").click();
      expect(await violations(page)).toEqual([]);
    });
    it("the home page has none", async () => {
      await page.evaluate(() => (window as unknown as { parallax: { goHome(): void } }).parallax.goHome());
      await page.waitForSelector(".home h2, .home h1");
      expect(await violations(page)).toEqual([]);
      expect(await smallTargets(page)).toEqual([]);
    });
  });
}
