// What the page says, held against the answers of the server at the same request: head, lists, figures of the selection,
// findings, the slider of p, and of each panel axes, texts, legend, notes, table, and what the inspector says of a mark.
// A number that is in no answer under the name that the page gives it fails.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { wrongEnds, wrongTicks, type Panel, type Table, type Text } from "./axes";
import { browse, openBench, restAfter, serve, settled, type Program } from "./bench";
import { count, duration, inUnit, learn, numbers, percent, rowsNamed, rowsOf, valueOf, type Known, type Row } from "./said";

const root = resolve(import.meta.dirname, "../../..");
const file = (path: string) => resolve(root, path);
/** A recorded run beside the repository, or what a clone has of that kind. */
const real = (path: string, otherwise: string) => {
  const there = resolve(root, "../shared/data", path);
  return existsSync(there) ? there : otherwise;
};

const runs: [string, string][] = [
  ["an MPI trace", real("otf2-lammps-imbalanced16", "demo:stencil")],
  ["a Paje trace", real("paje-hpl128-g5k", "demo:g5k188")],
  ["a trace whose rows are groups of ranks", "demo:g5k433"],
  ["a GPU job", real("kineto-ddp-8rank", file("docs/tutorials/data/training-8"))],
  ["a profile", file("docs/tutorials/data/compile.pprof")],
  ["a Go trace", file("docs/tutorials/data/tally/one.trace")],
  ["a request of Jaeger", file("docs/tutorials/data/ride.json")],
  ["requests of many services", real("public/zipkin/smartthings/smartthings-mobile-web-install.json", "demo:shop")],
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

interface Region { name: string; role: string; count: number | null; exclusive: number; share: number; [figure: string]: unknown }
interface Summary { unit: string; whole: number; share_of: string; regions: Region[] }
interface Finding { kind: string; text: string; lost: number; share: number; share_of: string }
interface Info { end: number; ranks: number; rows: number; locations: number; regions: number; report: { kind: string; count: number; lost: boolean }[] }
interface Line { label: string; value: string; exact: string }
interface Fact { title: string; lines: { label: string; value: string }[]; more?: boolean; locations?: number[]; row?: { Location: number; Lane: number; Row: number } }
interface Bench {
  runID: { value: string };
  hoverFact: { value: { fact: Fact } | null };
  setOption(panel: string, name: string, values: string[]): void;
  api: {
    open(sources: string[]): Promise<{ id: string }[]>;
    runs(): Promise<{ id: string; state: string }[]>;
    info(run: string): Promise<Info>;
    summary(run: string, selection: object): Promise<Summary>;
    ask(run: string, sql: string): Promise<{ columns: { name: string }[]; rows: (string | number | null)[][] }>;
    data(run: string, request: object): Promise<{ selection: { begin: number; end: number }; data: Row; notes: string[] }>;
    table(run: string, request: object, page: object): Promise<Table>;
  };
  missing(view: string): string;
}
/** A location as SQL tells it. */
interface Location { rank: number | null; name: string; held: number }

/** Opens a source in the program that runs, shows it, and waits until all is told. */
async function show(source: string): Promise<void> {
  const id = await page.evaluate(async (s) => {
    const { api } = (window as unknown as { parallax: Bench }).parallax;
    return (await api.open([s]))[0]!.id;
  }, source);
  const ready = () => page.evaluate(async (run) => (await (window as unknown as { parallax: Bench }).parallax.api.runs()).find((r) => r.id === run)?.state, id);
  await expect.poll(ready, { timeout: 120_000 }).toBe("ready");
  await openBench(page, program.address, `run=${id}`);
  await page.locator(".list-head").waitFor();
  await page.locator(".summary tbody tr").first().waitFor();
  await page.locator(".inspect-findings").getByText("Searching for findings").waitFor({ state: "detached" });
  await settled(page);
}

const texts = (selector: string) => page.locator(selector).evaluateAll((list) => list.map((e) => (e as HTMLElement).innerText.replace(/\s+/g, " ").trim()));

/** What the server answers for the whole run. */
const answers = () => page.evaluate(async () => {
  const bench = (window as unknown as { parallax: Bench }).parallax;
  const run = bench.runID.value;
  const data = async (view: string) => (await bench.api.data(run, { view, width: 960, height: 540 })).data;
  return {
    info: await bench.api.info(run),
    summary: await bench.api.summary(run, {}),
    findings: (bench.missing("findings") ? null : await data("findings")) as { findings: Finding[]; pop: Record<string, unknown> } | null,
    profile: (await data("profile")) as { whole: number; share_of: string },
  };
});

/** Rows of SQL, by the names of their columns. */
async function ask(sql: string): Promise<Row[]> {
  const { columns, rows } = await page.evaluate((q) => {
    const bench = (window as unknown as { parallax: Bench }).parallax;
    return bench.api.ask(bench.runID.value, q);
  }, sql);
  return rows.map((r) => Object.fromEntries(columns.map((c, i) => [c.name, r[i]])));
}

/** The locations by id, with how many with intervals are in each. */
async function locationsOf(ids: readonly number[]): Promise<Map<number, Location>> {
  const rows = ids.length === 0 ? [] : await ask(`select id, name, rank, (select count(*) from locations b where b.id between a.id and a.last and b.intervals > 0) as held from locations a where id in (${ids.join(",")})`);
  return new Map(rows.map((r) => [r.id as number, r as unknown as Location]));
}

/** The panels with what they show, and the answers to the same requests. */
const panels = (): Promise<Panel[]> => page.evaluate(async () => {
  type Mark = { kind: string; text: string[]; x: Float32Array; y: Float32Array; x0: Float32Array; y0: Float32Array; x1: Float32Array; y1: Float32Array };
  type Legend = { label: string; rampLow: string; rampHigh: string };
  type Scene = { frames: Panel["frames"]; layers: { name: string; marks: Mark[] }[]; legend: Legend[]; notes: string[] };
  const bench = (window as unknown as { parallax: Bench }).parallax;
  const hosts = [...document.querySelectorAll(".picture")] as (HTMLElement & { picture: { drawn: { request: { view: string; options?: Record<string, string[]> }; scene: Scene } } })[];
  return Promise.all(hosts.map(async (host) => {
    const { request, scene } = host.picture.drawn;
    const panel = host.closest<HTMLElement>(".panel")!;
    return {
      id: panel.id, view: request.view, request,
      frames: scene.frames.map(({ name, x, y, w, h, xScale, yScale }) => ({ name, x, y, w, h, xScale, yScale })),
      layers: scene.layers.map((l) => ({
        name: l.name,
        texts: l.marks.filter((m) => m.kind === "text").flatMap((m) => m.text.map((text, i) => ({ text, x: m.x[i]!, y: m.y[i]! }))),
        lines: l.marks.filter((m) => m.kind === "line" && l.name === "axis").flatMap((m) => [...m.x0].map((x, i): [number, number, number, number] => [x, m.y0[i]!, m.x1[i]!, m.y1[i]!])),
      })),
      words: [...scene.legend.flatMap((e) => [e.label, e.rampLow, e.rampHigh]), ...scene.notes].filter((s) => s !== ""),
      around: panel.innerText.replace(/\s+/g, " "),
      answer: await bench.api.data(bench.runID.value, request),
      table: await bench.api.table(bench.runID.value, request, { offset: 0, limit: 1000 }),
      whole: /^(treemap|overview)$/.test(request.view) ? (await bench.api.data(bench.runID.value, { ...request, options: { ...request.options, p: ["1"] } })).data : null,
    };
  }));
});

/** Numbers that no answer has, for a reason. */
const exceptions: [view: string, text: RegExp, reason: string][] = [
  ["boxprofile", /\b(2|25, 50, 75, 98) %$/, "names of the quantiles that a box shows"],
  ["groups", /^100 %$/, "the end of the scale of how alike two are"],
  ["services", /or more fail$/, "from where on an edge is red"],
];

const told = new Map<string, Known>();

/** What rows say, remembered by a key. */
function knownOf(key: string, rows: () => unknown): Known {
  const there = told.get(key) ?? learn(rows(), { forms: new Set(), words: new Set() });
  told.set(key, there);
  return there;
}

/** Which numbers of a text are in none of the rows of its name, where it has one, nor, where it has none, in the answer. */
function untraced(p: Panel, all: Known, text: string, known: Known): string[] {
  if (all.words.has(text) || exceptions.some(([view, words]) => view === p.view && words.test(text))) return [];
  return numbers(text).filter((n) => !known.forms.has(n) && !known.forms.has(n.replace(/^-/, ""))).map((n) => `${p.view}: ${n} in "${text}"`);
}

/** What the rows say that a text of a picture stands beside; all, where it stands beside none. */
function knownBeside(p: Panel, rows: readonly Row[], t: Text, all: Known): Known {
  for (const f of p.frames) {
    const row = f.yScale.kind === "rows" ? f.yScale.rows.find((r) => t.y > r.from && t.y <= r.to) : undefined;
    if (!row || row.label === "") continue;
    const known = knownOf(`${p.id} ${row.label}`, () => rowsNamed(rows, row.label));
    if (known.words.size > 0) return known;
  }
  return all;
}

/** All rows of a panel's answers; a row of time has its length too. */
function answered(p: Panel): Row[] {
  const table = p.table.rows.map((cells) => Object.fromEntries(p.table.columns.map((c, i) => [c.name, cells[i]])));
  type Group = { name?: string; boxes?: Row[] };
  const boxes = ((p.answer.data.groups ?? []) as Group[]).flatMap((g) => (g.boxes ?? []).map((b): Row => ({ ...b, group: g.name })));
  return [...rowsOf(p.answer.data), ...boxes, ...meanStep(p), ...table].map((r: Row) => (typeof r.begin === "number" && typeof r.end === "number" ? { ...r, duration: r.end - r.begin } : r));
}

/** The mean of all steps, as the sum of those of the answer over their number. */
function meanStep(p: Panel): Row[] {
  if (p.view !== "steps") return [];
  const steps = p.answer.data.rows as { gpus: Record<string, number>[] }[];
  const of = steps.flatMap((s) => s.gpus);
  const means = Object.keys(of[0] ?? {}).map((k) => [k, of.reduce((sum, g) => sum + (typeof g[k] === "number" ? g[k] : 0), 0) / steps.length]);
  return [{ name: `mean (mean of ${steps.length} steps)`, ...(p.answer.data.mean as Row), gpu: Object.fromEntries(means) }];
}

/** What follows from an answer at once: how many there are of a kind, parts of a whole, what is told as a logarithm. */
function derived(p: Panel): unknown[] {
  const { data } = p.answer;
  const out: unknown[] = [p.table.total, ...p.table.columns.map((_, i) => new Set(p.table.rows.map((r) => r[i])).size)];
  out.push(...Object.values(data).filter(Array.isArray).map((a) => a.length), ...p.frames.map((f) => f.yScale.rows.length));
  for (const [k, v] of Object.entries(data)) if (k.endsWith("_log10")) out.push(Math.round(10 ** (v as number)));
  for (const k of ["gain", "loss"]) if (p.whole && (p.whole[k] as number) > 0) out.push((data[k] as number) / (p.whole[k] as number));
  return out;
}

/** What is wrong with the names of rows: ranks, and how many a group holds. */
async function wrongNames(p: Panel): Promise<string[]> {
  const rows = p.frames.flatMap((f) => f.yScale.rows).filter((r) => r.location !== 0xffffffff);
  const locations = await locationsOf([...new Set(rows.map((r) => r.location))]);
  const wrong: string[] = [];
  for (const r of rows) {
    const rank = /^rank (\d+)( |$)/.exec(r.label)?.[1];
    const held = /\(([\d,]+)\)$/.exec(r.label)?.[1];
    const truth = locations.get(r.location)!;
    if (rank !== undefined && Number(rank) !== truth.rank) wrong.push(`${p.view}: row "${r.label}" has rank ${truth.rank}`);
    if (held !== undefined && held !== count(truth.held)) wrong.push(`${p.view}: row "${r.label}" holds ${truth.held}`);
  }
  return wrong;
}

/** Each number of a list of ranks such as "rank 3, 7–15". */
const ranksIn = (list: string) => [...list.matchAll(/(\d+)(?:–(\d+))?/g)].flatMap(([, a, b]) => Array.from({ length: Number(b ?? a) - Number(a) + 1 }, (_, i) => Number(a) + i));

/** Names of groups whose legend tells ranks. */
const groupNames = (p: Panel) => ((p.answer.data.groups ?? []) as { name?: string }[]).flatMap((g) => g.name ?? []);

/** What is wrong with the legend of groups: it names the ranks of the members that the answer lists. */
async function wrongGroups(p: Panel): Promise<string[]> {
  const groups = (p.answer.data.groups ?? []) as { name?: string; members?: number[] }[];
  const wrong: string[] = [];
  for (const g of groups.filter((x) => x.name && x.members)) {
    const said = p.words.find((w) => w.startsWith(`${g.name}: rank `) && !/…|more/.test(w));
    if (!said) continue;
    const ranks = [...(await locationsOf(g.members!)).values()].map((l) => l.rank);
    if (String(ranksIn(said.slice(g.name!.length + 2)).sort((a, b) => a - b)) !== String(ranks.sort((a, b) => a! - b!))) wrong.push(`${p.view}: "${said}" are ranks ${ranks.join()}`);
  }
  return wrong;
}

/** Numbers of pictures, legends and notes that are not in the answers to the same requests. */
async function wrongTexts(p: Panel): Promise<string[]> {
  const rows = answered(p);
  const all = learn([p.answer, p.table.rows, rows, derived(p)], { forms: new Set(), words: new Set() });
  const wrong = [...(await wrongNames(p)), ...(await wrongGroups(p))];
  for (const { name, texts } of p.layers.filter((l) => l.name !== "axis" && l.name !== "rows")) {
    for (const t of texts) {
      const group = name === "names" ? /^(.*) · ([\d,]+)$/.exec(t.text) : null;
      // A group of a treemap tells how many it holds: the leaves of the parts whose paths go through it.
      const held = group && rows.filter((r) => typeof r.leaves === "number" && [r.path, r.group].some((at) => `/${at}/`.includes(`/${group[1]}/`)));
      if (group && held && held.length > 0) {
        const sum = [...new Map(held.map((r) => [r.path, r.leaves as number])).values()].reduce((a, b) => a + b, 0);
        if (count(sum) !== group[2]) wrong.push(`${p.view}: "${t.text}" holds ${sum}`);
      } else wrong.push(...untraced(p, all, t.text, knownBeside(p, rows, t, all)));
    }
  }
  for (const w of p.words) {
    const more = /^\+ ([\d,]+) more$/.exec(w);
    if (more) {
      // Of the regions on rows of locations; those of groups are drawn by role.
      const ids = p.frames.flatMap((f) => f.yScale.rows).map((r) => r.location).join();
      const names = new Set((await ask(`select distinct region from intervals where location in (${ids})`)).map((r) => r.region));
      const left = names.size - p.words.filter((x) => names.has(x)).length;
      if (count(left) !== more[1]) wrong.push(`${p.view}: "${w}" of the legend are ${left}`);
    } else if (!groupNames(p).some((g) => w.startsWith(`${g}: rank `))) wrong.push(...untraced(p, all, w, all));
  }
  // Around the picture stands nothing that is not in it, but what the slider says, which has a test of its own.
  const said = learn([p.words, p.layers, p.answer], { forms: new Set(all.forms), words: new Set() });
  const around = p.around.replace(/p [\d.]+, (gain|all)[^‹›]*?balanced [\d.]+/, "");
  wrong.push(...numbers(around).filter((n) => !said.forms.has(n)).map((n) => `${p.view}: ${n} around the picture`));
  return wrong;
}

/** A place of each panel where a mark is that has facts. */
const marks = () => page.evaluate(() => {
  type Host = HTMLElement & { picture: { known(x: number, y: number): Fact | null | undefined } };
  return ([...document.querySelectorAll(".picture")] as Host[]).map((host) => {
    const box = host.getBoundingClientRect();
    // From the middle on, so that it is no name of a row.
    for (let y = 8; y < box.height - 24; y += 5) {
      for (let x = box.width * 0.45; x < box.width - 8; x += 9) {
        const fact = host.picture.known(x, y);
        if (fact && fact.lines.some((l) => /\d/.test(l.value))) return { id: host.closest(".panel")!.id, x: box.x + x, y: box.y + y, title: fact.title };
      }
    }
    return null;
  });
});

/** What SQL tells of a fact: where its region is in the program, the location and the interval with their attributes. */
async function toldBySQL(name: string, { row, locations }: Fact): Promise<Row[]> {
  const regions = await ask(`select name, file, line from regions where name = '${name.replaceAll("'", "''")}'`);
  const places = (locations ?? []).length === 1 ? await ask(`select key, value from attributes where "of" = 'location' and location = ${locations![0]}`) : [];
  if (places.length > 0) regions.push({ name, ...Object.fromEntries(places.map((a) => [a.key as string, a.value])) });
  if (!row) return regions;
  const where = `location = ${row.Location} and lane = ${row.Lane} and row = ${row.Row}`;
  const [interval] = await ask(`select * from intervals where ${where}`);
  const attributes = await ask(`select key, value from attributes where "of" = 'interval' and ${where}`);
  return [...regions, { ...interval, name, ...Object.fromEntries(attributes.map((a) => [a.key as string, a.value])) }];
}

/** Parts that a line "17.9 ms, 7.2 %" may tell: of the time that is shown, of a total of its row, of the sum of such lines. */
function partsOf(line: Line, rows: readonly Row[], p: Panel, lines: readonly Line[]): number[] {
  if (!/^.*, (< )?[\d.]+ %/.test(line.value)) return [];
  const exact = (l: Line) => parseFloat(l.exact.replaceAll(",", ""));
  const sum = lines.filter((l) => l.value.endsWith("% of its sum")).reduce((s, l) => s + exact(l), 0);
  // The loss of a treemap is a share; in bits all there is to lose is that of its one part at p = 1.
  const bits = ((p.whole?.parts ?? []) as Row[]).map((part) => part.loss);
  const wholes = [p.answer.selection.end - p.answer.selection.begin, sum, ...bits, ...rows.map((r) => r.total)];
  return wholes.filter((w) => typeof w === "number" && w > 0).map((w) => exact(line) / (w as number));
}

/** What the inspector says of a mark of each panel, held against the rows of that name, by field where one is named so. */
async function wrongFacts(all: Panel[]): Promise<{ seen: number; wrong: string[] }> {
  const wrong: string[] = [];
  let seen = 0;
  await restAfter(page, 0);
  for (const mark of await marks()) {
    if (!mark) continue;
    await page.mouse.move(mark.x, mark.y);
    await page.waitForFunction((title) => {
      const shown = (window as unknown as { parallax: Bench }).parallax.hoverFact.value;
      return shown !== null && shown.fact.title === title && !shown.fact.more && document.querySelector(".fact-title .name") !== null;
    }, mark.title);
    const card = await page.locator(".inspect-facts .fact").evaluate((e) => ({
      title: e.querySelector<HTMLElement>(".fact-title")!.innerText, text: e.querySelector<HTMLElement>(".fact-text")?.innerText ?? "",
      lines: [...e.querySelectorAll(".fact-lines > div")].map((d) => ({ label: d.querySelector("dt")!.innerText, value: d.querySelector("dd")!.innerText.replace(/\s+/g, " "), exact: d.querySelector("dd")!.title })),
    }));
    const fact = await page.evaluate(() => (window as unknown as { parallax: Bench }).parallax.hoverFact.value!.fact);
    seen++;
    const p = all.find((x) => x.id === mark.id)!;
    const stored = await toldBySQL(card.title, fact);
    const rows = [...answered(p), ...rowsOf(p.whole), ...stored];
    let named = rowsNamed(rows, card.title);
    if (named.length === rowsNamed(stored, card.title).length && fact.locations?.length === 1) {
      const [at] = await ask(`select path from locations where id = ${fact.locations[0]}`);
      named = rows.filter((r) => r.path === at!.path || stored.includes(r));
    }
    let mine = named;
    // A mark of a region on a location is the row of both; what it says besides is of the region alone.
    for (const l of card.lines.filter((l) => /^(path|location|service|region|group|block)$/.test(l.label))) {
      const name = l.label === "group" && /^\d+$/.test(l.value) ? `group ${l.value}` : l.exact || l.value;
      const at = mine.filter((r) => r.path === name);
      const both = at.length > 0 ? at : rowsNamed(mine, name);
      if (both.length > 0) mine = both;
    }
    const alone = named.filter((r) => !("path" in r || "location" in r || "group" in r));
    const everything = learn([p.answer, rows, p.table.rows, p.words], { forms: new Set(), words: new Set() });
    for (const l of card.lines) {
      const field = /^m\d (busy time|mean time|deviation|skew)$/.test(l.label) ? l.label.slice(0, 2) : l.label.replaceAll(" ", "_");
      const own = mine.filter((r) => /^[-<\d]/.test(l.value) && typeof r[field] === "number").map((r) => r[field]);
      const from = own.length > 0 ? own : mine.length > 0 ? [...mine, ...alone, ...(await ask(`select rank, path from locations where path = '${l.exact.replaceAll("'", "''")}'`))] : [];
      if (p.words.some((w) => w.endsWith(`: ${l.value}`))) continue; // the ranks of a group, as its legend has them
      const parts = learn(partsOf(l, mine, p, card.lines), { forms: new Set(), words: new Set() });
      const text = l.value.replace(/, ((?:< )?[\d.]+ %)/, (all, part: string) => (parts.forms.has(part) ? "" : all));
      wrong.push(...untraced(p, everything, text, from.length > 0 ? learn(from, { forms: new Set(), words: new Set() }) : everything).map((w) => `${w}, ${l.label} of ${card.title}`));
    }
  }
  return { seen, wrong };
}

/** What is wrong in the tables of all panels: every column of the first rows. */
async function wrongTables(all: Panel[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const p of all) {
    await page.locator(`#${p.id}`).getByRole("button", { name: "Table view" }).click();
    const grid = page.locator(`#${p.id} .twin`);
    await grid.locator(".twin-row").first().waitFor();
    await expect.poll(() => grid.locator(".twin-row").first().innerText()).not.toMatch(/^…/);
    const answer = await page.evaluate(async (view) => {
      const bench = (window as unknown as { parallax: Bench }).parallax;
      return bench.api.table(bench.runID.value, view, { offset: 0, limit: 5 });
    }, { ...p.request, width: 960, height: 540 });
    const heads = await grid.locator(".twin-head button").allInnerTexts();
    expect(heads.map((h) => h.trim()), p.view).toEqual(answer.columns.map((c) => c.title ?? c.name));
    const shown = await grid.locator(".twin-row").evaluateAll((list) => list.slice(0, 5).map((r) => [...r.querySelectorAll<HTMLElement>("[role=cell]")].map((c) => c.innerText)));
    answer.rows.slice(0, shown.length).forEach((cells, i) => cells.forEach((v, k) => {
      const column = answer.columns[k]!;
      const told = inUnit(v, column.unit);
      if (shown[i]![k] !== told && !shown[i]![k]!.includes("…") && !(typeof v === "number" && numbers(shown[i]![k]!).length === 1 && Math.abs(valueOf(shown[i]![k]!) - v) <= 1e-12)) wrong.push(`${p.view}: row ${i}, ${column.name}: "${shown[i]![k]}" for ${String(v)}, "${told}"`);
    }));
  }
  return wrong;
}

test.each(runs)("%s: every number of the page is one that the server answers", async (_, source) => {
  await show(source);
  const { info, summary, findings, profile } = await answers();

  // The head of the page, of the lists, and the line at the bottom.
  const locations = (n: number) => `${count(n)} ${n === 1 ? "location" : "locations"}`;
  const who = info.ranks > 0 ? `${count(info.ranks)} ${info.ranks === 1 ? "rank" : "ranks"}` : locations(info.rows || info.locations);
  expect((await texts("header.bar"))[0]).toContain(` · ${who} · ${info.end > 0 ? duration(info.end) : "a profile without time"}`);
  expect(await texts(".side-left .side-head")).toEqual([expect.stringMatching(new RegExp(`^Locations ${count(info.locations)}\\b`)), expect.stringMatching(new RegExp(`^Regions ${count(info.regions)}\\b`))]);
  const report = (await texts(".status"))[0]!;
  for (const kind of ["repaired", "guessed", "skipped"]) {
    const n = info.report.filter((r) => (kind === "skipped" ? r.lost : r.kind === kind)).reduce((sum, r) => sum + r.count, 0);
    if (n > 0) expect(report).toContain(`${count(n)} ${kind}`);
    else expect(report).not.toMatch(new RegExp(`[1-9]\\S* ?k? ${kind}`));
  }

  // Shares: one base, named by the heading, the same as in the profile.
  expect(await texts(".list-head")).toEqual([`% of ${summary.share_of}`]);
  expect([profile.share_of, profile.whole]).toEqual([summary.share_of, summary.whole]);
  for (const r of summary.regions) expect(r.share).toBeCloseTo(r.exclusive / summary.whole, 9);
  const known = new Map<string, Set<string>>();
  for (const r of summary.regions) known.set(r.name, (known.get(r.name) ?? new Set()).add(percent(r.share)));
  const rows = await page.locator(".region-row:not(.role-row)").evaluateAll((list) => list.map((e) => ({ name: (e as HTMLElement).title.split("\n")[0]!, shown: e.querySelector<HTMLElement>(".number")!.innerText })));
  expect(rows.length).toBeGreaterThan(0);
  for (const { name, shown } of rows) {
    // A long name is shortened in its tooltip too: its share is that of some region.
    const mine = known.get(name) ?? (name.includes("…") ? new Set([...known.values()].flatMap((v) => [...v])) : new Set([""]));
    expect(["", ...mine], name).toContain(shown);
  }
  for (const row of await page.locator(".role-row").evaluateAll((list) => list.map((e) => ({ role: e.querySelector<HTMLElement>(".name")!.innerText, shown: e.querySelector<HTMLElement>(".number")!.innerText })))) {
    // The one sum that the page makes: a role has the shares of its regions together.
    expect(row.shown, row.role).toBe(percent(summary.regions.filter((r) => r.role === row.role).reduce((s, r) => s + r.share, 0)));
  }

  // The figures of the selection: each column by the field of its name.
  const fields = (await texts(".summary thead th")).slice(1).map((h) => ({ calls: "count", "mean of a call": "mean" })[h.replace(/ ↓$/, "")] ?? h.replace(/ ↓$/, ""));
  const cells = await page.locator(".summary tbody tr").evaluateAll((list) => list.map((tr) => ({ name: tr.querySelector<HTMLElement>("th")!.title, shown: [...tr.querySelectorAll("td")].map((td) => td.innerText) })));
  const figures = (r: Region) => fields.map((f) => inUnit(r[f] as number | null, f === "count" ? "count" : summary.unit)).join(" | ");
  // A name that several regions have is followed by the category.
  for (const { name, shown } of cells) expect(summary.regions.filter((r) => r.name === name || name.startsWith(`${r.name} · `) || name.includes("…")).map(figures), name).toContain(shown.join(" | "));

  // The head of the findings: each number is under the name that the answer has for it.
  for (const text of await texts(".finding-pop > span")) {
    const [, name, value] = /^(.*?) (\S+ %|< \S+ %)$/.exec(text)!;
    const field = findings!.pop[name!.replaceAll(" ", "_")];
    expect(typeof field, `the head says "${text}", and no answer has that name`).toBe("number");
    expect(value).toBe(percent(field as number));
  }
  (await texts(".finding-head")).forEach((head, i) => {
    const f = findings!.findings[i]!;
    if (f.lost > 0) expect(head).toContain(`${duration(f.lost)} lost · ${percent(f.share)} of ${f.share_of}`);
    else expect(numbers(head.replace(f.kind, ""))).toEqual([]);
  });
  (await texts(".finding-text")).forEach((text, i) => {
    for (const n of numbers(text)) expect(findings!.findings[i]!.text).toContain(n);
  });

  told.clear();
  const all = await panels();
  expect(all.flatMap(wrongTicks)).toEqual([]);
  expect(all.flatMap(wrongEnds)).toEqual([]);
  expect((await Promise.all(all.map(wrongTexts))).flat()).toEqual([]);
  const { seen, wrong } = await wrongFacts(all);
  expect(wrong).toEqual([]);
  expect(seen).toBeGreaterThan(0);
  expect(await wrongTables(all)).toEqual([]);
}, 180_000);

/** The same numbers a tenth too large, wherever they are below a value. */
function inflated<T>(value: T): T {
  if (typeof value === "number") return (value * 1.1) as T;
  if (Array.isArray(value)) return value.map(inflated) as T;
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, inflated(v)])) as T;
  return value;
}

