// The types of the HTTP API, as docs/api.md describes it. Times are nanoseconds from the start of the trace; lists are never null.
// Answers are written from the types of internal/server, see answer.ts; here are requests, and words that an answer may hold.

export * from "./answer";

/** For programs. `aborted` and `unreachable` are made by the client alone. */
export type ErrorKind =
  | "usage" | "not-found" | "malformed" | "unsupported" | "empty" | "needs" | "importing" | "failed"
  | "forbidden" | "too-large" | "busy" | "superseded" | "internal" | "aborted" | "unreachable";

export type OptionKind = "text" | "choice" | "number" | "integer" | "switch" | "patterns" | "file";

export type Theme = "light" | "dark";

export type Role =
  | "compute" | "communication" | "synchronization" | "idle" | "io" | "copy" | "overhead" | "annotation";

/** What a run is a recording of, as in internal/view/kind.go. */
export type RunKind = "requests" | "gpu" | "go" | "moments" | "profile" | "ranks" | "threads" | "other";

/** A selection as people write it: `view.Spec`. Empty parts select everything. */
export interface SelectionSpec {
  /** "1.5s", "30%", or plain nanoseconds. */
  from?: string | number;
  to?: string | number;
  /** Patterns; "#7" is the location with id 7, "rank:0-3" are ranks. */
  locations?: string[];
  /** Patterns; "#7" is the region with id 7, "role:io" a role. */
  regions?: string[];
}

/** What a picture, its table or its data is asked for. */
export interface ViewRequest {
  view: string;
  selection?: SelectionSpec;
  /** By option name; several values only where the option is of kind "patterns". */
  options?: Record<string, string | string[]>;
  /** CSS pixels. */
  width: number;
  height: number;
  /** Further runs to compare with, by id. */
  with?: string[];
}

export type Cell = string | number | null;

export type ExportFormat = "svg" | "png" | "pdf" | "jpg" | "csv" | "json";
