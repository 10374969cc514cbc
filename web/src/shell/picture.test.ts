import { beforeEach, describe, expect, test, vi } from "vitest";
import { ApiFailure, type Api, type Ticket } from "../api/client";
import type { ApiError, ViewRequest } from "../api/types";
import type { Painter, Transform } from "../scene/painter";
import type { Scene } from "../scene/scene";
import { Picture, type Wants } from "./picture";

// A view with 100 px of labels and 20 px at the right: what the server would lay out.
function sceneOf(r: ViewRequest): Scene {
  const none = { kind: "" as const, begin: 0, end: 0, label: "", rows: [] };
  return {
    width: r.width, height: r.height, title: "", description: "", layers: [], legend: [], notes: [], empty: null, coarse: false,
    frames: [{ name: "plot", x: 100, y: 0, w: r.width - 120, h: r.height, xScale: { ...none, kind: "time", begin: Number(r.selection?.from ?? 0), end: Number(r.selection?.to ?? 10000) }, yScale: none }],
  };
}

interface Call { request: ViewRequest; ticket: Ticket; answer(): Promise<void>; fail(e: ApiError): Promise<void> }

let calls: Call[];
let transforms: (Transform | null)[];
let drawn: Scene[];
let failures: (ApiError | null)[];
let picture: Picture;

const wholeRun = { begin: 0, end: 10000 };
function wants(change: Partial<Wants> = {}): Wants {
  const window = change.window ?? wholeRun;
  return { run: "r", view: "timeline", options: {}, spec: { from: window.begin, to: window.end }, window, wholeRun, width: 1120, height: 200, theme: "light", local: true, slides: true, scroll: 0, live: ["camera"], ...change };
}
const settle = async () => { for (let i = 0; i < 5; i++) await Promise.resolve(); };

beforeEach(() => {
  calls = []; transforms = []; drawn = []; failures = [];
  const api = {
    scenes: (_run: string, request: ViewRequest, ticket: Ticket, draw: (s: Scene) => void) => new Promise<void>((resolve, reject) => {
      calls.push({
        request, ticket,
        answer: async () => { draw(sceneOf(request)); resolve(); await settle(); },
        fail: async (e) => { reject(new ApiFailure(e, 500)); await settle(); },
      });
    }),
  } as unknown as Api;
  const painter = {
    draw: (s: Scene) => { drawn.push(s); transforms = []; }, setTransform: (i: number, t: Transform) => { transforms[i] = t; },
    setTheme: vi.fn(), setSpace: vi.fn(), ringLocations: vi.fn(), pickSpace: () => null, highlight: vi.fn(), destroy: vi.fn(),
  } as unknown as Painter;
  picture = new Picture("p", api, painter, { scene: () => {}, busy: () => {}, failed: (e) => failures.push(e), moved: () => {} });
});

async function open(): Promise<void> {
  picture.update(wants());
  await settle();
  await calls[0].answer();
}

describe("a window of the same view", () => {
  test("moves the drawn scene at once, then the exact one is drawn with overscan", async () => {
    await open();
    picture.update(wants({ window: { begin: 4000, end: 6000 } }));
    expect(transforms[0]!.scaleX).toBe(5);
    await settle();
    expect(calls[1].request).toMatchObject({ width: 1120 + 500, selection: { from: 3500, to: 6500 } });
    await calls[1].answer();
    expect(transforms[0]).toEqual({ scaleX: 1, offsetX: -250, scaleY: 1, offsetY: 0 });
    expect(calls.length).toBe(2);
  });
  test("a short pan is served from the overscan", async () => {
    await open();
    picture.update(wants({ window: { begin: 4000, end: 6000 } }));
    await settle();
    await calls[1].answer();
    picture.update(wants({ window: { begin: 4200, end: 6200 } }));
    await settle();
    expect(calls.length).toBe(2);
    expect(transforms[0]!.offsetX).toBe(-350);
    picture.update(wants({ window: { begin: 4490, end: 6490 } }));
    await settle();
    expect(calls.length).toBe(3);
  });
  test("moving on while an answer is awaited sends no second request, and none is lost", async () => {
    await open();
    for (let i = 0; i < 5; i++) {
      picture.update(wants({ window: { begin: 1000 * i, end: 1000 * i + 500 } }));
      await settle();
    }
    expect(calls.length).toBe(2);
    expect(calls[1].ticket.signal!.aborted).toBe(false);
    await calls[1].answer();
    expect(calls.length).toBe(3);
    expect(calls[2].request.selection).toMatchObject({ from: 3875, to: 4625 });
    await calls[2].answer();
    expect(calls.length).toBe(3);
    expect(picture.transform(0)).toEqual({ scaleX: 1, offsetX: -250, scaleY: 1, offsetY: 0 });
  });
});

