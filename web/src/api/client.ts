// The client of the HTTP API. Every function answers with a value or throws an
// ApiFailure; an abort cancels the work in the server, down to the kernel.

import type * as t from "./types";
import type { Scene } from "../scene/scene";
import { packIDs } from "./ids";
import { createLine, query, type Query } from "./line";
import { Pictures } from "./pictures";
import { Together } from "./together";
import { upload, type UploadFile } from "./upload";
import { ColumnKeep, decodeScene } from "./wire";

export { ApiFailure } from "./line";
export type { UploadFile } from "./upload";

/** Where a picture's request comes from: a newer seq of a panel cancels the older ones. */
export interface Ticket {
  panel?: string;
  seq?: number;
  signal?: AbortSignal;
  /** Ask for a coarse picture, see Api.scenes. */
  coarse?: boolean;
  /** Ask in one request with what else is asked for at this time, as all panels do after a move. */
  together?: boolean;
}

/** How a picture is to be printed; "" leaves it as on the screen. */
export interface Figure {
  /** As --size takes it: 84mm, 174x90mm, 1600xAUTO. */
  size: string;
  letter: string;
}

export interface Api {
  session(): Promise<t.Session>;
  /** The token of the server, for an address to hand on. */
  token(): Promise<string>;
  views(): Promise<t.ViewInfo[]>;
  formats(): Promise<t.FormatInfo[]>;
  home(): Promise<t.Home>;
  runs(): Promise<t.RunState[]>;
  /** Starts the import of paths or demo:NAME; the states change in runs(). */
  open(sources: string[]): Promise<t.RunState[]>;
  /** Opens the sources of a run once more, with clocks that agree. */
  fitClocks(run: string, align: "messages" | "collectives"): Promise<t.RunState[]>;
  close(run: string): Promise<void>;
  /** Streams a file, or the files of one run, to the server and opens them. */
  upload(
    what: File | UploadFile[], progress: (sent: number, total: number) => void, signal?: AbortSignal,
  ): Promise<t.RunState[]>;
  info(run: string, signal?: AbortSignal): Promise<t.RunInfo>;
  /** What ids of an earlier generation of a live run are now. */
  moved(run: string, from: string, locations: readonly number[], regions: readonly number[]): Promise<t.Moved>;
  /** Where locations lie in the tree. */
  places(run: string, patterns: readonly string[], signal?: AbortSignal): Promise<t.Places>;
  locations(run: string, parent: number | null, offset: number, limit: number, signal?: AbortSignal): Promise<t.LocationPage>;
  regions(run: string, signal?: AbortSignal): Promise<t.RegionRow[]>;
  bindings(run: string, signal?: AbortSignal): Promise<t.Bindings>;
  /** Answers SQL; aborting ends it in the server. */
  ask(run: string, sql: string, signal?: AbortSignal): Promise<t.Answer>;
  /** All rows of an answer as a file of that media type. */
  rows(run: string, sql: string, kind: string, signal?: AbortSignal): Promise<Blob>;
  search(run: string, query: string, signal?: AbortSignal): Promise<t.SearchResult>;
  /** Intervals that begin at a time or later, or the last before it. */
  intervals(run: string, query: string, at: number, before: boolean, signal?: AbortSignal): Promise<t.IntervalSearch>;
  /** The text around a region's place in its program. */
  source(run: string, region: number, signal?: AbortSignal): Promise<t.SourceText>;
  /** The causes and effects of an interval. */
  causes(run: string, location: number, lane: number, row: number, signal?: AbortSignal): Promise<t.Causes>;
  /** What is kept with a run. */
  notes(run: string): Promise<t.Notes>;
  /** Keeps it, in place of what has the same version. */
  keepNotes(run: string, notes: t.Notes): Promise<t.Notes>;
  /** A token that only looks, to hand on. */
  share(): Promise<t.Share>;
  /** The text of a file of a view: a picture as SVG, or numbers. */
  exported(url: string, signal?: AbortSignal): Promise<string>;
  summary(run: string, selection: t.SelectionSpec, ticket?: Ticket): Promise<t.Summary>;
  scene(run: string, request: t.ViewRequest, ticket?: Ticket): Promise<Scene>;
  /** On a slow line first a coarse scene, then the exact one; otherwise one call of draw. */
  scenes(run: string, request: t.ViewRequest, ticket: Ticket, draw: (scene: Scene) => void): Promise<void>;
  data(run: string, request: t.ViewRequest, ticket?: Ticket): Promise<t.ViewData>;
  table(
    run: string, request: t.ViewRequest,
    page: { offset: number; limit: number; sort?: string; descending?: boolean }, ticket?: Ticket,
  ): Promise<t.TablePage>;
  pick(run: string, request: t.ViewRequest, x: number, y: number, ticket?: Ticket): Promise<t.Fact | null>;
  /** The facts of a thing in space, by its index: the page has its place. */
  pickItem(run: string, request: t.ViewRequest, item: number, ticket?: Ticket): Promise<t.Fact | null>;
  /** The address of a file to download. */
  exportURL(run: string, request: t.ViewRequest, format: t.ExportFormat, theme: t.Theme, hues: string, figure?: Figure): string;
  /** Resolves once the pictures are there that the page asks for now, after so many ms at the latest. */
  pictures(most: number): Promise<void>;
  /** The line is slow, by the server's setting or by measured answers. */
  slow(): boolean;
  /** Calls f with the server's cached bytes and its limit, with each answer that has them. */
  onKept?(told: (used: number, most: number) => void): void;
}

