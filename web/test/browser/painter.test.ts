// The same scenes drawn by render/png and here, in a real browser, compared pixel
// by pixel: both backends, both themes. The fixtures are written by
// internal/testing/rendertest.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const flags = [
  "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader",
];
const testdata = new URL("../../../internal/testing/rendertest/testdata/", import.meta.url);

// What painter-page.ts offers the test.
interface Bench {
  compare(scene: string, png: string, theme: string, backend: string, pixelRatio: number): Promise<Comparison>;
  lose(scene: string): Promise<{ before: number; after: number }>;
  takeUp(scene: string): Promise<Comparison & { first: string; then: string; canvases: number }>;
  moved(scene: string, backend: string): Promise<{ before: number[]; after: number[]; restored: boolean }>;
  overlay(scene: string): Promise<number[]>;
  texts(backend: string): Promise<{ ink: number; label: string | null }>;
}
declare global {
  interface Window {
    bench: Bench;
  }
}

interface Comparison {
  backend: string;
  pixels: number;
  /** Share of pixels that differ by more than a quarter of the range in a channel. */
  wrong: number;
  /** Mean difference of a channel, of 255. */
  mean: number;
}

describe("painter in Chromium", () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const out = await build({
      configFile: false, logLevel: "silent",
      build: { write: false, minify: false, lib: { entry: resolve(import.meta.dirname, "painter-page.ts"), formats: ["iife"], name: "unused" } },
    });
    const code = (Array.isArray(out) ? out[0]! : (out as { output: { code?: string }[] })) as { output: { code?: string }[] };
    browser = await chromium.launch({ executablePath: process.env.PARALLAX_TEST_CHROMIUM!, args: flags }); // with a new, empty profile
    page = await browser.newPage({ viewport: { width: 800, height: 600 } });
    page.on("pageerror", (e) => console.error(e));
    await page.setContent("<!doctype html><body><div id=host style='position:relative'></div>");
    await page.addScriptTag({ content: code.output[0]!.code! });
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
  });

  const base64 = (name: string) => readFileSync(new URL(name, testdata)).toString("base64");

  for (const backend of ["software", "webgl2"]) {
    for (const theme of ["light", "dark"]) {
      for (const name of ["marks", "rows", "shapes", "hostile"]) {
        test(`${name} is drawn as in Go: ${backend}, ${theme}`, async () => {
          const got = await page.evaluate(
            ([scene, png, theme, backend]) => window.bench.compare(scene!, png!, theme!, backend!, 1),
            [base64(`${name}.scene`), base64(`${name}.${theme}.png`), theme, backend],
          );
          expect(got.backend).toBe(backend);
          // Rectangles are exact; smoothed edges may differ a little, on the GPU a little more.
          expect(got.mean).toBeLessThan(backend === "software" ? 0.02 : 1);
          expect(got.wrong).toBeLessThan(backend === "software" ? 0.0005 : 0.006);
        });
      }
    }

    for (const theme of ["light", "dark"]) {
      test(`things in space are drawn as in Go: ${backend}, ${theme}`, async () => {
        const got = await page.evaluate(
          ([scene, png, theme, backend]) => window.bench.compare(scene!, png!, theme!, backend!, 1),
          [base64("space.scene"), base64(`space.${theme}.png`), theme, backend],
        );
        // On the GPU the depth of each pixel decides, elsewhere the order of things.
        expect(got.mean).toBeLessThan(backend === "software" ? 0.05 : 1.5);
        expect(got.wrong).toBeLessThan(backend === "software" ? 0.001 : 0.02);
      });
    }

    for (const name of ["marks", "rows", "shapes"]) {
      test(`${name} is drawn as in Go on a dense screen: ${backend}`, async () => {
        const got = await page.evaluate(
          ([scene, png, backend]) => window.bench.compare(scene!, png!, "light", backend!, 2),
          [base64(`${name}.scene`), base64(`${name}.2x.png`), backend],
        );
        // Hairlines snap to the screen's pixels here, to the scene's there.
        expect(got.mean).toBeLessThan(1);
        expect(got.wrong).toBeLessThan(0.008);
      });
    }

    test(`a transform moves what lies in its frame and nothing else: ${backend}`, async () => {
      const got = await page.evaluate(([scene, backend]) => window.bench.moved(scene!, backend!), [base64("rows.scene"), backend]);
      expect(got.before).not.toEqual(got.after);
      expect(got.restored).toBe(true);
    });

    test(`texts are drawn in their place, with a label for those who cannot see: ${backend}`, async () => {
      const got = await page.evaluate((backend) => window.bench.texts(backend), backend);
      expect(got.ink).toBeGreaterThan(200);
      expect(got.label).toBe("Two texts.");
    });
  }

  test("the first picture does not wait for the GPU, which goes on with the same one", async () => {
    const got = await page.evaluate((scene) => window.bench.takeUp(scene), base64("rows.scene"));
    expect(got).toMatchObject({ first: "software", then: "webgl2", canvases: 2 });
    expect(got.mean).toBeLessThan(1);
    expect(got.wrong).toBeLessThan(0.006);
  });

  test("a picture is drawn anew after the GPU was lost", async () => {
    const got = await page.evaluate((scene) => window.bench.lose(scene), base64("rows.scene"));
    expect(got.before).toBeGreaterThan(1000);
    expect(got.after).toBe(got.before);
  });

  test("highlights dim what is not kept and cross at the cursor", async () => {
    const [kept, veiled, cross, outside] = await page.evaluate((scene) => window.bench.overlay(scene), base64("rows.scene"));
    expect(kept).toBe(0);
    expect(veiled).toBeGreaterThan(100);
    expect(cross).toBeGreaterThan(100);
    expect(outside).toBe(0);
  });
});
