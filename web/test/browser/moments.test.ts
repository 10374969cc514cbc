// Moments of what is brushed, with what was busy behind them.

import { afterAll, beforeAll, expect, test } from "vitest";
import { browse, drag, frameBox, openBench, serve, settled, type Program } from "./bench";

let program: Program;

beforeAll(async () => { program = await serve("demo:stencil"); });
afterAll(() => program.stop());

test("a brush over the timeline gives the moments of that time, and one click what was busy behind", async () => {
  const { context, page, errors } = await browse({ width: 1500, height: 1000 });
  await openBench(page, program.address, "v=timeline~moments");
  const axis = () => page.evaluate(() => {
    const host = document.querySelectorAll(".picture")[1] as unknown as { picture: { shown: { scene: { frames: { xScale: { begin: number; end: number } }[]; layers: { name: string }[] } } } };
    const s = host.picture.shown.scene;
    return { begin: s.frames[0].xScale.begin, end: s.frames[0].xScale.end, layers: s.layers.map((l) => l.name) };
  });
  const whole = await axis();
  expect(whole.layers).toContain("key");
  const f = await frameBox(page, 0);
  await drag(page, [f.x + f.w * 0.25, f.y + f.h * 0.5], [f.x + f.w * 0.5, f.y + f.h * 0.5]);
  await settled(page);
  const part = await axis();
  expect((part.end - part.begin) / (whole.end - whole.begin)).toBeCloseTo(0.25, 1);
  await page.getByRole("button", { name: "busy behind" }).click();
  await settled(page);
  expect(page.url()).toContain("gantt=behind");
  await context.close();
  expect(errors).toEqual([]);
});
