// Walking through a call matrix as the paper does: from all to one caller, from that
// to its boxes; hiding, closures, and zooming the boxes.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, newPage, openBench, picture, serve, settled, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("demo:stencil?locations=16"); });
afterAll(() => program.stop());
beforeEach(async () => {
  ({ page, errors } = await newPage({ width: 1500, height: 900 }));
  await openBench(page, program.address, "v=callmatrix");
});
afterEach(async () => {
  await leave(page);
  expect(errors).toEqual([]);
});

interface Row { from: number; to: number; label: string }
interface Frame { name: string; x: number; y: number; w: number; h: number; xScale: { begin: number; end: number; rows: Row[] }; yScale: { rows: Row[] } }

const frames = (n = 0) => page.evaluate((i) => {
  const host = document.querySelectorAll(".picture")[i] as unknown as { picture: { shown: { scene: { frames: Frame[] } } } };
  return host.picture.shown.scene.frames;
}, n);

const names = (rows: Row[]) => rows.map((r) => r.label);

/** Clicks the label of a row or column of the first frame. */
async function clickName(side: "x" | "y", label: string, ctrl = false): Promise<void> {
  const [f] = await frames();
  const row = (side === "x" ? f.xScale.rows : f.yScale.rows).find((r) => r.label === label)!;
  const at = (row.from + row.to) / 2;
  const position = side === "x" ? { x: at, y: f.y - 10 } : { x: f.x - 12, y: at };
  await picture(page, 0).click({ position, modifiers: ctrl ? ["Control"] : [] });
  await settled(page);
}

test("a caller's name leaves its column, a callee's name its row, Ctrl hides, and chips take it back", async () => {
  const [all] = await frames();
  expect(names(all.xScale.rows)).toContain("exchange_halo");
  await clickName("x", "exchange_halo");
  let [f] = await frames();
  expect(names(f.xScale.rows)).toEqual(["exchange_halo"]);
  expect(names(f.yScale.rows)).toContain("MPI_Waitall");
  expect(await page.locator(".chip", { hasText: "Called by: exchange_halo" }).count()).toBe(1);
  await clickName("y", "MPI_Waitall", true);
  [f] = await frames();
  expect(names(f.yScale.rows)).not.toContain("MPI_Waitall");
  await page.locator(".chip", { hasText: "Left out: MPI_Waitall" }).click();
  await page.locator(".chip", { hasText: "Called by: exchange_halo" }).click();
  await settled(page);
  [f] = await frames();
  expect(names(f.xScale.rows)).toEqual(names(all.xScale.rows));
  await clickName("y", "MPI_Waitall");
  [f] = await frames();
  expect(names(f.yScale.rows)).toEqual(["MPI_Waitall"]);
  expect(names(f.xScale.rows)).toEqual(["exchange_halo"]);
});

test("one caller is shown as boxes, which the wheel zooms", async () => {
  await clickName("x", "exchange_halo");
  await page.getByRole("button", { name: "as boxes" }).click();
  await settled(page);
  const boxes = (await frames(1)).find((f) => f.name === "main")!;
  expect(names(boxes.yScale.rows)).toContain("MPI_Waitall");
  expect(names(boxes.yScale.rows)).not.toContain("relax_tile");
  const host = (await picture(page, 1).boundingBox())!;
  await page.mouse.move(host.x + boxes.x + boxes.w / 2, host.y + boxes.y + boxes.h / 2);
  await page.mouse.wheel(0, -120);
  await settled(page);
  const nearer = (await frames(1)).find((f) => f.name === "main")!;
  expect(nearer.xScale.begin).toBeGreaterThan(boxes.xScale.begin);
  expect(nearer.xScale.end).toBeLessThan(boxes.xScale.end);
  expect(page.url()).toMatch(/1\.max=\d+/);
});

test("closures are a switch, and categories collapse", async () => {
  const direct = names((await frames())[0].xScale.rows);
  await page.getByRole("button", { name: /Options of Call matrix/ }).click();
  await page.locator("#option-closure").selectOption("dynamic");
  await settled(page);
  const dynamic = names((await frames())[0].xScale.rows);
  expect(dynamic).toContain("main");
  expect(dynamic).not.toEqual(direct);
  await page.locator("#option-closure").selectOption("direct");
  await page.locator("#option-by").selectOption("categories");
  await settled(page);
  expect((await frames())[0].yScale.rows.length).toBeLessThan(direct.length + 10);
  expect(names((await frames())[0].yScale.rows)).not.toContain("MPI_Waitall");
});

test("one category collapses among open ones", async () => {
  expect(names((await frames())[0].yScale.rows)).toContain("MPI_Waitall");
  await page.getByLabel("Collapse a category").selectOption("mpi");
  await settled(page);
  const rows = names((await frames())[0].yScale.rows);
  expect(rows).toContain("[mpi]");
  expect(rows).not.toContain("MPI_Waitall");
  expect(rows).toContain("relax_tile");
});
