import { defineConfig } from "vitest/config";

// Real Chromium against the real program, two files at a time: the machine that runs
// them may have two cores.
export default defineConfig({
  cacheDir: "../../node_modules/.vite-browser",
  test: {
    root: import.meta.dirname,
    include: ["*.test.ts"],
    globalSetup: ["./setup.ts"],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    // Files of a worker share their modules: to load Playwright takes a second of processor time.
    isolate: false,
    setupFiles: ["./each.ts"],
    // Bounds on what must happen, long enough for a machine that is busy elsewhere. Nothing is tried twice.
    expect: { poll: { timeout: 90_000 } },
  },
});
