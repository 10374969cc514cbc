// A run that grows while it is looked at: the page takes what is new and keeps its place.

import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, drag, frameBox, openBench, scratch, serve, settled, state, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];
const file = () => join(scratch(), "growing.json");

/** Calls of a rank from one millisecond to another, as an unfinished Chrome trace has them. */
const calls = (rank: number, from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `,\n{"ph":"X","pid":${rank},"tid":0,"name":"work ${(from + i) % 3}","ts":${(from + i) * 1000},"dur":900}`).join("");

beforeAll(async () => {
  writeFileSync(file(), `[{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"rank 1"}}` + calls(1, 0, 100) + calls(2, 0, 100));
  program = await serve("--follow", file());
});
afterAll(() => program.stop());
beforeEach(async () => { ({ context, page, errors } = await browse()); });
afterEach(async () => {
  await context.close();
  expect(errors).toEqual([]);
});

test("a file that grows is taken in, and the selection, panels and address stay", async () => {
  await openBench(page, program.address, "v=timeline");
  const words = () => page.locator(".panel .canvas[role=img]").first().getAttribute("aria-label");
  const before = await words();
  const f = await frameBox(page);
  await drag(page, [f.x + f.w * 0.3, f.y + 20], [f.x + f.w * 0.5, f.y + 20]);
  await settled(page);
  const chosen = await state(page);
  const place = page.url();
  expect(chosen.time!.end).toBeLessThan(60e6);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/live-before.png` });
  appendFileSync(file(), calls(1, 100, 200) + calls(2, 100, 200) + calls(0, 0, 200)); // one rank is new, before the others
  await expect.poll(words).not.toBe(before);
  await settled(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/live-after.png` });
  const after = await state(page);
  expect(after.time).toEqual(chosen.time);
  expect(after.views).toEqual(chosen.views);
  expect(after.window.end).toBeGreaterThan(1.9 * chosen.window.end); // it showed the whole run, and does
  expect(page.url()).toBe(place);
});

const compiler = (() => {
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

test.runIf(compiler)("a program that is recorded and still runs is followed without being asked to", async () => {
  const at = join(scratch(), "recorded");
  mkdirSync(at, { recursive: true });
  const make = (verb: string, name: string) => execFileSync(process.env.PARALLAX_TEST_BINARY!, ["recorder", verb, "-o", join(at, name)]);
  make("regions", "recorder.c");
  make("header", "parallax.h");
  const cc = (...args: string[]) => execFileSync("cc", ["-O1", "-I", at, ...args, "-ldl", "-lm", "-pthread"]);
  cc("-shared", "-fPIC", "-o", join(at, "recorder.so"), join(at, "recorder.c"));
  writeFileSync(join(at, "endless.c"), `#include "parallax.h"
#include <unistd.h>
int main(void) { for (;;) { parallax_begin("solve"); for (volatile int i = 0; i < 1000000; i++) ; parallax_end(); usleep(1000); } }`);
  cc("-o", join(at, "endless"), join(at, "endless.c"));
  const out = join(at, "out");
  const endless = spawn(join(at, "endless"), {
    env: { ...process.env, LD_PRELOAD: join(at, "recorder.so"), PARALLAX_EVERY: "0.3", PARALLAX_OUT: out }, stdio: "ignore",
  });
  let shown: Program | undefined;
  try {
    await expect.poll(() => existsSync(join(out, "run.moments"))).toBe(true);
    shown = await serve(out);
    expect(shown.said()).toContain("the page follows it");
    await openBench(page, shown.address, "v=moments");
    const end = async () => (await state(page)).window.end;
    const before = await end();
    await expect.poll(end).toBeGreaterThan(before);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/live-recorder.png` });
  } finally {
    endless.kill("SIGKILL");
    await shown?.stop();
  }
});
