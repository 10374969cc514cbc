// Words and values that an answer of the HTTP API may hold.

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

export type Cell = string | number | null;
