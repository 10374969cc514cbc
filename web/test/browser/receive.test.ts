// Spans that programs send while the page is open appear in it.

import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, openBench, scratch, settled, start, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];

/** Sends requests of a service as exporters do, in JSON over HTTP: a root and one call in it each. */
async function send(service: string, first: number, count: number): Promise<void> {
  const to = /OTLP over HTTP is taken at (\S+)/.exec(program.said())![1];
  const now = BigInt(Date.now()) * 1_000_000n;
  const hex = (n: number, digits: number) => n.toString(16).padStart(digits, "0");
  const spans = Array.from({ length: count }, (_, i) => {
    const trace = hex(first + i + 1, 32), root = hex(2 * (first + i) + 1, 16), begin = now + BigInt(i) * 1_000_000n;
    const span = (id: string, parent: string, name: string, from: bigint, to: bigint) =>
      ({ traceId: trace, spanId: id, parentSpanId: parent, name, kind: 2, startTimeUnixNano: String(from), endTimeUnixNano: String(to) });
    return [span(root, "", "GET /", begin, begin + 900_000n), span(hex(2 * (first + i) + 2, 16), root, "query", begin + 100_000n, begin + 600_000n)];
  }).flat();
  const body = { resourceSpans: [{ resource: { attributes: [{ key: "service.name", value: { stringValue: service } }] }, scopeSpans: [{ scope: { name: "test" }, spans }] }] };
  const answer = await fetch(`http://${to}/v1/traces`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}

beforeAll(async () => {
  program = await start("receive", join(scratch(), "received"), "--no-browser", "--listen", "127.0.0.1:0", "--grpc", "", "--http", "127.0.0.1:0");
});
afterAll(() => program.stop());
beforeEach(async () => { ({ context, page, errors } = await browse()); });
afterEach(async () => {
  await context.close();
  expect(errors).toEqual([]);
});

test("spans that are sent appear while the page is open", async () => {
  await send("shop", 0, 20);
  await openBench(page, program.address, "v=requests");
  const words = async () => (await page.locator(".panel .canvas[role=img]").first().getAttribute("aria-label")) ?? "";
  await expect.poll(words).toMatch(/^20 requests/);
  await send("bank", 20, 15);
  await expect.poll(words).toMatch(/^35 requests/);
  await settled(page);
  await expect.poll(() => page.getByRole("treeitem", { name: /bank/ }).count()).toBeGreaterThan(0);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/receive.png` });
});