describe("another option or selection", () => {
  test("aborts what is under way and drops its answer", async () => {
    await open();
    picture.update(wants({ options: { show: ["max"] } }));
    await settle();
    picture.update(wants({ options: { show: ["min"] } }));
    await settle();
    expect(calls[1].ticket.signal!.aborted).toBe(true);
    await calls[1].answer();
    expect(drawn.length).toBe(1);
    await calls[2].answer();
    expect(drawn.length).toBe(2);
  });
  test("going back to what is drawn asks for nothing", async () => {
    await open();
    picture.update(wants({ options: { show: ["max"] } }));
    await settle();
    picture.update(wants());
    await settle();
    expect(calls[1].ticket.signal!.aborted).toBe(true);
    expect(calls.length).toBe(2);
  });
});

test("what is turned by hand shows the answers on the way, and ends with the last", async () => {
  const turned = (camera: string) => wants({ local: false, options: { camera: [camera] } });
  picture.update(turned("0"));
  await settle();
  await calls[0].answer();
  for (const c of ["1", "2", "3"]) {
    picture.update(turned(c));
    await settle();
  }
  expect(calls.length).toBe(2);
  expect(calls[1].ticket.signal!.aborted).toBe(false);
  await calls[1].answer();
  expect(drawn.length).toBe(2);
  expect(calls[2].request.options).toEqual({ camera: ["3"] });
  await calls[2].answer();
  expect(calls.length).toBe(3);
  expect(picture.settled).toBe(true);
});

test("a view that depends on its window moves with it, and is computed anew when the window rests", async () => {
  vi.useFakeTimers();
  try {
    picture.update(wants({ view: "moments", local: false }));
    await settle();
    await calls[0].answer();
    for (let i = 1; i <= 5; i++) picture.update(wants({ view: "moments", local: false, window: { begin: 100, end: 200 * i } }));
    await settle();
    expect(picture.still).toBe(false);
    expect(picture.settled).toBe(false);
    expect(calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(calls.length).toBe(2);
    expect(calls[1].request).toMatchObject({ width: 1120, selection: { from: 100, to: 1000 } });
  } finally {
    vi.useRealTimers();
  }
});

test("a view whose last answer took long waits for a longer rest", async () => {
  vi.useFakeTimers();
  try {
    const at = (end: number) => picture.update(wants({ view: "boxprofile", local: false, window: { begin: 100, end } }));
    picture.update(wants({ view: "boxprofile", local: false }));
    await settle();
    vi.advanceTimersByTime(300);
    await calls[0].answer();
    for (const end of [200, 300, 400]) { // ticks of a wheel
      at(end);
      await vi.advanceTimersByTimeAsync(150);
    }
    expect(calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(calls.length).toBe(2);
    expect(calls[1].request.selection).toMatchObject({ to: 400 });
    await calls[1].answer(); // at once: it is asked for as the others are
    at(500);
    await vi.advanceTimersByTimeAsync(100);
    expect(calls.length).toBe(3);
  } finally {
    vi.useRealTimers();
  }
});

test("a view whose axis is the brushed range stays where it is", async () => {
  picture.update(wants({ view: "moments", local: false, slides: false }));
  await settle();
  await calls[0].answer();
  picture.update(wants({ view: "moments", local: false, slides: true, window: { begin: 100, end: 200 } }));
  expect(picture.still).toBe(true);
});

describe("a failure", () => {
  const error = (kind: ApiError["kind"]): ApiError => ({ error: "x", hint: "", kind });
  test("is told, keeps the picture, and does not ask again by itself", async () => {
    await open();
    picture.update(wants({ options: { show: ["max"] } }));
    await settle();
    await calls[1].fail(error("internal"));
    expect(failures.at(-1)?.kind).toBe("internal");
    expect(drawn.length).toBe(1);
    expect(calls.length).toBe(2);
    picture.reload();
    await settle();
    expect(calls.length).toBe(3);
  });
  test("of an abort is not told", async () => {
    await open();
    const told = failures.length;
    picture.update(wants({ options: { show: ["max"] } }));
    await settle();
    await calls[1].fail(error("aborted"));
    expect(failures.length).toBe(told);
  });
});

test("a server with too much to do is asked again a little later", async () => {
  vi.useFakeTimers();
  try {
    picture.update(wants());
    await settle();
    await calls[0].fail({ error: "x", hint: "", kind: "busy" });
    expect(calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls.length).toBe(2);
    expect(calls[1].ticket.seq).toBeGreaterThan(calls[0].ticket.seq!);
  } finally {
    vi.useRealTimers();
  }
});

test("a panel too small to see asks for nothing", async () => {
  picture.update(wants({ width: 3 }));
  await settle();
  expect(calls.length).toBe(0);
});