/** Below this many bytes a second a coarse picture is fetched first. */
const slowRate = 2.5e6;

export function createApi(base = ""): Api {
  const line = createLine(base);
  const keep = new ColumnKeep();
  const together = new Together(line);
  const pictures = new Pictures();
  const run = (id: string, rest: string) => `/api/runs/${encodeURIComponent(id)}/${rest}`;
  const inView = (what: string, r: t.ViewRequest, more: Query = {}) => `views/${encodeURIComponent(r.view)}/${what}?${viewQuery(r, more)}`;
  const view = (id: string, what: string, r: t.ViewRequest, more: Query = {}) => run(id, inView(what, r, more));
  const bytes = (id: string, path: string, ticket: Ticket | undefined) => (ticket?.together ? together.ask(id, path, ticket.signal) : line.bytes(run(id, path), ticket?.signal));
  const json = async <T>(id: string, path: string, ticket: Ticket | undefined) => (ticket?.together ? (JSON.parse(new TextDecoder().decode(await bytes(id, path, ticket))) as T) : line.json<T>(run(id, path), ticket?.signal));
  const ticketed = (ticket: Ticket | undefined): Query =>
    ticket?.panel === undefined ? {} : { panel: `${line.page}-${ticket.panel}`, seq: ticket.seq ?? 0 };

  const api: Api = {
    session: async () => {
      const s = await line.json<t.Session>("/api/session");
      line.remote = s.remote;
      return s;
    },
    token: async () => (await line.json<{ token: string }>("/api/token")).token,
    views: () => line.json("/api/views"),
    formats: () => line.json("/api/formats"),
    home: () => line.json("/api/home"),
    runs: () => line.json("/api/runs"),
    open: (sources) => line.json("/api/runs", undefined, { method: "POST", body: JSON.stringify({ sources }) }),
    fitClocks: (like, align) => line.json("/api/runs", undefined, { method: "POST", body: JSON.stringify({ like, align }) }),
    close: async (id) => void (await line.fetch(`/api/runs/${encodeURIComponent(id)}`, undefined, { method: "DELETE" })),
    upload: (what, progress, signal) => upload(line, base, what, progress, signal),
    info: (id, signal) => line.json(run(id, "info"), signal),
    moved: (id, from, locations, regions) => line.json(run(id, `moved?${query({ from, locations: locations.join(","), regions: regions.join(",") })}`)),
    places: (id, patterns, signal) => line.json(run(id, `places?${query({ locations: packIDs(patterns) })}`), signal),
    locations: (id, parent, offset, limit, signal) =>
      line.json(run(id, `locations?${query({ parent: parent ?? undefined, offset, limit })}`), signal),
    regions: (id, signal) => line.json(run(id, "regions"), signal),
    ask: (id, sql, signal) => line.json(run(id, "query"), signal, { method: "POST", body: JSON.stringify({ sql, limit: 1000 }) }),
    rows: async (id, sql, kind, signal) => {
      const answer = await line.fetch(run(id, "query"), signal, { method: "POST", body: JSON.stringify({ sql }), headers: { Accept: kind } });
      return answer.blob();
    },
    causes: (id, location, lane, row, signal) => line.json(run(id, `causes?${query({ location, lane, row })}`), signal),
    notes: (id) => line.json(run(id, "notes")),
    keepNotes: (id, notes) => line.json(run(id, "notes"), undefined, { method: "PUT", body: JSON.stringify(notes) }),
    share: () => line.json("/api/share", undefined, { method: "POST" }),
    exported: async (url, signal) => (await line.fetch(url, signal)).text(),
    bindings: (id, signal) => line.json(run(id, "bindings"), signal),
    search: (id, q, signal) => line.json(run(id, `search?${query({ q })}`), signal),
    intervals: (id, q, at, before, signal) => line.json(run(id, `intervals?${query({ q, at, before: before ? "true" : "" })}`), signal),
    source: (id, region, signal) => line.json(run(id, `source?${query({ region: String(region) })}`), signal),
    summary: (id, selection, ticket) =>
      json(id, `summary?${query({ ...selectionQuery(selection), ...ticketed(ticket) })}`, ticket),
    scene: async (id, r, ticket) => {
      const have = keep.keys();
      const more = { ...ticketed(ticket), coarse: ticket?.coarse ? 1 : undefined, have: have.length > 0 ? have : undefined };
      return decodeScene(await pictures.count(bytes(id, inView("scene", r, more), ticket)), keep);
    },
    scenes: async (id, r, ticket, draw) => {
      if (!api.slow()) return draw(await api.scene(id, r, ticket));
      const first = await api.scene(id, r, { ...ticket, coarse: true });
      draw(first);
      if (first.coarse) draw(await api.scene(id, r, ticket));
    },
    data: (id, r, ticket) => json(id, inView("data", r, ticketed(ticket)), ticket),
    table: (id, r, page, ticket) => line.json(view(id, "table", r, { ...page, ...ticketed(ticket) }), ticket?.signal),
    pick: async (id, r, x, y, ticket) =>
      (await line.json<t.Pick>(view(id, "pick", r, { x, y, ...ticketed(ticket) }), ticket?.signal)).fact,
    pickItem: async (id, r, item, ticket) =>
      (await line.json<t.Pick>(view(id, "pick", r, { item, ...ticketed(ticket) }), ticket?.signal)).fact,
    exportURL: (id, r, format, theme, hues, figure) => base + view(id, "export", r, { format, theme, "region-colours": hues || undefined, size: figure?.size || undefined, letter: figure?.letter || undefined }),
    pictures: (most) => pictures.there(most),
    slow: () => line.remote || line.rate < slowRate,
    onKept: (told) => void (line.kept = told),
  };
  return api;
}

export function selectionQuery(s: t.SelectionSpec | undefined): Query {
  return { from: s?.from, to: s?.to, locations: s?.locations && packIDs(s.locations), regions: s?.regions };
}

function viewQuery(r: t.ViewRequest, more: Query): string {
  const options = Object.fromEntries(Object.entries(r.options ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
  return query({ ...options, ...selectionQuery(r.selection), width: r.width, height: r.height, with: r.with ?? options.with, "colours-of": r.coloursOf, ...more });
}
