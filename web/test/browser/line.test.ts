import { mkdirSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, Door, fingerprints, frameBox, openBench, putOff, scratch, serve, settled, state, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());
afterEach(async () => {
  await context?.close();
  expect(errors ?? []).toEqual([]);
});

test("over a line that is 100 ms long no picture is ever blank, and none jumps", async () => {
  const door = new Door(program.port);
  await door.open();
  ({ context, page, errors } = await browse());
  await openBench(page, door.address(program));
  door.delay = 100;
  const f = await frameBox(page);
  await page.mouse.move(f.x + f.w / 2, f.y + f.h / 2);
  // Every animation frame: where the picture shows a fixed time, where it ought to, and how many colours it has.
  await page.evaluate(() => {
    type Host = HTMLElement & { picture: { scene: { frames: { x: number; w: number; xScale: { begin: number; end: number } }[] }; transform(i: number): { scaleX: number; offsetX: number }; shown: { width: number; scene: { width: number } }; read(): ImageData } };
    const w = window as unknown as { parallax: { store: { window: { begin: number; end: number } } }; watch: { off: number; colours: number }[]; stop: boolean };
    w.watch = [];
    w.stop = false;
    const host = document.querySelector(".picture") as Host;
    const look = () => {
      const g = host.picture.scene.frames[0];
      const t = host.picture.transform(0);
      const range = w.parallax.store.window;
      const mid = (range.begin + range.end) / 2;
      const x = (g.x + ((mid - g.xScale.begin) / (g.xScale.end - g.xScale.begin)) * g.w) * t.scaleX + t.offsetX;
      const visible = g.w - Math.max(0, host.picture.shown.scene.width - host.picture.shown.width);
      const canvas = host.querySelector("canvas")!;
      const row = canvas.getContext("2d")!.getImageData(Math.round(g.x) + 1, Math.round(canvas.height / 2), Math.max(1, Math.round(visible) - 2), 1).data;
      const colours = new Set<number>();
      for (let i = 0; i < row.length; i += 4) colours.add((row[i] << 16) | (row[i + 1] << 8) | row[i + 2]);
      w.watch.push({ off: Math.abs(x - (g.x + visible / 2)), colours: colours.size });
      if (!w.stop) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.keyboard.down("Control");
  for (let i = 0; i < 8; i++) {
    await page.mouse.wheel(0, -60);
    await putOff(page, 40);
  }
  await page.keyboard.up("Control");
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press(i % 3 === 2 ? "a" : "d");
    await putOff(page, 30);
  }
  await settled(page);
  const watch = await page.evaluate(() => {
    const w = window as unknown as { watch: { off: number; colours: number }[]; stop: boolean };
    w.stop = true;
    return w.watch;
  });
  expect(watch.length).toBeGreaterThan(20);
  expect(Math.max(...watch.map((s) => s.off))).toBeLessThan(1.5);
  expect(Math.min(...watch.map((s) => s.colours))).toBeGreaterThan(1);
  await door.close();
});

test("a server that goes away is said so, and the page goes on when it is back", async () => {
  const door = new Door(program.port);
  await door.open();
  ({ context, page, errors } = await browse());
  await openBench(page, door.address(program));
  const before = await fingerprints(page);
  door.shut();
  await page.keyboard.press("w");
  await page.getByRole("alert").filter({ hasText: "does not answer" }).first().waitFor();
  for (const f of await fingerprints(page)) expect(f.colours).toBeGreaterThan(3);
  await door.open();
  await expect.poll(() => page.locator(".trouble").count()).toBe(0);
  await page.keyboard.press("Shift+f");
  await settled(page);
  await page.mouse.move(2, 2);
  expect((await fingerprints(page)).map((f) => f.hash)).toEqual(before.map((f) => f.hash));
  await door.close();
});

describe("strangers", () => {
  const get = (path: string, headers: Record<string, string> = {}) => new Promise<{ status: number; body: string }>((done, failed) => {
    const r = httpRequest({ host: "127.0.0.1", port: program.port, path, headers }, (res) => {
      let body = "";
      res.on("data", (b: Buffer) => (body += b.toString()));
      res.on("end", () => done({ status: res.statusCode ?? 0, body }));
    });
    r.on("error", failed);
    r.end();
  });
  const token = () => new URL(program.address).searchParams.get("token")!;
  test("without the token, or with another, see nothing and are told what to do", async () => {
    expect((await get("/api/runs")).status).toBe(403);
    expect((await get("/?token=wrong")).status).toBe(403);
    expect((await get("/api/runs", { Authorization: "Bearer wrong" })).status).toBe(403);
    expect((await get("/api/runs", { Authorization: `Bearer ${token()}` })).status).toBe(200);
    ({ context, page, errors } = await browse());
    await page.goto(`http://127.0.0.1:${program.port}/`);
    expect(await page.locator("body").innerText()).toMatch(/token/);
    errors.length = 0; // the refused page itself is an error in the console
  });
  test("under a foreign name or from a foreign page are refused", async () => {
    const auth = { Authorization: `Bearer ${token()}` };
    expect((await get("/api/runs", { ...auth, Host: "evil.example" })).status).toBe(421);
    expect((await get("/api/runs", { ...auth, Origin: "http://evil.example" })).status).toBe(403);
    expect((await get("/api/runs", { ...auth, "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  });
});

test("hostile names are drawn as text, everywhere", async () => {
  const names = ["<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\u202Eevil\u202C right to left שלום", "x".repeat(10_000), "a\"b'c&d;e", "%s%n{{7*7}}${7*7}"];
  const dir = join(scratch(), "hostile");
  mkdirSync(dir, { recursive: true });
  const events = names.flatMap((name, i) => [
    { ph: "M", pid: i, tid: 0, name: "process_name", args: { name } },
    { ph: "M", pid: i, tid: 1, name: "thread_name", args: { name: `${name}-thread` } },
    { ph: "X", pid: i, tid: 1, ts: i * 10, dur: 500 + i, name, cat: name },
  ]);
  writeFileSync(join(dir, "hostile.json"), JSON.stringify({ traceEvents: events }));
  const hostile = await serve(join(dir, "hostile.json"));
  try {
    const opened = await browse({ width: 1600, height: 900 });
    ({ context, page, errors } = opened);
    await openBench(page, hostile.address);
    await page.keyboard.press("Control+Shift+P");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "More for locations" }).click();
    await page.getByRole("menuitem", { name: "Open all groups" }).click();
    const f = await frameBox(page);
    for (let i = 0; i < 6; i++) {
      await page.mouse.move(f.x + f.w * 0.4, f.y + (f.h * (i + 0.5)) / 6);
      await putOff(page, 150);
    }
    await page.mouse.click(f.x + f.w * 0.4, f.y + f.h * 0.08);
    await page.locator(".panel").first().getByRole("button", { name: "Table view" }).click();
    await page.locator(".twin-row").first().waitFor();
    await page.locator("#search").fill("script");
    await page.locator(".hit").first().waitFor();
    expect(await page.evaluate(() => (window as unknown as { hit?: number }).hit)).toBeUndefined();
    expect(await page.locator("#app script, #app img").count()).toBe(0);
    expect(await page.locator(".side-left").innerText()).toContain("<script>");
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(opened.requests.filter((u) => !u.startsWith(`http://127.0.0.1:${hostile.port}/`) && !u.startsWith("data:"))).toEqual([]);
  } finally {
    await hostile.stop();
  }
});

test("a file can be dropped, is streamed with progress, and opens; a bad one says what to do", async () => {
  const home = await serve();
  try {
    ({ context, page, errors } = await browse());
    await page.goto(home.address);
    await page.getByRole("heading", { name: /parallel program/ }).waitFor();
    const good = JSON.stringify({ traceEvents: [{ ph: "X", pid: 1, tid: 1, ts: 0, dur: 100, name: "work" }, { ph: "X", pid: 1, tid: 1, ts: 200, dur: 100, name: "rest" }] });
    await page.locator("input[type=file]").setInputFiles({ name: "bad.bin", mimeType: "application/octet-stream", buffer: Buffer.from("this is not a trace at all") });
    const failure = page.locator(".home-failure, .run-failed").first();
    await failure.waitFor();
    expect((await failure.innerText()).length).toBeGreaterThan(20);
    const dropped = await page.evaluateHandle((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "good.json", { type: "application/json" }));
      return data;
    }, good);
    await page.dispatchEvent(".home", "drop", { dataTransfer: dropped });
    await page.waitForSelector(".panel .picture");
    await settled(page);
    expect(await page.locator(".run-menu").innerText()).toContain("good.json");
    expect((await state(page)).views.length).toBeGreaterThan(0);
    await page.locator(".brand").click();
    await page.getByRole("heading", { name: /parallel program/ }).waitFor();
    await page.getByRole("region", { name: "Demos" }).getByRole("button", { name: /demo:stencil/ }).click();
    await page.waitForSelector(".panel .picture");
    expect(page.url()).toContain("run=");
  } finally {
    await home.stop();
  }
});
