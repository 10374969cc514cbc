// What the page says, held against the answers of the server at the same request: the head, the list of regions, the
// figures of the selection, the findings, the slider of p, and numbers with a unit in pictures, legends and notes. A number that is in no answer under the name that the page
// gives it fails.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { browse, openBench, serve, settled, type Program } from "./bench";

const root = resolve(import.meta.dirname, "../../..");
const file = (path: string) => resolve(root, path);
/** A recorded run beside the repository, or what a clone has of that kind. */
const real = (path: string, otherwise: string) => (existsSync(resolve(root, "../shared/data", path)) ? resolve(root, "../shared/data", path) : otherwise);

const runs: [string, string][] = [
  ["an MPI trace", real("otf2-lammps-imbalanced16", "demo:stencil")],
  ["a Paje trace", real("paje-is128-g5k/is128.trace.gz", "demo:g5k188")],
  ["a GPU job", real("kineto-ddp-8rank", file("docs/tutorials/data/training-8"))],
  ["a profile", file("docs/tutorials/data/compile.pprof")],
  ["a Go trace", file("docs/tutorials/data/tally/one.trace")],
  ["requests of services", "demo:shop"],
];

let program: Program;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => {
  program = await serve("demo:stencil");
  ({ context, page, errors } = await browse({ width: 1440, height: 900 }));
  await openBench(page, program.address, "");
});
afterAll(async () => {
  await context?.close();
  await program?.stop();
  expect(errors).toEqual([]);
});

type Data = Record<string, unknown>;
interface Region { name: string; role: string; count: number | null; exclusive: number; share: number; mean: number | null }
interface Finding { kind: string; text: string; lost: number; share: number; share_of: string }
interface Answers {
  summary: { unit: string; whole: number; share_of: string; regions: Region[] };
  findings: { findings: Finding[]; pop: Record<string, number | string | null> } | null;
  profile: { whole: number; share_of: string; rows: { region: string; share: number; exclusive: number }[] };
}
interface Bench {
  runID: { value: string };
  api: {
    open(sources: string[]): Promise<{ id: string }[]>;
    runs(): Promise<{ id: string; state: string }[]>;
    summary(run: string, selection: object): Promise<Answers["summary"]>;
    data(run: string, request: object): Promise<{ data: Data; notes: string[] }>;
  };
  missing(view: string): string;
}

/** Opens a source in the program that runs, and shows it. */
async function show(source: string): Promise<void> {
  const id = await page.evaluate(async (s) => {
    const { api } = (window as unknown as { parallax: Bench }).parallax;
    return (await api.open([s]))[0]!.id;
  }, source);
  const ready = () => page.evaluate(async (run) => (await (window as unknown as { parallax: Bench }).parallax.api.runs()).find((r) => r.id === run)?.state, id);
  await expect.poll(ready, { timeout: 30_000 }).toBe("ready");
  await openBench(page, program.address, `run=${id}`);
  await page.locator(".list-head").waitFor();
  await page.locator(".summary tbody tr").first().waitFor();
  await page.locator(".inspect-findings").getByText("Looking for what stands out").waitFor({ state: "detached" });
}

/** What the server answers for the whole run. */
const answers = () => page.evaluate(async () => {
  const bench = (window as unknown as { parallax: Bench }).parallax;
  const run = bench.runID.value;
  const data = async (view: string) => (await bench.api.data(run, { view, width: 960, height: 540 })).data;
  return { summary: await bench.api.summary(run, {}), findings: bench.missing("findings") ? null : await data("findings"), profile: await data("profile") } as unknown as Answers;
});

const texts = (selector: string) => page.locator(selector).evaluateAll((list) => list.map((e) => (e as HTMLElement).innerText));

/** The numbers of a text, with their units; a name is no place to look for one. */
const numbers = (text: string) => [...text.matchAll(/(?<![\w.])(<\s)?-?\d[\d,]*(?:\.\d+)?\s?(?:%|ns|µs|ms|s|k|M|G|B|KiB|MiB|GiB|TiB)?(?![\w.])/g)].map((m) => m[0].trim());

