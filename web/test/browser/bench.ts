// What the browser tests share: a server of the real program, a browser, a door
// between them that can be slow or shut, and words for what is on the page.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer, connect, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type Download, type Page } from "playwright-core";

const env = (name: string): string => {
  const v = process.env[name];
  if (!v) throw new Error(`${name} is not set: run these tests with npm run browser`);
  return v;
};

export const scratch = (): string => env("PARALLAX_TEST_SCRATCH");

/** The cache of programs of this file; empty: that of all files, so that sources are imported once. */
let cache = "";

/** Gives programs that are started from now on a cache of their own: stories and notes, which lie there, are not those of other files. */
export function ownCache(): void {
  cache = mkdtempSync(join(scratch(), "cache-"));
}

/** A running program. */
export interface Program {
  /** The printed address, with its token. */
  address: string;
  port: number;
  process: ChildProcess;
  /** What it printed so far. */
  said(): string;
  stop(): Promise<void>;
}

/** Starts the program on a port of its own and waits for its address. */
export function serve(...sources: string[]): Promise<Program> {
  return serveAt("127.0.0.1:0", ...sources);
}

/** The same at a given address; port 0 takes a free one. */
export function serveAt(address: string, ...sources: string[]): Promise<Program> {
  return start("open", ...sources, "--no-browser", "--root", "/", "--listen", address); // tests open samples anywhere
}

/** An address of loopback where nothing but this process and its programs listens: its ports stay free between two of them. */
export const ownAddress = (): string => `127.1.${(process.pid >> 8) & 255}.${process.pid & 255}`;

