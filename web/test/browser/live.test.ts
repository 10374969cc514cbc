// A run that grows while it is looked at: the page takes what is new and keeps its place.

import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, drag, frameBox, openBench, scratch, serve, settled, state, type Program } from "./bench";

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];
const file = () => join(scratch(), "growing.json");

/** Calls of a rank from one millisecond to another, as an unfinished Chrome trace has them. */
const calls = (rank: number, from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `,\n{"ph":"X","pid":${rank},"tid":0,"name":"work ${(from + i) % 3}","ts":${(from + i) * 1000},"dur":900}`).join("");

beforeAll(async () => {
  writeFileSync(file(), `[{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"rank 1"}}` + calls(1, 0, 100) + calls(2, 0, 100));
  program = await serve("--follow", file());
});
afterAll(() => program.stop());
beforeEach(async () => { ({ context, page, errors } = await browse()); });
afterEach(async () => {
  await context.close();
  expect(errors).toEqual([]);
});

test("a file that grows is taken in, and the selection, panels and address stay", async () => {
  await openBench(page, program.address, "v=timeline");
  const words = () => page.locator(".panel .canvas[role=img]").first().getAttribute("aria-label");
  const before = await words();
  const f = await frameBox(page);
  await drag(page, [f.x + f.w * 0.3, f.y + 20], [f.x + f.w * 0.5, f.y + 20]);
  await settled(page);
  const chosen = await state(page);
  const place = page.url();
  expect(chosen.time!.end).toBeLessThan(60e6);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/live-before.png` });
  appendFileSync(file(), calls(1, 100, 200) + calls(2, 100, 200) + calls(0, 0, 200)); // one rank is new, before the others
  await expect.poll(words).not.toBe(before);
  await settled(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/live-after.png` });
  const after = await state(page);
  expect(after.time).toEqual(chosen.time);
  expect(after.views).toEqual(chosen.views);
  expect(after.window.end).toBeGreaterThan(1.9 * chosen.window.end); // it showed the whole run, and does
  expect(page.url()).toBe(place);
});

const here = (tool: string): boolean => {
  try {
    execFileSync(tool, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

/** A program that runs until it is killed, with its recorder: what it takes, and how it is built in a directory and started. */
interface Recorded {
  name: string;
  tools: string[];
  recorder: string;
  file: string;
  start(at: string): [string, string[]];
}

/** The OpenMP runtime of gcc reports nothing to a recorder: MPI's compiler takes clang where it is there. */
const compile = (cc: string, at: string, ...args: string[]) => execFileSync(cc, ["-O1", "-I", at, ...args, "-ldl", "-lm", "-pthread"], {
  stdio: "ignore", env: { ...process.env, ...(here("clang") && { OMPI_CC: "clang" }) },
});
const source = (at: string, text: string): string => {
  writeFileSync(join(at, "endless.c"), text);
  return join(at, "endless.c");
};
const endlessOf = (cc: string, at: string, text: string, ...args: string[]): string => {
  compile(cc, at, ...args, source(at, text), "-o", join(at, "endless"));
  return join(at, "endless");
};

const recorded: Recorded[] = [
  {
    name: "threads", tools: ["cc"], recorder: "regions", file: "run.moments",
    start: (at) => [endlessOf("cc", at, `#include "parallax.h"
#include <pthread.h>
#include <unistd.h>
static void *work(void *x) { for (;;) { parallax_begin("solve"); for (volatile int i = 0; i < 1000000; i++) ; parallax_end(); usleep(1000); } return x; }
int main(void) { pthread_t t[2]; pthread_create(t, 0, work, 0); pthread_create(t + 1, 0, work, 0); pthread_join(t[0], 0); }`), []],
  },
  {
    name: "Python", tools: ["cc", "python3"], recorder: "regions", file: "run.moments",
    start: (at) => {
      writeFileSync(join(at, "endless.py"), `from parallax_recorder import region
import time
while True:
    with region("solve"): time.sleep(0.001)
`);
      execFileSync(process.env.PARALLAX_TEST_BINARY!, ["recorder", "python", "-o", join(at, "parallax_recorder.py")]);
      return ["python3", [join(at, "endless.py")]];
    },
  },
  {
    name: "OpenMP", tools: ["clang"], recorder: "openmp", file: "run.moments",
    start: (at) => [endlessOf("clang", at, `#include <unistd.h>
int main(void) { for (;;) {
_Pragma("omp parallel num_threads(2)")
usleep(1000);
} }`, "-fopenmp"), []],
  },
  {
    name: "MPI", tools: ["mpicc", "mpirun"], recorder: "mpi", file: "rank-000000.moments",
    start: (at) => ["mpirun", ["--allow-run-as-root", "--oversubscribe", "-n", "2", endlessOf("mpicc", at, `#include <mpi.h>
#include <unistd.h>
int main(void) { MPI_Init(0, 0); for (;;) { MPI_Barrier(MPI_COMM_WORLD); usleep(1000); } }`)]],
  },
  {
    name: "MPI+OpenMP", tools: ["mpicc", "mpirun", "clang"], recorder: "mpi+openmp", file: "rank-000000.moments",
    start: (at) => ["mpirun", ["--allow-run-as-root", "--oversubscribe", "-n", "2", endlessOf("mpicc", at, `#include <mpi.h>
#include <unistd.h>
int main(void) { MPI_Init(0, 0); for (;;) {
_Pragma("omp parallel num_threads(2)")
usleep(1000);
MPI_Barrier(MPI_COMM_WORLD); } }`, "-fopenmp")]],
  },
];

for (const kind of recorded) {
  test.runIf(kind.tools.every(here))(`a program of ${kind.name} that is recorded and still runs is followed without being asked to`, async () => {
    const at = join(scratch(), "recorded-" + kind.name), out = join(at, "out");
    mkdirSync(at, { recursive: true });
    const make = (verb: string, name: string) => execFileSync(process.env.PARALLAX_TEST_BINARY!, ["recorder", verb, "-o", join(at, name)]);
    make(kind.recorder, "recorder.c");
    make("header", "parallax.h");
    const [command, args] = kind.start(at);
    compile(kind.recorder === "regions" ? "cc" : kind.tools[0], at, "-shared", "-fPIC", "-o", join(at, "recorder.so"), join(at, "recorder.c"));
    const endless = spawn(command, args, {
      env: { ...process.env, LD_PRELOAD: join(at, "recorder.so"), PARALLAX_EVERY: "0.3", PARALLAX_OUT: out }, stdio: "ignore",
    });
    let shown: Program | undefined;
    try {
      await expect.poll(() => existsSync(join(out, kind.file))).toBe(true);
      shown = await serve(out);
      expect(shown.said()).toContain("the page follows it");
      await openBench(page, shown.address, "v=moments");
      const end = async () => (await state(page)).window.end;
      const before = await end();
      await expect.poll(end).toBeGreaterThan(before);
      await settled(page);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/live-recorder-${kind.name}.png` });
    } finally {
      endless.kill(kind.name.startsWith("MPI") ? "SIGTERM" : "SIGKILL"); // the launcher ends its ranks
      await shown?.stop();
    }
  });
}
