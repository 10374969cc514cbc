// The client of the HTTP API. Every function answers with a value or throws an
// ApiFailure; all take an AbortSignal, and an abort cancels the work in the server.

import type * as t from "./types";
import type { Scene } from "../scene/scene";

/** An answer that is not what was asked for. */
export class ApiFailure extends Error {
  constructor(readonly detail: t.ApiError, readonly status: number) {
    super(detail.error);
  }
}

/** Where a picture's request comes from: a newer seq of a panel cancels the older ones. */
export interface Ticket {
  panel?: string;
  seq?: number;
  signal?: AbortSignal;
  /** Ask for a coarse picture first, see Session.remote and Api.slow. */
  coarse?: boolean;
}

export interface Api {
  session(): Promise<t.Session>;
  views(): Promise<t.ViewInfo[]>;
  formats(): Promise<t.FormatInfo[]>;
  home(): Promise<t.Home>;
  runs(): Promise<t.RunState[]>;
  /** Starts the import of paths or demo:NAME; the states change in runs(). */
  open(sources: string[]): Promise<t.RunState[]>;
  close(run: string): Promise<void>;
  /** Streams a file to the server and opens it. */
  upload(file: File, progress: (sent: number, total: number) => void, signal?: AbortSignal): Promise<t.RunState[]>;
  info(run: string, signal?: AbortSignal): Promise<t.RunInfo>;
  locations(run: string, parent: number | null, offset: number, limit: number, signal?: AbortSignal): Promise<t.LocationPage>;
  regions(run: string, signal?: AbortSignal): Promise<t.RegionRow[]>;
  search(run: string, query: string, signal?: AbortSignal): Promise<t.SearchResult>;
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
  /** The address of a file to download. */
  exportURL(run: string, request: t.ViewRequest, format: t.ExportFormat, theme: t.Theme): string;
  /** The line is slow: told by the server, or measured from past answers. */
  slow(): boolean;
}

export function createApi(base = ""): Api {
  void base;
  throw new Error("api: not written yet");
}
