import { afterEach, describe, expect, test, vi } from "vitest";
import { ApiFailure, createApi } from "./client";
import { measure, query } from "./line";

function answers(...list: (Response | Error)[]) {
  const calls: { url: string; init: RequestInit }[] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    calls.push({ url, init });
    const next = list.shift();
    if (init.signal?.aborted) return Promise.reject(new DOMException("aborted", "AbortError"));
    return next instanceof Response ? Promise.resolve(next) : Promise.reject(next ?? new TypeError("no answer"));
  });
  return calls;
}

const json = (v: unknown, status = 200) => new Response(JSON.stringify(v), { status });
const busy = () => json({ error: "too much", hint: "wait", kind: "busy" }, 503);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function scene(coarse: boolean): Response {
  const header = new TextEncoder().encode(JSON.stringify({ version: 1, strings: [], layers: [], frames: [], coarse }));
  const out = new Uint8Array(4 + header.length);
  new DataView(out.buffer).setUint32(0, header.length, true);
  out.set(header, 4);
  return new Response(out);
}

describe("client", () => {
  test("writes a request the same way every time", async () => {
    const calls = answers(json({ fact: null }), json({ fact: null }));
    const api = createApi();
    const request = (options: Record<string, string | string[]>) => ({
      view: "timeline", width: 800, height: 600, options, selection: { from: 0, to: "50%", locations: ["#1", "a/b c"] },
    });
    await api.pick("run 1", request({ show: "max", busy: ["a", "b"] }), 1.5, 2);
    await api.pick("run 1", request({ busy: ["a", "b"], show: "max" }), 1.5, 2);
    expect(calls[0]!.url).toBe(
      "/api/runs/run%201/views/timeline/pick?busy=a&busy=b&show=max&from=0&to=50%25&locations=%231&locations=a%2Fb+c&width=800&height=600&x=1.5&y=2",
    );
    expect(calls[1]!.url).toBe(calls[0]!.url);
  });

  test("tells what the server keeps, where it says so", async () => {
    answers(new Response("[]", { headers: { "Parallax-Kept": "1024/4096" } }), json([]));
    const api = createApi();
    const told: number[][] = [];
    api.onKept!((used, most) => told.push([used, most]));
    await api.runs();
    await api.runs();
    expect(told).toEqual([[1024, 4096]]);
  });

  test("leaves out what is not set", () => {
    expect(query({ a: undefined, b: 0, c: false, d: [] })).toBe("b=0&c=false");
  });

  test("throws what the server says, in its words", async () => {
    answers(json({ error: "no run", hint: "open it", kind: "not-found" }, 404));
    const failure = await createApi().info("x").catch((e: unknown) => e);
    expect(failure).toBeInstanceOf(ApiFailure);
    expect(failure).toMatchObject({ status: 404, message: "no run", detail: { hint: "open it", kind: "not-found" } });
  });

  test("says so when there is no server, or something else answers", async () => {
    answers(new TypeError("refused"), new Response("<html>", { status: 502 }));
    await expect(createApi().runs()).rejects.toMatchObject({ detail: { kind: "unreachable" } });
    await expect(createApi().runs()).rejects.toMatchObject({ status: 502, detail: { kind: "internal" } });
  });

  test("asks again while the server is busy, but not for ever", async () => {
    vi.useFakeTimers();
    const calls = answers(busy(), busy(), json([]));
    const answer = createApi().runs();
    await vi.runAllTimersAsync();
    expect(await answer).toEqual([]);
    expect(calls.length).toBe(3);

    const many = answers(...Array.from({ length: 20 }, busy));
    const failure = createApi().runs().catch((e: unknown) => e);
    await vi.runAllTimersAsync();
    expect(await failure).toMatchObject({ detail: { kind: "busy" } });
    expect(many.length).toBe(6);
  });

  test("an abort ends the request and the waiting", async () => {
    vi.useFakeTimers();
    answers(busy(), json([]));
    const stop = new AbortController();
    const failure = createApi().info("r", stop.signal).catch((e: unknown) => e);
    await vi.advanceTimersByTimeAsync(10);
    stop.abort();
    await vi.runAllTimersAsync();
    expect(await failure).toMatchObject({ detail: { kind: "aborted" } });
  });

  test("a slow line gets a coarse picture first, a fast one does not", async () => {
    const calls = answers(json({ remote: true }), scene(true), scene(false), scene(false));
    const api = createApi();
    await api.session();
    const drawn: boolean[] = [];
    const request = { view: "v", width: 1, height: 1 };
    await api.scenes("r", request, { panel: "p", seq: 3 }, (s) => drawn.push(s.coarse));
    expect(drawn).toEqual([true, false]);
    expect(calls[1]!.url).toMatch(/panel=\w+-p&seq=3&coarse=1/);
    await api.scenes("r", request, {}, (s) => drawn.push(s.coarse)); // small pictures are exact at once
    expect(drawn).toEqual([true, false, false]);
    expect(createApi().slow()).toBe(false);
  });

  test("the rate comes from large answers, and one hiccup does not make a line slow", () => {
    const line = { rate: Infinity, rates: [] };
    measure(line, 1000, 1);
    expect(line.rate).toBe(Infinity);
    measure(line, 1e6, 10);
    measure(line, 1e6, 1000);
    expect(line.rate).toBe(1e8);
    for (let i = 0; i < 8; i++) measure(line, 1e6, 1000);
    expect(line.rate).toBe(1e6);
  });
});
