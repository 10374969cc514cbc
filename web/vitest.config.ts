import { defineConfig } from "vitest/config";

// Logic, beside the code. What needs the program and a browser is in test/browser.
export default defineConfig({
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
});
