// SQL in the page: an answer, its errors, and a row that goes where it lies.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { tableFromIPC } from "apache-arrow";
import type { Page } from "playwright-core";
import { contents, leave, newPage, openBench, serve, settled, state, type Program } from "./bench";

let program: Program;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
beforeEach(async () => { ({ page, errors } = await newPage()); });
afterEach(async () => { await leave(page); });

const rows = () => page.locator(".query-rows .twin-row");

async function ask(sql: string): Promise<void> {
  await page.locator(".query-text").fill(sql);
  await page.locator(".query-text").press("Control+Enter");
}

test("a row of an answer selects its location and shows its time", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("Backquote");
  await ask("select location, path, region, begin, duration from intervals where rank = 42 order by duration desc limit 5");
  await rows().nth(4).waitFor();
  expect(await page.locator(".query [role=status]").innerText()).toMatch(/^5 rows in/);
  await rows().nth(1).click();
  await settled(page);
  const s = await state(page);
  expect(s.locations).toHaveLength(1);
  expect(await page.locator(".query-rows .twin-row.chosen").count()).toBe(1);
  expect(await page.locator(".crumbs button").count()).toBe(2);
  expect(errors).toEqual([]);
});

test("what is wrong with a query is said, and nothing can be changed", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("Backquote");
  await ask("select nosuch from intervals");
  await page.locator(".query-failure").waitFor();
  expect(await page.locator(".query-failure").innerText()).toMatch(/no such column: nosuch/);
  await ask("drop table intervals");
  await page.locator(".query-failure", { hasText: "a query only reads" }).waitFor();
  await page.locator(".query-text").press("Escape");
  expect(await page.locator(".query").count()).toBe(0);
});

test("another program reads all rows as Arrow", async () => {
  const { origin, searchParams } = new URL(program.address);
  const asked = (sql: string) => fetch(`${origin}/api/runs/stencil/query`, {
    method: "POST", body: JSON.stringify({ sql }),
    headers: { Authorization: `Bearer ${searchParams.get("token")}`, Accept: "application/vnd.apache.arrow.stream" },
  });
  const rows = await tableFromIPC(await asked("select location, duration, duration * 0.5 as half, region, nullif(rank, 3) as rank from intervals"));
  const sums = await (await fetch(`${origin}/api/runs/stencil/query`, {
    method: "POST", body: JSON.stringify({ sql: "select count(*), sum(duration), sum(rank = 3) from intervals" }), headers: { Authorization: `Bearer ${searchParams.get("token")}` },
  })).json();
  const [count, time, ofThree] = sums.rows[0];
  expect(rows.numRows).toBe(count);
  expect(rows.schema.fields.map(String)).toEqual(["location: Int64", "duration: Int64", "half: Float64", "region: Utf8", "rank: Int64"]);
  expect(rows.schema.fields[1].metadata.get("unit")).toBe("ns");
  const durations = rows.getChild("duration")!.toArray() as BigInt64Array;
  expect(durations.reduce((a, b) => a + b, 0n)).toBe(BigInt(time));
  expect(rows.getChild("rank")!.nullCount).toBe(ofThree);
  expect(rows.get(0)!.toJSON().region).toBe("main");
  const wrong = await asked("select nosuch from intervals");
  expect([wrong.status, (await wrong.json()).error]).toEqual([400, expect.stringContaining("nosuch")]);
});

test("an answer is drawn, and its rows lie on the timeline", async () => {
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("Backquote");
  await ask("select location, path, region, begin, duration from intervals where rank = 42 order by duration desc limit 20");
  await rows().nth(4).waitFor();
  const strip = () => page.evaluate(() => {
    const canvas = [...document.querySelectorAll<HTMLCanvasElement>(".panel canvas")].at(-1)!;
    const pixels = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data;
    let n = 0;
    for (let i = 3; i < pixels.length; i += 4) if (pixels[i] > 200) n++;
    return n;
  });
  const before = await strip();
  await page.getByRole("button", { name: "On timeline" }).click();
  await expect.poll(strip).toBeGreaterThan(before + 200);
  await page.getByRole("button", { name: "On timeline" }).click();
  await expect.poll(strip).toBeLessThan(before + 50);
  await page.getByRole("button", { name: "Plot" }).click();
  await page.locator(".query-points path").waitFor();
  const box = (await page.locator(".query-points").boundingBox())!;
  expect(await page.locator(".query-points svg").getAttribute("aria-label")).toBe("duration over begin, 20 points");
  await page.locator(".query-axis select").nth(1).selectOption({ label: "path" });
  expect(await page.locator(".query-bar").count()).toBe(20);
  await page.locator(".query-bar").nth(3).click();
  await settled(page);
  expect((await state(page)).locations).toHaveLength(1);
  expect(box.height).toBeGreaterThan(80);
  expect(errors).toEqual([]);
});

test("all rows of an answer are saved as files, also those that the page does not hold", async () => {
  await page.setViewportSize({ width: 1024, height: 800 });
  await openBench(page, program.address, "run=stencil&v=timeline");
  await page.keyboard.press("Backquote");
  await ask("select location, begin, duration from intervals");
  await rows().nth(1).waitFor();
  expect(await page.locator(".query [role=status]").innerText()).toMatch(/^the first 1,000 rows of more/);
  const panel = (await page.locator(".query").boundingBox())!;
  const close = (await page.getByRole("button", { name: "Close the query" }).boundingBox())!;
  expect(close.x + close.width).toBeLessThanOrEqual(panel.x + panel.width);
  const save = async (kind: string) => {
    await page.getByRole("button", { name: "Save all rows" }).click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: kind }).click()]);
    return { name: file.suggestedFilename(), bytes: await contents(file) };
  };
  const arrow = await save("Arrow");
  expect(arrow.name).toBe("stencil-query.arrow");
  expect(tableFromIPC(arrow.bytes).numRows).toBe(43332);
  const parquet = await save("Parquet");
  expect([parquet.name, parquet.bytes.subarray(0, 4).toString(), parquet.bytes.subarray(-4).toString()]).toEqual(["stencil-query.parquet", "PAR1", "PAR1"]);
  const csv = await save("CSV");
  expect(csv.bytes.toString().split("\n").length).toBe(43332 + 2);
  expect(errors).toEqual([]);
});
