// Requests that a page makes at one time, as one: after a move all panels ask for their new
// pictures, and the server answers each as soon as it is ready. Giving all of them up gives the
// request up; of one alone the answer is dropped, and the panel's next request ends its work.

import type { ApiError } from "./types";
import { aborted, ApiFailure, type Line } from "./line";

/** How long the first waits for the others, in ms. */
const gather = 10;
/** The server takes so many. */
const most = 32;

interface Asked {
  path: string;
  signal?: AbortSignal;
  done: (body: ArrayBuffer) => void;
  failed: (e: unknown) => void;
}

interface PartHead {
  ask: number;
  status: number;
  bytes: number;
  kept?: string;
}

export class Together {
  /** By run. */
  private readonly waiting = new Map<string, Asked[]>();

  constructor(private readonly line: Line) {}

  /** Asks for a path below a run, together with what else is asked for now. */
  ask(run: string, path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    return new Promise<ArrayBuffer>((done, failed) => {
      if (signal?.aborted) return failed(aborted());
      const asked: Asked = { path, done, failed, ...(signal && { signal }) };
      signal?.addEventListener("abort", () => failed(aborted()), { once: true });
      const list = this.waiting.get(run);
      if (list) return void list.push(asked);
      this.waiting.set(run, [asked]);
      setTimeout(() => this.send(run), gather);
    });
  }

  private send(run: string): void {
    const list = (this.waiting.get(run) ?? []).filter((a) => !a.signal?.aborted);
    this.waiting.delete(run);
    for (let i = 0; i < list.length; i += most) void this.sendAll(run, list.slice(i, i + most));
  }

  private async sendAll(run: string, list: Asked[]): Promise<void> {
    const below = `/api/runs/${encodeURIComponent(run)}`;
    const alone = (a: Asked) => this.line.bytes(`${below}/${a.path}`, a.signal).then(a.done, a.failed);
    if (list.length === 1) return alone(list[0]!);
    const abort = new AbortController();
    let wanted = list.length;
    for (const a of list) a.signal?.addEventListener("abort", () => { if (--wanted === 0) abort.abort(); }, { once: true });
    const left = new Set(list);
    try {
      const answer = await this.line.fetch(`${below}/together`, abort.signal, { method: "POST", body: JSON.stringify({ ask: list.map((a) => a.path) }) });
      await readParts(answer.body!, (head, body) => {
        const a = list[head.ask];
        if (!a) return;
        left.delete(a);
        const kept = /^(\d+)\/(\d+)$/.exec(head.kept ?? "");
        if (kept) this.line.kept(Number(kept[1]), Number(kept[2]));
        if (head.status < 400) return a.done(body);
        const e = errorIn(body);
        if (e.kind === "busy") void alone(a); // which asks again after a while
        else a.failed(new ApiFailure(e, head.status));
      });
      if (left.size > 0) throw new ApiFailure({ error: "the answer is not whole", hint: "", kind: "unreachable" }, 0);
    } catch (e) {
      for (const a of left) a.failed(abort.signal.aborted ? aborted() : e);
    }
  }
}

function errorIn(body: ArrayBuffer): ApiError {
  const e = JSON.parse(new TextDecoder().decode(body)) as Partial<ApiError>;
  return { error: e.error ?? "the server cannot answer", hint: e.hint ?? "", kind: e.kind ?? "internal", ...(e.place ? { place: e.place } : {}) };
}

/** Reads parts as they come: a line of JSON, and as many bytes as it says. */
export async function readParts(stream: ReadableStream<Uint8Array>, part: (head: PartHead, body: ArrayBuffer) => void): Promise<void> {
  const reader = stream.getReader();
  let held = new Uint8Array(0);
  let head: PartHead | null = null;
  const take = () => {
    for (;;) {
      if (head === null) {
        const at = held.indexOf(10);
        if (at < 0) return;
        head = JSON.parse(new TextDecoder().decode(held.subarray(0, at))) as PartHead;
        held = held.subarray(at + 1);
      }
      if (held.length < head.bytes) return;
      part(head, held.slice(0, head.bytes).buffer);
      held = held.subarray(head.bytes);
      head = null;
    }
  };
  // What came is put together once a part is whole: a long one comes in many pieces.
  let pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    length += value.length;
    if (head !== null && held.length + length < (head as PartHead).bytes) continue;
    held = joined([held, ...pieces], held.length + length);
    [pieces, length] = [[], 0];
    take();
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(length);
  let at = 0;
  for (const p of pieces) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}
