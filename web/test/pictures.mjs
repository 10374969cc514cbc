// Takes the pictures of the page that the documents show:
//
//   node test/pictures.mjs PARALLAX OUT [NAME=SOURCE]...
//
// PARALLAX is the built program, OUT a folder. Without sources: the demo with the
// slow node, as docs/picture.png and docs/picture-dark.png.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [program, out, ...given] = process.argv.slice(2);
if (!program || !out) {
  console.error("usage: node test/pictures.mjs PARALLAX OUT [NAME=SOURCE]...");
  process.exit(2);
}
const runs = given.length > 0 ? given : ["picture=demo:stencil"];

for (const run of runs) {
  const [name, source] = [run.slice(0, run.indexOf("=")), run.slice(run.indexOf("=") + 1)];
  const child = spawn(program, ["open", source, "--no-browser", "--listen", "127.0.0.1:0"]);
  try {
    const address = await new Promise((found, failed) => {
      let said = "";
      const read = (b) => {
        said += b;
        const m = /http:\/\/127\.0\.0\.1:\d+\/\?\S+/.exec(said);
        if (m) found(m[0]);
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.on("exit", () => failed(new Error(said)));
    });
    for (const dark of [false, true]) await take(address, join(out, `${name}${dark ? "-dark" : ""}.png`), dark);
  } finally {
    child.kill();
  }
}

async function take(address, file, dark) {
  const profile = mkdtempSync(join(tmpdir(), "parallax-pictures-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", viewport: { width: 1600, height: 900 }, colorScheme: dark ? "dark" : "light",
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader"],
  });
  const page = context.pages()[0] ?? (await context.newPage());
  await page.goto(address);
  await page.waitForSelector(".picture");
  await page.waitForFunction(() => [...document.querySelectorAll(".picture")].every((h) => h.picture?.settled));
  await page.waitForSelector(".summary tbody tr");
  await page.waitForTimeout(500);
  await page.screenshot({ path: file });
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