test("a wrong number is found: at the end of an axis, at a tick, in a picture, in the facts of a row of several ranks", async () => {
  await show("demo:g5k433");
  const all = await panels();
  const moments = all.find((p) => p.view === "moments")!;
  expect((moments.answer.data.groups as unknown[]).length).toBeGreaterThan(0);
  for (const p of all) {
    const wider = p.frames.map((f) => ({ ...f, xScale: { ...f.xScale, end: f.xScale.end * 1.1 } }));
    const axes = p.frames.filter((f) => ["time", "linear", "log"].includes(f.xScale.kind)).length;
    expect(wrongEnds({ ...p, frames: wider }).length, p.view).toBe(axes);
    if (axes > 0 && p.layers.some((l) => l.name === "axis" && l.lines.length > 0)) expect(wrongTicks({ ...p, frames: wider }), p.view).not.toEqual([]);
    const texts = (t: Text) => ({ ...t, text: t.text.replace(/^[\d.]+ (ms|s|%|k)$/, "77.77 $1") });
    const layers = p.layers.map((l) => ({ ...l, texts: l.texts.map(texts) }));
    if (p.layers.some((l) => l.name !== "axis" && l.name !== "rows" && l.texts.some((t) => texts(t).text !== t.text))) expect(await wrongTexts({ ...p, layers }), p.view).not.toEqual([]);
  }
  const answer = { ...moments.answer, data: inflated(moments.answer.data) };
  const { wrong } = await wrongFacts(all.map((p) => (p === moments ? { ...p, answer, table: inflated(p.table) } : p)));
  expect(wrong.filter((w) => w.startsWith("moments: "))).toHaveLength(4);
});