/** Starts any verb of the program that serves the page. */
export async function start(...args: string[]): Promise<Program> {
  const child = spawn(env("PARALLAX_TEST_BINARY"), args, {
    env: { ...process.env, PARALLAX_CACHE: cache || join(scratch(), "cache"), XDG_CONFIG_HOME: join(scratch(), "config"), XDG_STATE_HOME: join(scratch(), "state") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const address = await new Promise<string>((found, failed) => {
    const read = (b: Buffer) => {
      said += b.toString();
      const m = /http:\/\/127\.\d+\.\d+\.\d+:\d+\/\?\S+/.exec(said);
      if (m) found(m[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => failed(new Error(`parallax ended with ${code}: ${said}`)));
    setTimeout(() => failed(new Error(`parallax printed no address: ${said}`)), 150_000).unref();
  });
  const stop = () => new Promise<void>((done) => {
    if (child.exitCode !== null) return done();
    child.on("exit", () => done());
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), 5000).unref();
  });
  return { address, port: Number(new URL(address).port), process: child, said: () => said, stop };
}

/** A door in front of a program, which can be shut, and can delay what comes back. Shut, it keeps its port: nobody else can take it. */
export class Door {
  private server: Server | null = null;
  private sockets = new Set<Socket>();
  private isOpen = false;
  private port = 0;
  delay = 0;

  constructor(private readonly to: number) {}

  async open(): Promise<void> {
    this.isOpen = true;
    if (this.server) return;
    this.server = createServer((s) => {
      if (!this.isOpen) return void s.destroy();
      const out = connect(this.to, "127.0.0.1");
      for (const x of [s, out]) {
        this.sockets.add(x);
        x.on("close", () => this.sockets.delete(x));
        x.on("error", () => { s.destroy(); out.destroy(); });
      }
      s.pipe(out);
      out.on("data", (b) => { setTimeout(() => s.writable && s.write(b), this.delay); });
      out.on("end", () => setTimeout(() => s.end(), this.delay));
    });
    await new Promise<void>((done) => this.server!.listen(0, "127.0.0.1", () => done()));
    this.port = (this.server.address() as { port: number }).port;
  }

  shut(): void {
    this.isOpen = false;
    for (const s of this.sockets) s.destroy();
  }

  async close(): Promise<void> {
    this.shut();
    await new Promise<void>((done) => this.server!.close(() => done()));
  }

  address(of: Program): string {
    return of.address.replace(`:${of.port}/`, `:${this.port}/`);
  }
}

export interface BrowserOptions {
  width?: number;
  height?: number;
  dark?: boolean;
  scale?: number;
  /** A screen that is touched, as that of a telephone. */
  touch?: boolean;
}

// The browser that setup.ts started: it takes seconds to start, a profile of its own for each test does not.
let browser: Promise<Browser> | null = null;

/** Closes what a file has opened in the browser: the next file begins without its pages and its cache. */
export async function clear(): Promise<void> {
  const b = await browser;
  browser = null;
  cache = "";
  pages.clear();
  await b?.close();
}

/** 101 pixels of the strip, and 720 for the rest. */
const usualHeight = 821;

/** An empty profile in the browser. */
async function newProfile(options: BrowserOptions): Promise<BrowserContext> {
  browser ??= chromium.connect(env("PARALLAX_TEST_BROWSER"));
  return (await browser).newContext({
    acceptDownloads: true, viewport: { width: options.width ?? 1280, height: options.height ?? usualHeight },
    deviceScaleFactor: options.scale ?? 1, colorScheme: options.dark ? "dark" : "light", hasTouch: options.touch ?? false,
  });
}

export interface Opened {
  context: BrowserContext;
  page: Page;
  /** What went wrong in the page. */
  errors: string[];
  requests: string[];
  /** The same, with each of those that were asked together. */
  asked: string[];
}

async function pageIn(context: BrowserContext): Promise<Opened> {
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  const opened: Opened = { context, page, errors: [], requests: [], asked: [] };
  page.on("pageerror", (e) => opened.errors.push(String(e)));
  page.on("console", (m) => { if (m.type() === "error" && !/Failed to load resource/.test(m.text())) opened.errors.push(m.text()); });
  page.on("request", (r) => {
    opened.requests.push(r.url());
    const together = r.url().endsWith("/together") ? (r.postDataJSON() as { ask: string[] }).ask.map((path) => new URL(path, r.url()).href) : [r.url()];
    opened.asked.push(...together);
  });
  return opened;
}

/** A page in an empty profile of its own: closed with its context. */
export async function browse(options: BrowserOptions = {}): Promise<Opened> {
  return pageIn(await newProfile(options));
}

const pages = new Map<string, Opened>();

/** A page that the tests of a file use one after the other, which halves their time: given back with leave. */
export async function newPage(options: BrowserOptions = {}): Promise<Opened> {
  const key = JSON.stringify(options);
  const kept = pages.get(key) ?? (await browse(options));
  pages.set(key, kept);
  kept.errors = [];
  kept.requests = [];
  kept.asked = [];
  await kept.page.setViewportSize({ width: options.width ?? 1280, height: options.height ?? usualHeight });
  await kept.page.emulateMedia({ colorScheme: options.dark ? "dark" : "light" });
  return kept;
}

/** Leaves nothing behind for the next test. */
export async function leave(page: Page): Promise<void> {
  await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); }).catch(() => undefined); // a page that shows an error has none
  await page.goto("about:blank");
  await page.unrouteAll();
  await page.context().clearCookies();
}

/** Waits until every picture on the page is exact, nothing is under way, and the address says it. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const hosts = [...document.querySelectorAll(".picture")] as (HTMLElement & { picture?: { settled: boolean } })[];
    const bench = (window as unknown as { parallax: { addressWritten: boolean } }).parallax;
    return hosts.length > 0 && hosts.every((h) => h.picture?.settled) && bench.addressWritten;
  }, undefined, { timeout: 90_000 });
}

/** Waits until what the page puts off by up to so many milliseconds is done: its frames and timers come in their order, however late. */
export async function putOff(page: Page, ms: number): Promise<void> {
  await page.evaluate((wait) => new Promise<void>((done) => {
    const frame = (then: () => void) => requestAnimationFrame(() => requestAnimationFrame(then));
    frame(() => setTimeout(() => frame(done), wait));
  }), ms);
}

