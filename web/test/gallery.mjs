// Takes the pictures of docs/gallery anew, each by the command that stands below it in
// its README.md: `parallax open SOURCE` is the first screen in Chromium, `parallax view`
// writes its own file.
//
//   node test/gallery.mjs PARALLAX [NAME…]

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const [program, ...only] = process.argv.slice(2);
if (!program) {
  console.error("usage: node test/gallery.mjs PARALLAX [NAME…]");
  process.exit(2);
}
const binary = resolve(program);
const top = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const gallery = join(top, "docs/gallery");
const shots = [...readFileSync(join(gallery, "README.md"), "utf8").matchAll(/!\[[^\]]*\]\(([\w-]+)\.png\)\n\n    parallax (open|view) (.*)\n/g)];

for (const [, name, verb, rest] of shots) {
  if (only.length > 0 && !only.includes(name)) continue;
  const file = join(gallery, `${name}.png`);
  const words = rest.split(" ");
  if (verb === "view") {
    const made = spawnSync(binary, ["view", ...words.slice(0, -1), file], { cwd: top, encoding: "utf8" });
    if (made.status !== 0) throw new Error(made.stderr);
  } else {
    await firstScreen(words, file);
  }
  console.log(file);
}

async function firstScreen(sources, file) {
  const scratch = mkdtempSync(join(tmpdir(), "parallax-gallery-"));
  const child = spawn(binary, ["open", ...sources, "--no-browser", "--listen", "127.0.0.1:0"], {
    cwd: top, env: { ...process.env, PARALLAX_CACHE: join(scratch, "cache"), XDG_CONFIG_HOME: join(scratch, "config"), XDG_STATE_HOME: join(scratch, "state") },
  });
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
    const context = await chromium.launchPersistentContext(join(scratch, "profile"), {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", viewport: { width: 1440, height: 810 }, colorScheme: "light",
      args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader"],
    });
    const page = context.pages()[0] ?? (await context.newPage());
    await page.goto(address);
    await page.waitForSelector(".picture");
    await page.waitForFunction(() => [...document.querySelectorAll(".picture")].every((h) => h.picture?.settled));
    await page.waitForSelector(".summary tbody tr");
    await page.waitForTimeout(1500);
    await page.screenshot({ path: file });
    await context.close();
  } finally {
    child.kill();
    await new Promise((done) => child.on("exit", done));
    rmSync(scratch, { recursive: true, force: true });
  }
}
