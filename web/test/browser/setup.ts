// Before all browser tests: starts Chromium, which takes a second of processor time, once for all files;
// builds the program, makes a scratch folder. PARALLAX_BINARY and CHROMIUM name ready-made ones.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium as engine } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];

export default async function setup(): Promise<() => Promise<void>> {
  const chromium = process.env.CHROMIUM ?? places.find((p) => existsSync(p));
  if (!chromium || !existsSync(chromium)) {
    console.error([
      "The browser tests need Chromium, and there is none at " + (process.env.CHROMIUM ?? places.join(", ")) + ".",
      "Install it with    sudo apt-get install chromium",
      "or say where it is with    CHROMIUM=/path/to/chrome npm test",
      "`npm run unit` runs the tests that need no browser.",
    ].join("\n"));
    throw new Error("no Chromium");
  }
  const scratch = mkdtempSync(join(tmpdir(), "parallax-browser-"));
  let binary = process.env.PARALLAX_BINARY;
  if (!binary) {
    binary = join(scratch, "parallax");
    execFileSync("go", ["build", "-o", binary, "./cmd/parallax"], { cwd: resolve(import.meta.dirname, "../../.."), env: { ...process.env, CGO_ENABLED: "0" }, stdio: "inherit" });
  }
  process.env.PARALLAX_TEST_BINARY = binary;
  const browser = await engine.launchServer({
    executablePath: chromium, headless: true, host: "127.0.0.1",
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader"],
  });
  process.env.PARALLAX_TEST_CHROMIUM = chromium;
  process.env.PARALLAX_TEST_BROWSER = browser.wsEndpoint();
  process.env.PARALLAX_TEST_SCRATCH = scratch;
  return async () => {
    await browser.close();
    rmSync(scratch, { recursive: true, force: true });
  };
}