const digits = (x: number) => (Math.abs(x) >= 99.95 || x === 0 ? x.toFixed(0) : x.toFixed(Math.abs(x) >= 9.995 ? 1 : 2));
const scaled = (x: number, units: [number, string][]) => {
  const [by, unit] = units.find(([by]) => Math.abs(x) < 999.5 * by) ?? units[units.length - 1]!;
  return `${digits(x / by)} ${unit}`.trim();
};
const percent = (x: number) => (x !== 0 && Math.abs(x) < 0.0005 ? "< 0.1 %" : `${(x * 100).toFixed(1)} %`);
const duration = (x: number) => (x === 0 ? "0 s" : scaled(x, [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]]));
const count = (x: number) => (Math.abs(x) < 10_000 && Number.isInteger(x) ? x.toLocaleString("en") : scaled(x, [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]]));
const sizes: [number, string][] = [[1, "B"], [1024, "KiB"], [1024 ** 2, "MiB"], [1024 ** 3, "GiB"], [1024 ** 4, "TiB"]];
const inUnit = (x: number, unit: string) => (unit === "ns" ? duration(x) : unit === "bytes" ? scaled(x, sizes) : count(x));

/** Every number of a value, as the page may write it, and every text. */
function written(value: unknown, out: { forms: Set<string>; words: string[] }): void {
  if (typeof value === "number") for (const form of [percent(value), duration(value), scaled(value, sizes), count(value), value.toLocaleString("en"), `${digits(value)} %`]) out.forms.add(form);
  else if (typeof value === "string") out.words.push(value);
  else if (value !== null && typeof value === "object") for (const [k, v] of Object.entries(value)) { out.words.push(k); written(v, out); }
}

/** Numbers with a unit that no answer has. */
const exceptions: [view: string, text: RegExp, reason: string][] = [
  ["boxprofile", /25, 50, 75, 98 %$/, "names of the quantiles that a box shows"],
  ["groups", /^100 %$/, "the end of the scale of how alike two are"],
  ["services", /or more fail$/, "from where on an edge is red"],
  ["operators", /^[\d,]+× · \S+ %$/, "of the GPU time of all operators; the answer has the times"],
  ["criticalpath", /^the slowest request /, "the length of one request, which the view requests answers"],
];

/** Numbers with a unit in pictures, legends and notes that are not in the answers to the same requests. */
async function untraced(): Promise<string[]> {
  const panels = await page.evaluate(async () => {
    type Text = { kind: string; text?: string[] };
    type Host = { picture: { drawn: { request: { view: string }; scene: { layers: { name: string; marks: Text[] }[]; legend: { label: string; rampLow: string; rampHigh: string }[]; notes: string[] } } } };
    const bench = (window as unknown as { parallax: Bench & { api: { table(run: string, request: object, page: object): Promise<object> } } }).parallax;
    const hosts = [...document.querySelectorAll(".picture")] as unknown as Host[];
    return Promise.all(hosts.map(async ({ picture: { drawn: { request, scene } } }) => ({
      view: request.view,
      said: [
        ...scene.layers.filter((l) => !/axis|axes|ticks/.test(l.name)).flatMap((l) => l.marks.flatMap((m) => (m.kind === "text" ? m.text! : []))),
        ...scene.legend.flatMap((e) => [e.label, e.rampLow, e.rampHigh]), ...scene.notes,
      ],
      answer: [await bench.api.data(bench.runID.value, request), await bench.api.table(bench.runID.value, request, { offset: 0, limit: 5000 })],
    })));
  });
  const lost: string[] = [];
  for (const p of panels) {
    const known = { forms: new Set<string>(), words: [] as string[] };
    written(p.answer, known);
    const all = known.words.join("\n");
    for (const text of p.said) for (const n of numbers(text)) if (/[%sB]$/.test(n) && !known.forms.has(n) && !all.includes(n) && !exceptions.some(([view, words]) => view === p.view && words.test(text))) lost.push(`${p.view}: ${n} in "${text}"`);
  }
  return lost;
}

