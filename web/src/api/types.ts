// The types of the HTTP API, as docs/api.md describes it. Times are nanoseconds from the start of the trace; lists are never null.
// Answers are written from the types of internal/server, see answer.ts; words that an answer may hold are in words.ts;
// here are requests.

export * from "./answer";
export * from "./words";

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
  /** A run whose regions give those of this one their colours, by id. */
  coloursOf?: string;
}

export type ExportFormat = "svg" | "png" | "pdf" | "jpg" | "csv" | "json";