/** Sets how long the pointer rests before the page asks for more than a picture tells. */
export async function restAfter(page: Page, ms: number): Promise<void> {
  await page.evaluate((wait) => { (window as unknown as { parallax: { restDelay: number } }).parallax.restDelay = wait; }, ms);
}

/** Opens the page with two panels that every build has; "" leaves the choice to the page. */
export async function openBench(page: Page, address: string, query = "v=timeline@1.6~activity"): Promise<void> {
  await page.goto(query === "" ? address : `${address}&${query}`);
  await page.waitForSelector(".panel .picture");
  await settled(page);
}

/** Opens a source in the program that runs, and gives the id of its run. */
export async function openRun(page: Page, source: string): Promise<string> {
  return page.evaluate(async (s) => {
    type Run = { id: string; state: string };
    const { api } = (window as unknown as { parallax: { api: { open(sources: string[]): Promise<Run[]>; runs(): Promise<Run[]> } } }).parallax;
    const { id } = (await api.open([s]))[0]!;
    while ((await api.runs()).find((r) => r.id === id)?.state !== "ready") await new Promise((done) => setTimeout(done, 100));
    return id;
  }, source);
}

/** The element of a panel's picture. */
export const picture = (page: Page, n = 0) => page.locator(".picture").nth(n);

/** The place of a frame of a picture on the page. */
export async function frameBox(page: Page, n = 0): Promise<{ x: number; y: number; w: number; h: number }> {
  const box = (await picture(page, n).boundingBox())!;
  const f = await page.evaluate((i) => {
    const host = document.querySelectorAll(".picture")[i] as unknown as { picture: { shown: { scene: { width: number; frames: { x: number; y: number; w: number; h: number }[] }; width: number } } };
    const { scene, width } = host.picture.shown;
    const g = scene.frames[0];
    return { x: g.x, y: g.y, w: g.w - Math.max(0, scene.width - width), h: g.h };
  }, n);
  return { x: box.x + f.x, y: box.y + f.y, w: f.w, h: f.h };
}

/** A fingerprint of the pixels of each picture, and how many colours they have. */
export async function fingerprints(page: Page): Promise<{ hash: number; colours: number }[]> {
  return page.evaluate(() => ([...document.querySelectorAll(".picture")] as unknown as { picture: { read(): ImageData } }[]).map((h) => {
    const d = new Uint32Array(h.picture.read().data.buffer);
    let hash = 0;
    const colours = new Set<number>();
    for (let i = 0; i < d.length; i++) {
      hash = (Math.imul(hash, 31) + d[i]) | 0;
      if (i % 7 === 0) colours.add(d[i]);
    }
    return { hash, colours: colours.size };
  }));
}

interface State {
  window: { begin: number; end: number };
  time: { begin: number; end: number } | null;
  locations: string[];
  regions: string[];
  only: string[];
  views: string[];
}

/** The state of the page, in its own words. */
export async function state(page: Page): Promise<State> {
  return page.evaluate(() => {
    const bench = (window as unknown as { parallax: { store: { window: State["window"]; look: State }; layout: { value: { rows: { panels: { view: string }[] }[] } } } }).parallax;
    const { look } = bench.store;
    return {
      window: bench.store.window, time: look.time, locations: [...look.locations], regions: [...look.regions], only: [...look.only],
      views: bench.layout.value.rows.flatMap((r) => r.panels.map((p) => p.view)),
    };
  });
}

/** What a download holds. */
export async function contents(of: Download): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await of.createReadStream()) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Drags from one point of the page to another. */
export async function drag(page: Page, from: [number, number], to: [number, number]): Promise<void> {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, { steps: 3 });
  await page.mouse.move(...to, { steps: 3 });
  await page.mouse.up();
}