/** The panel with the slider of p: what its picture is, by the answer, as shares of all as one. */
const slider = () => page.evaluate(async () => {
  const bench = (window as unknown as { parallax: Bench }).parallax;
  const panel = document.querySelector(".tick-slider")!.closest<HTMLElement>(".panel")!;
  const { request } = (panel.querySelector(".picture") as unknown as { picture: { drawn: { request: { options: object } } } }).picture.drawn;
  type Cut = { p: number; gain: number; loss: number; parts: unknown[]; suggested: number; stretches: { from: number; to: number }[] };
  const at = async (r: object) => (await bench.api.data(bench.runID.value, r)).data as unknown as Cut;
  const [now, whole] = [await at(request), await at({ ...request, options: { ...request.options, p: ["1"] } })];
  const said = panel.querySelector<HTMLElement>(".tick-slider output")!.innerText;
  return {
    said, note: panel.querySelector<HTMLElement>(".panel-note")!.innerText, id: panel.id, p: now.p, parts: now.parts.length, gain: now.gain / whole.gain, loss: now.loss / whole.loss,
    suggests: panel.querySelector<HTMLElement>(".tick-slider > button:last-child")!.innerText, suggested: now.suggested, stretches: now.stretches,
  };
});

test("the slider of p says what the picture beside it gains and loses, after each change too", async () => {
  await show(runs[0]![1]);
  await page.locator(".tick-slider output", { hasText: "gain" }).waitFor(); // it asks on its own
  const first = await slider();
  expect(first.stretches.length).toBeGreaterThan(1);
  expect(first.suggests).toBe(`balanced ${first.suggested.toPrecision(2)}`);
  const inside = first.stretches.slice(-4).flatMap(({ from, to }) => [0.001, 0.5, 0.999].map((x) => from + x * (to - from)));
  for (const p of [first.p, first.suggested, ...inside]) {
    await page.evaluate(([id, v]) => (window as unknown as { parallax: Bench }).parallax.setOption(id as string, "p", [String(v)]), [first.id, p]);
    await settled(page);
    const now = await slider();
    expect(now.p).toBe(p);
    const words = `gain ${percent(now.gain)}, loss ${percent(now.loss)}`;
    expect(now.note).toContain(words);
    expect(now.said).toBe(`p ${Number(p.toPrecision(3))}, ${words}, ${now.parts} ${now.parts === 1 ? "part" : "parts"}`);
  }
});
