// Figures of 84 mm, as journals print them: SVG, PDF and PNG are one picture, and the picture fills its page.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, scratch, serve, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => {
  program = await serve("demo:stencil");
  ({ page, errors } = await newPage());
  await page.goto(program.address);
});
afterAll(async () => {
  await leave(page);
  expect(errors).toEqual([]);
  await program.stop();
});

async function exported(view: string, format: string, letter: string): Promise<Buffer> {
  const answer = await page.request.get(`http://127.0.0.1:${program.port}/api/runs/stencil/views/${view}/export?format=${format}&theme=light&size=84mm&letter=${letter}`);
  expect(answer.status()).toBe(200);
  return answer.body();
}

interface Compared {
  size: [number, number];
  /** Mean difference of a channel, of 255; edges and letters are smoothed in other ways. */
  mean: number;
  /** Share of blocks of 12 pixels whose mean colours differ plainly: something is elsewhere, or missing. */
  blocks: number;
  /** What is drawn, from the edges in shares: left, top, right, bottom. */
  drawn: [number, number, number, number];
}

/** Draws two pictures in the size of the first and says how they differ. */
function compare(a: string, b: string): Promise<Compared> {
  return page.evaluate(async ([x, y]) => {
    const load = async (src: string) => {
      const i = new Image();
      i.src = src;
      await i.decode();
      return i;
    };
    const [one, two] = await Promise.all([load(x!), load(y!)]);
    const [w, h] = [one.naturalWidth, one.naturalHeight];
    const pixels = (i: HTMLImageElement) => {
      const c = new OffscreenCanvas(w, h).getContext("2d")!;
      c.fillStyle = "#fff";
      c.fillRect(0, 0, w, h);
      c.drawImage(i, 0, 0, w, h);
      return c.getImageData(0, 0, w, h).data;
    };
    const [p, q] = [pixels(one), pixels(two)];
    let sum = 0;
    for (let i = 0; i < p.length; i++) sum += Math.abs(p[i]! - q[i]!);
    const side = 12;
    let [far, all] = [0, 0];
    const edge = [w, h, 0, 0];
    for (let by = 0; by + side <= h; by += side) {
      for (let bx = 0; bx + side <= w; bx += side) {
        const d = [0, 0, 0];
        for (let y0 = by; y0 < by + side; y0++) {
          for (let x0 = bx; x0 < bx + side; x0++) {
            const at = 4 * (y0 * w + x0);
            for (let k = 0; k < 3; k++) d[k]! += p[at + k]! - q[at + k]!;
            if (p[at]! + p[at + 1]! + p[at + 2]! < 750) {
              edge[0] = Math.min(edge[0]!, x0);
              edge[1] = Math.min(edge[1]!, y0);
              edge[2] = Math.max(edge[2]!, x0);
              edge[3] = Math.max(edge[3]!, y0);
            }
          }
        }
        all++;
        if (Math.max(...d.map(Math.abs)) / (side * side) > 40) far++;
      }
    }
    return { size: [w, h], mean: sum / p.length, blocks: far / all, drawn: [edge[0]! / w, edge[1]! / h, edge[2]! / w, edge[3]! / h] } as Compared;
  }, [a, b]);
}

const asURL = (kind: string, b: Buffer) => `data:${kind};base64,${b.toString("base64")}`;

/** The page of a PDF as a picture of 300 dots an inch; null where Ghostscript is not installed. */
function drawnPDF(name: string, pdf: Buffer): Buffer | null {
  const [from, to] = [join(scratch(), `${name}.pdf`), join(scratch(), `${name}.png`)];
  writeFileSync(from, pdf);
  try {
    execFileSync("gs", ["-q", "-dBATCH", "-dNOPAUSE", "-dSAFER", "-sDEVICE=png16m", "-r300", "-dTextAlphaBits=4", "-dGraphicsAlphaBits=4", `-sOutputFile=${to}`, from], { stdio: "ignore" });
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw e;
  }
  return readFileSync(to);
}

test.each([["timeline", "a"], ["moments", "b"], ["treemap", "c"]])("%s is one picture in SVG, PDF and PNG, without blank margins", async (view, letter) => {
  const png = asURL("image/png", await exported(view, "png", letter));
  const svg = await exported(view, "svg", letter);
  const bySVG = await compare(png, asURL("image/svg+xml", svg));
  expect(bySVG.size[0]).toBeCloseTo((84 / 25.4) * 300, -0.5);
  expect(bySVG.mean).toBeLessThan(6);
  expect(bySVG.blocks).toBeLessThan(0.01);
  const [left, top, right, bottom] = bySVG.drawn;
  expect(Math.max(left, top, 1 - right, 1 - bottom)).toBeLessThan(0.06);
  expect(svg.toString()).toContain(`(${letter})`);
  const pdf = drawnPDF(view, await exported(view, "pdf", letter));
  if (!pdf) return;
  const byPDF = await compare(png, asURL("image/png", pdf));
  expect(byPDF.mean).toBeLessThan(8);
  expect(byPDF.blocks).toBeLessThan(0.02);
});

test("the comparison tells another picture", async () => {
  const [a, b] = [await exported("timeline", "png", "a"), await exported("moments", "png", "a")];
  expect((await compare(asURL("image/png", a), asURL("image/png", b))).blocks).toBeGreaterThan(0.2);
});
