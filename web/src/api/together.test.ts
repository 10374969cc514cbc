import { afterEach, expect, test, vi } from "vitest";
import { ApiFailure, createApi } from "./client";
import { readParts } from "./together";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const bytes = (text: string) => new TextEncoder().encode(text);

/** An answer in parts, cut at every so many bytes. */
function parts(list: { ask: number; status: number; body: string }[], each = Infinity): ReadableStream<Uint8Array> {
  const whole = bytes(list.map((p) => `${JSON.stringify({ ask: p.ask, status: p.status, bytes: bytes(p.body).length })}\n${p.body}`).join(""));
  return new ReadableStream({
    start(c) {
      for (let at = 0; at < whole.length; at += each) c.enqueue(whole.slice(at, Math.min(at + each, whole.length)));
      c.close();
    },
  });
}

test("parts are read however they are cut", async () => {
  for (const each of [1, 2, 7, 50, Infinity]) {
    const got: string[] = [];
    await readParts(parts([{ ask: 1, status: 200, body: "one\n{}" }, { ask: 0, status: 200, body: "" }, { ask: 2, status: 422, body: "ä".repeat(40) }], each),
      (h, body) => got.push(`${h.ask} ${h.status} ${new TextDecoder().decode(body)}`));
    expect(got).toEqual(["1 200 one\n{}", "0 200 ", `2 422 ${"ä".repeat(40)}`]);
  }
});

test("what is asked for at one time is one request, and each has its own answer", async () => {
  const sent: { url: string; ask: string[] }[] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    sent.push({ url, ask: (JSON.parse(init.body as string) as { ask: string[] }).ask });
    return Promise.resolve(new Response(parts([{ ask: 1, status: 422, body: `{"error":"nothing there","hint":"","kind":"empty"}` }, { ask: 0, status: 200, body: `{"regions":[]}` }])));
  });
  const api = createApi();
  const first = api.summary("a b", { from: 1, to: 2 }, { panel: "summary", seq: 1, together: true });
  const second = api.data("a b", { view: "treemap", width: 64, height: 64 }, { together: true });
  const refused = expect(second).rejects.toMatchObject({ detail: { error: "nothing there", kind: "empty" } });
  expect(await first).toEqual({ regions: [] });
  await refused;
  expect(sent.length).toBe(1);
  expect(sent[0]!.url).toBe("/api/runs/a%20b/together");
  expect(sent[0]!.ask[0]).toMatch(/^summary\?from=1&to=2&panel=/);
  expect(sent[0]!.ask[1]).toBe("views/treemap/data?width=64&height=64");
});

test("one alone is asked for as always", async () => {
  const sent: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    sent.push(url);
    return Promise.resolve(new Response("{}"));
  });
  await createApi().summary("r", {}, { together: true });
  expect(sent).toEqual(["/api/runs/r/summary?"]);
});

test("giving all up gives the request up, one alone does not", async () => {
  let signal: AbortSignal | undefined;
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    signal = init.signal!;
    return new Promise((_, no) => signal!.addEventListener("abort", () => no(new DOMException("aborted", "AbortError"))));
  });
  vi.useFakeTimers();
  const api = createApi();
  const stops = [new AbortController(), new AbortController()];
  const asked = stops.map((s) => api.summary("r", {}, { signal: s.signal, together: true }).catch((e: unknown) => (e as ApiFailure).detail.kind));
  vi.runAllTimers();
  stops[0]!.abort();
  expect(await asked[0]).toBe("aborted");
  expect(signal!.aborted).toBe(false);
  stops[1]!.abort();
  expect(await asked[1]).toBe("aborted");
  expect(signal!.aborted).toBe(true);
});

test("an answer that breaks off fails those that are not answered", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(parts([{ ask: 0, status: 200, body: "{}" }]))));
  const api = createApi();
  const [first, second] = [api.summary("r", {}, { together: true }), api.summary("r", {}, { together: true })];
  const broken = expect(second).rejects.toMatchObject({ detail: { kind: "unreachable" } });
  expect(await first).toEqual({});
  await broken;
});
