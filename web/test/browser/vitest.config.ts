import { defineConfig } from "vitest/config";

// Real Chromium against the real program, two files at a time: the machine that runs
// them may have two cores.
export default defineConfig({
  cacheDir: "../../node_modules/.vite-browser",
  test: {
    root: import.meta.dirname,
    include: ["*.test.ts"],
    globalSetup: ["./setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // A machine that is busy elsewhere may let a page wait too long; what fails twice is wrong.
    // The report names what needed its second try.
    retry: 1,
    expect: { poll: { timeout: 10_000 } },
  },
});
