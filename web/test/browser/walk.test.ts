// From the answer to a figure by the keyboard alone: no pointer is moved in this file.

import { resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, openRun, ownCache, serve, settled, state, type Program } from "./bench";

const file = (path: string) => resolve(import.meta.dirname, "../../..", path);

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { ownCache(); program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => { ({ page, errors } = await newPage({ width: 1440, height: 900 })); });
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

/** What has the focus, by its name. */
const focused = () => page.evaluate(() => {
  const e = document.activeElement as HTMLElement | null;
  return e === null || e === document.body ? "" : e.getAttribute("aria-label") || (e as HTMLInputElement).labels?.[0]?.textContent || e.textContent?.trim() || e.title;
});

/** Goes on with Tab until something has the focus. */
async function tabTo(name: string | RegExp, key = "Tab"): Promise<void> {
  const seen: string[] = [];
  for (let i = 0; i < 150; i++) {
    await page.keyboard.press(key);
    const now = await focused();
    if (typeof name === "string" ? now === name : name.test(now)) return;
    seen.push(now);
  }
  throw new Error(`${name} is not reached; the focus was on ${seen.join(" | ")}`);
}

/** Presses what has the focus, and waits for what follows. */
async function press(key = "Enter"): Promise<void> {
  await page.keyboard.press(key);
  await settled(page);
}

test("one walks through the answer, keeps the walk, edits it and undoes it", async () => {
  await openBench(page, program.address, "");
  await page.locator(".strip-text").waitFor();
  await tabTo("Who?");
  await press();
  expect((await state(page)).locations.length).toBeGreaterThan(0);
  expect(await page.locator(".status-selection").innerText()).toMatch(/ 8 of 64 ranks/);
  await tabTo("Why?");
  await press();
  expect(new URL(page.url()).searchParams.get("walk")).toBe("1.why");
  await tabTo("What if?");
  await press();
  expect(await page.locator(".strip-more").innerText()).toMatch(/without|shorter|save/i);
  await tabTo("Keep");
  await press();
  await page.locator(".story-bar .story-words").waitFor();
  await tabTo("Next stop");
  await press();
  expect(await page.locator(".story-words").innerText()).toMatch(/Why\?/);
  await tabTo("Edit", "Shift+Tab").catch(() => tabTo("Edit"));
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Stories" }).waitFor();
  await tabTo("Title of stop 2");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("The region");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Stories" }).waitFor({ state: "hidden" });
  await expect.poll(() => page.locator(".story-words").innerText()).toMatch(/The region/);
  await expect.poll(focused).toBe("Edit"); // where one was before the dialog
  await tabTo("End");
  await press();
  expect(await page.locator(".story-bar").count()).toBe(0);
});

test("one changes an option, reads the table, maximises, and comes back", async () => {
  await openBench(page, program.address, "");
  await tabTo("Options of Timeline");
  await page.keyboard.press("Enter");
  await page.locator("form.options").waitFor();
  await tabTo("Arrows");
  await page.keyboard.type("n"); // none
  await settled(page);
  expect(page.url()).toContain("0.links=none");
  await page.keyboard.press("Escape");
  await page.locator("form.options").waitFor({ state: "hidden" });
  expect(await focused()).toBe("Options of Timeline");
  await tabTo("Table view");
  await press();
  await page.locator(".twin [role=row]").first().waitFor();
  await tabTo("Maximise");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".panel").count()).toBe(1);
  for (let i = 0; i < 3; i++) await page.keyboard.press("Control+z");
  await settled(page);
  expect(await page.locator(".panel").count()).toBeGreaterThan(1);
  expect(await page.locator(".twin").count()).toBe(0);
  expect(page.url()).not.toContain("0.links=none");
});

test("a figure is made and a view is chosen from menus", async () => {
  await openBench(page, program.address, "");
  await tabTo(/^Export this panel|^View of this panel/);
  await tabTo("Export this panel");
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: /^Figure/ }).waitFor();
  expect(await focused()).toMatch(/^Figure/);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await tabTo("Letter");
  await page.keyboard.type("b");
  await expect.poll(() => page.getByLabel("Caption").inputValue()).toMatch(/^\(b\) /);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await tabTo(/^View of this panel|^Moments$/);
});

const sources = ["demo:stencil", "demo:shop", "demo:training", file("docs/tutorials/data/tally/one.trace"), file("docs/tutorials/data/hpl32.tar.zst")];

test.each(sources)("each stop of each finding of %s changes what is selected, or its button says why not", async (source) => {
  await openBench(page, program.address, "");
  await openBench(page, program.address, `run=${await openRun(page, source)}`);
  await page.locator(".strip-text").waitFor();
  const cards = page.locator(".finding");
  const selected = async () => JSON.stringify([(await state(page)).locations, (await state(page)).regions, (await state(page)).time]);
  for (let i = 0; i < (await cards.count()); i++) {
    await cards.nth(i).focus();
    await press();
    const title = await cards.nth(i).locator("b").innerText();
    for (const [name, why] of [["Who?", /All locations are concerned alike/], ["What if?", /No gain is predicted/]] as const) {
      const button = page.getByRole("button", { name, exact: true });
      if (await button.isDisabled()) {
        expect(await button.getAttribute("title"), `${title}, ${name}`).toMatch(why);
        continue;
      }
      const before = await selected();
      await button.focus();
      await press();
      if (name === "Who?") {
        expect((await state(page)).locations.length, `${title}: nobody is selected`).toBeGreaterThan(0);
        expect((await state(page)).regions).toEqual([]);
      }
      expect(new URL(page.url()).searchParams.get("walk")).toBe(`${i + 1}.${name === "Who?" ? "who" : "if"}`);
      const shown = await page.evaluate(() => (window as unknown as { parallax: { focused: { value: string } } }).parallax.focused.value);
      expect(await page.locator(`[id="${shown}"] .empty-state`).count(), `${title}, ${name}: the view that shows it is empty`).toBe(0);
      if (before === (await selected())) expect(await page.locator(".strip-more").innerText(), `${title}, ${name}`).not.toBe("");
    }
  }
});
