// Measures the page with many points in space:
//
//   node test/turning.mjs PARALLAX SOURCE [CHROMIUM FLAG]...
//
// PARALLAX is the built program, SOURCE a run, best a store. Prints how long after the page is opened the topology
// is drawn, and the frames per second while it is turned. Flags such as --use-angle=vulkan --ignore-gpu-blocklist
// have Chromium use a GPU; the renderer is printed.

import { spawn } from "node:child_process";
import { chromium } from "playwright-core";

const [program, source, ...flags] = process.argv.slice(2);
if (!program || !source) {
  console.error("usage: node test/turning.mjs PARALLAX SOURCE [CHROMIUM FLAG]...");
  process.exit(2);
}
const child = spawn(program, ["open", source, "--no-browser", "--listen", "127.0.0.1:0"]);
const address = await new Promise((found, failed) => {
  let said = "";
  const read = (b) => {
    said += b;
    const m = /http:\/\/127\.0\.0\.1:\d+\/?\?\S+/.exec(said);
    if (m) found(m[0]);
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  child.on("exit", () => failed(new Error(said)));
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-quic", "--disable-background-networking", ...(flags.length > 0 ? flags : ["--enable-unsafe-swiftshader"])],
});
try {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  const begin = performance.now();
  await page.goto(`${address}&v=topology`);
  await page.waitForFunction(() => [...document.querySelectorAll(".picture")].some((h) => h.picture?.settled && h.picture.scene), null, { timeout: 120_000, polling: 20 });
  const drawn = performance.now() - begin;
  const things = await page.evaluate(() => document.querySelector(".picture").picture.scene.layers.flatMap((l) => l.marks).reduce((n, m) => n + (m.px?.length ?? 0), 0));
  const renderer = await page.evaluate(() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    return info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "none";
  });
  const box = await page.locator(".picture").first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.evaluate(() => {
    window.times = [];
    const tick = (t) => { window.times.push(t); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  });
  const until = performance.now() + 5000;
  for (let k = 0; performance.now() < until; k++) await page.mouse.move(box.x + box.width / 2 + 150 * Math.sin(k / 20), box.y + box.height / 2 + 40 * Math.cos(k / 20));
  const gaps = await page.evaluate(() => window.times.slice(1).map((t, i) => t - window.times[i]));
  await page.mouse.up();
  const camera = new URL(page.url()).searchParams.get("0.camera");
  gaps.sort((a, b) => a - b);
  const sum = gaps.reduce((a, b) => a + b, 0);
  console.log(`${things} points, drawn after ${Math.round(drawn)} ms; ${(1000 * gaps.length / sum).toFixed(0)} frames per second while turned, ` +
    `median ${gaps[gaps.length >> 1].toFixed(0)} ms, longest ${gaps.at(-1).toFixed(0)} ms; camera ${camera}; ${renderer}`);
} finally {
  await browser.close();
  child.kill();
}