test.each(runs)("%s: every number of the page is one that the server answers", async (_, source) => {
  await show(source);
  const { summary, findings, profile } = await answers();

  // Shares: one base, named by the heading, the same as in the profile.
  expect(await texts(".list-head")).toEqual([`% of ${summary.share_of}`]);
  expect([profile.share_of, profile.whole]).toEqual([summary.share_of, summary.whole]);
  for (const r of summary.regions) expect(r.share).toBeCloseTo(r.exclusive / summary.whole, 9);
  const known = new Map<string, Set<string>>();
  const add = (name: string, value: string) => known.set(name, (known.get(name) ?? new Set()).add(value));
  for (const r of summary.regions) add(r.name, percent(r.share));
  const rows = await page.locator(".region-row:not(.role-row)").evaluateAll((list) => list.map((e) => ({ name: (e as HTMLElement).title.split("\n")[0]!, shown: e.querySelector<HTMLElement>(".number")!.innerText })));
  expect(rows.length).toBeGreaterThan(3);
  for (const { name, shown } of rows) {
    // A long name is shortened in its tooltip too: its share is that of some region.
    const mine = known.get(name) ?? (name.includes("…") ? new Set([...known.values()].flatMap((v) => [...v])) : new Set([""]));
    expect(["", ...mine], name).toContain(shown);
  }
  for (const row of await page.locator(".role-row").evaluateAll((list) => list.map((e) => ({ role: e.querySelector<HTMLElement>(".name")!.innerText, shown: e.querySelector<HTMLElement>(".number")!.innerText })))) {
    // The one sum that the page makes: a role has the shares of its regions together.
    expect(row.shown, row.role).toBe(percent(summary.regions.filter((r) => r.role === row.role).reduce((s, r) => s + r.share, 0)));
  }

  // The figures of the selection.
  const cells = await page.locator(".summary tbody tr").evaluateAll((list) => list.map((tr) => ({ name: tr.querySelector<HTMLElement>("th")!.title, shown: [...tr.querySelectorAll("td")].slice(0, 3).map((td) => td.innerText) })));
  const figures = (r: Region) => [r.count === null ? "–" : count(r.count), inUnit(r.exclusive, summary.unit), r.mean === null ? "–" : inUnit(r.mean, summary.unit)].join(" | ");
  for (const { name, shown } of cells) expect(summary.regions.filter((r) => r.name === name || name.includes("…")).map(figures), name).toContain(shown.join(" | "));

  // The head: each number is under the name that the answer has for it.
  for (const text of await texts(".finding-pop > span")) {
    const [, name, value] = /^(.*?) (\S+ %|< \S+ %)$/.exec(text)!;
    const field = findings!.pop[name!.replaceAll(" ", "_")];
    expect(typeof field, `the head says "${text}", and no answer has that name`).toBe("number");
    expect(value).toBe(percent(field as number));
  }
  const heads = await texts(".finding-head");
  heads.forEach((head, i) => {
    const f = findings!.findings[i]!;
    if (f.lost > 0) expect(head.replace(/\s+/g, " ")).toContain(`${duration(f.lost)} lost · ${percent(f.share)} of ${f.share_of}`);
    else expect(numbers(head.replace(f.kind, ""))).toEqual([]);
  });
  (await texts(".finding-text")).forEach((text, i) => {
    const f = findings!.findings[i]!;
    for (const n of numbers(text.replace(/\s+/g, " "))) expect(f.text).toContain(n);
  });
  expect(await untraced()).toEqual([]);
});

test("the slider of p says what the picture beside it gains and loses, right after each change too", async ({ skip }) => {
  await show(runs[0]![1]);
  const answer = () => page.evaluate(async () => {
    const bench = (window as unknown as { parallax: Bench }).parallax;
    const panel = document.querySelector(".tick-slider-wide")!.closest(".panel")!;
    const { drawn } = (panel.querySelector(".picture") as unknown as { picture: { drawn: { request: object } } }).picture;
    return (await bench.api.data(bench.runID.value, drawn.request)).data as { gain: number; loss: number; thresholds: number[]; stretches?: unknown };
  });
  const first = await answer();
  if (!first.stretches) skip("the answer has samples of a curve, not where it is constant");
  for (const p of first.thresholds.slice(0, 4).map((t) => t + 1e-4)) {
    await page.evaluate((v) => {
      const panel = document.querySelector(".tick-slider-wide")!.closest(".panel")!;
      (window as unknown as { parallax: { setOption(panel: string, name: string, values: string[]): void } }).parallax.setOption(panel.id, "p", [String(v)]);
    }, p);
    await settled(page);
    const { gain, loss } = await answer();
    await expect.poll(() => page.locator(".panel .tick-slider-wide output").first().innerText()).toContain(`gain ${percent(gain)}, loss ${percent(loss)}`);
  }
});
