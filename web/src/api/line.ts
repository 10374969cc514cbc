// The line to the server: one place for errors, retries, and how fast it is.

import type * as t from "./types";

/** An answer of an unexpected kind. */
export class ApiFailure extends Error {
  constructor(readonly detail: t.ApiError, readonly status: number) {
    super(detail.error);
  }
}

/** The line to the server: errors, retries, and how fast it is. */
export interface Line {
  /** Tells the panels of this page from those of others, and from itself before a reload. */
  readonly page: string;
  remote: boolean;
  /** Bytes a second of large answers lately; Infinity until there was one. */
  rate: number;
  /** What the last few of them gave. */
  rates: number[];
  /** Called with the server's cached bytes and its limit, with each answer that has them. */
  kept: (used: number, most: number) => void;
  fetch(path: string, signal?: AbortSignal, init?: RequestInit): Promise<Response>;
  json<T>(path: string, signal?: AbortSignal, init?: RequestInit): Promise<T>;
  bytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer>;
}

export function createLine(base: string): Line {
  const line: Line = {
    page: Math.random().toString(36).slice(2, 10),
    remote: false,
    rate: Infinity,
    rates: [],
    kept: () => {},
    fetch: (path, signal, init) => fetchPatiently(line, base + path, signal, init),
    json: async <T>(path: string, signal?: AbortSignal, init?: RequestInit) => {
      const answer = await line.fetch(path, signal, init);
      return (await whole(() => answer.json())) as T;
    },
    bytes: async (path, signal) => {
      const answer = await line.fetch(path, signal);
      const begin = performance.now();
      const body = await whole(() => answer.arrayBuffer());
      measure(line, Number(answer.headers.get("Content-Length") ?? body.byteLength), performance.now() - begin);
      return body;
    },
  };
  return line;
}

/**
 * Takes the rate from answers large enough to fill the line: the best of the last
 * few, since a busy machine can make a fast line look slow, but nothing the other way.
 */
export function measure(line: { rate: number; rates: number[] }, bytes: number, ms: number): void {
  if (bytes < 64_000) return;
  line.rates = [...line.rates, bytes / Math.max(ms / 1000, 1e-4)].slice(-8);
  line.rate = Math.max(...line.rates);
}

const patience = 5;

/** Asks again when the server has too much to do; other failures are thrown. */
async function fetchPatiently(line: Line, url: string, signal?: AbortSignal, init: RequestInit = {}): Promise<Response> {
  const headers: Record<string, string> = { ...(init.headers as Record<string, string> | undefined) };
  if (Number.isFinite(line.rate)) headers["Parallax-Rate"] = line.rate.toFixed(0);
  if (typeof init.body === "string") headers["Content-Type"] = "application/json";
  for (let attempt = 0; ; attempt++) {
    const answer = await whole(() => fetch(url, { ...init, headers, signal: signal ?? null, credentials: "same-origin" }));
    if (answer.ok) {
      const kept = /^(\d+)\/(\d+)$/.exec(answer.headers.get("Parallax-Kept") ?? "");
      if (kept) line.kept(Number(kept[1]), Number(kept[2]));
      return answer;
    }
    const failure = new ApiFailure(await errorOf(answer), answer.status);
    if (failure.detail.kind !== "busy" || attempt >= patience) throw failure;
    await pause(100 * 2 ** attempt, signal);
  }
}

async function errorOf(answer: Response): Promise<t.ApiError> {
  try {
    const e = (await answer.json()) as Partial<t.ApiError>;
    if (typeof e.error === "string") return { error: e.error, hint: e.hint ?? "", kind: e.kind ?? "internal", ...(e.place ? { place: e.place } : {}) };
  } catch {
    // Not ours: something in between answered.
  }
  return { error: `the server answers ${answer.status}`, hint: "reload the page", kind: "internal" };
}

/** Turns the two ways in which a fetch breaks off into failures. */
async function whole<T>(f: () => Promise<T>): Promise<T> {
  try {
    return await f();
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw aborted();
    throw new ApiFailure(
      { error: "the server does not answer", hint: "is parallax still running? this page goes on when it is back", kind: "unreachable" }, 0,
    );
  }
}

export function aborted(): ApiFailure {
  return new ApiFailure({ error: "the request was given up", hint: "", kind: "aborted" }, 0);
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(aborted());
    }, { once: true });
  });
}

export type Query = Record<string, string | number | boolean | string[] | undefined>;

/** Writes parameters in a fixed order, so that equal requests have equal addresses. */
export function query(q: Query): string {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(q)) {
    if (value === undefined) continue;
    for (const v of Array.isArray(value) ? value : [value]) out.append(key, String(v));
  }
  return out.toString().replaceAll("%2C", ","); // long lists of ids stay short
}
