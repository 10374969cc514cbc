// The types of the HTTP API, as docs/api.md describes it and internal/server
// answers it. Times are nanoseconds from the start of the trace; lists are never
// null. What exists on both sides of the wire has the same name on both.

/** What every answer that is not 2xx holds, and what an import that failed says. */
export interface ApiError {
  /** What happened, one sentence. */
  error: string;
  /** What to do next; may be empty. */
  hint: string;
  /** For programs. `aborted` and `unreachable` are made by the client alone. */
  kind:
    | "usage" | "not-found" | "malformed" | "unsupported" | "empty" | "needs" | "importing" | "failed"
    | "forbidden" | "too-large" | "busy" | "superseded" | "internal" | "aborted" | "unreachable";
  /** Where the fault lies in a text that the user wrote: from 1, and the line with a mark under it. */
  place?: { line: number; column: number; caret: string };
}

export type Theme = "light" | "dark";
export type Role =
  | "compute" | "communication" | "synchronization" | "idle" | "io" | "copy" | "overhead" | "annotation";

/** GET /api/session */
export interface Session {
  version: string;
  /** The server was told that the line is slow (`--remote`). */
  remote: boolean;
  /** What the command line asked for; "" leaves it to the page. */
  theme: Theme | "";
  /** Greatest upload in bytes. */
  uploadLimit: number;
  /** Files can be opened by path; the page runs on the same disk. */
  canOpen: boolean;
  /** The runs were named to be compared: they are opened side by side. */
  beside: boolean;
  /** The token only looks: nothing is opened, closed or kept. */
  readOnly: boolean;
}

/** GET /api/views */
export interface ViewInfo {
  name: string;
  title: string;
  paper: string;
  summary: string;
  howToRead: string;
  needs: Needs;
  /** How many runs it shows together; more are refused. */
  runs: number;
  options: Option[];
  /** Texts for an option that is a file. */
  examples: Example[];
}

export interface Example {
  name: string;
  note: string;
  text: string;
}

/** GET /api/runs/{run}/bindings: what events can be bound to beside regions and metrics. */
export interface Bindings {
  atomics: string[];
  counters: string[];
  /** Attributes of locations that are numbers. */
  metadata: string[];
}

export interface Needs {
  intervals: boolean;
  links: boolean;
  profile: boolean;
  hierarchy: boolean;
  coordinates: boolean;
  /** Recorded moments will do in place of intervals. */
  moments: boolean;
  /** Instants or samples of counters will do in place of intervals. */
  instants: boolean;
  /** Spans of services, which say what request they belong to. */
  spans: boolean;
  /** Work of GPUs will do in place of spans. */
  devices: boolean;
  /** Call paths, where it is a profile. */
  paths: boolean;
}

export interface Option {
  name: string;
  kind: "text" | "choice" | "number" | "integer" | "switch" | "patterns" | "file";
  choices?: string[];
  /** A choice may go on with details after a colon. */
  open?: boolean;
  default: string;
  help: string;
  min?: number;
  max?: number;
  step?: number;
}

/** GET /api/formats */
export interface FormatInfo {
  name: string;
  title: string;
  /** false: recognised only, see advice. */
  reads: boolean;
  advice: string;
}

/** GET /api/home */
export interface Home {
  recent: RecentRun[];
  demos: Demo[];
  formats: FormatInfo[];
}

export interface RecentRun {
  source: string;
  name: string;
  format: string;
  /** RFC 3339; "" unknown. */
  opened: string;
}

export interface Demo {
  name: string;
  title: string;
  /** What a correct tool must show, in words. */
  truth: string;
}

/** An element of GET /api/runs; the answer of POST /api/runs and /api/upload is a list of them. */
export interface RunState {
  /** Names the run in every path. */
  id: string;
  name: string;
  source: string;
  format: string;
  state: "importing" | "ready" | "failed";
  /** 0 … 1; 1 when ready. */
  progress: number;
  /** Set when failed, else null. */
  error: ApiError | null;
  /** Changes when the content does; decimal digits. */
  generation: string;
  /** It is replaced by newer states of itself: a file that grows, spans that arrive. */
  live: boolean;
  /** The time of the source that all times count from, in its own count, ns. */
  origin: number;
  /** Ranks that took part, as a key, a property or the records say; 0: none does. */
  size: number;
  /** What runs are grouped and ordered by: keys as given, and properties in which the runs differ. */
  keys: Record<string, string>;
  /** The views that make no sense for this run, with the reason in words. */
  missing: Record<string, string>;
}

/** GET /api/runs/{run}/info: what `parallax info --json` prints. */
/** What a run is a recording of, as in internal/view/kind.go. */
export type RunKind = "requests" | "gpu" | "go" | "moments" | "profile" | "ranks" | "threads" | "other";

export interface RunInfo {
  sources: string[];
  format: string;
  kind: RunKind;
  begin: number;
  end: number;
  /** Where to look first, where a few records far from all others stretch the time. */
  core: [number, number] | null;
  /** The stretches in which something is recorded, where most of the time is blank; else none. */
  windows: [number, number][];
  locations: number;
  ranks: number;
  rows: number;
  /** Locations that hold samples or states aside. */
  rows_aside: number;
  regions: number;
  intervals: number;
  links: number;
  counters: number;
  samples: number;
  instants: number;
  profile_rows: number;
  depth: number;
  region_table: RegionTotals[];
  /** What inclusive and exclusive of the table are of. */
  region_metric: MetricInfo;
  metrics: MetricInfo[];
  properties: Record<string, string>;
  topologies: { name: string; dims: number[] }[];
  report: ReportEntry[];
  /** Of the store. */
  size_bytes: number;
}

export interface MetricInfo {
  name: string;
  unit: string;
  total: number | null;
}

export interface RegionTotals {
  name: string;
  category: string;
  role: Role;
  /** null: the source does not count them. */
  calls: number | null;
  inclusive: number;
  exclusive: number;
  unit: string;
}

export interface ReportEntry {
  kind: "repaired" | "guessed" | "skipped";
  what: string;
  count: number;
  example: string;
}

/** GET /api/runs/{run}/moved: what ids of an earlier generation of a live run are now. */
export interface Moved {
  /** Ids of now, in the order they were asked for; -1 for what is gone. */
  locations: number[];
  regions: number[];
}

/** GET /api/runs/{run}/places?locations= : where locations lie in the tree. */
export interface Places {
  /** The topmost of them, ascending, and the ends of their subtrees. */
  id: number[];
  last: number[];
  /** All that one of them lies in, ascending, and the ends of those subtrees. */
  above: number[];
  aboveLast: number[];
  /** How many of them, and below them, have intervals. */
  rows: number;
  /** From the top to the first of them. */
  path: LocationRow[];
}

/** GET /api/runs/{run}/locations?parent=&offset=&limit= : children in display order. */
export interface LocationPage {
  /** Null at the top. */
  parent: number | null;
  offset: number;
  /** How many children there are in all. */
  total: number;
  locations: LocationRow[];
}

export interface LocationRow {
  id: number;
  name: string;
  kind: string;
  parent: number | null;
  /** The subtree is the range id … last. */
  last: number;
  level: number;
  /** Null where it has none. */
  rank: number | null;
  /** It has intervals of its own. */
  holds: boolean;
  /** How many direct children. */
  children: number;
  /** How many locations with intervals it stands for, itself included. */
  rows: number;
}

/** An element of GET /api/runs/{run}/regions, in order of id. */
export interface RegionRow {
  id: number;
  name: string;
  category: string;
  role: Role;
  file: string;
  line: number;
  /** Palette index, the same in every view. */
  colour: number;
}

/** GET /api/runs/{run}/search?q=&limit= */
export interface SearchResult {
  query: string;
  locations: LocationHit[];
  /** How many match in all. */
  locationTotal: number;
  regions: RegionRow[];
  regionTotal: number;
}

/** GET /api/runs/{run}/intervals?q=&at=&before=&limit= */
export interface IntervalSearch {
  query: string;
  /** How many match in all. */
  count: number;
  /** How many come before the first of those named. */
  index: number;
  hits: IntervalHit[];
  /** How many begin in each of equal parts of the window asked for. */
  bins: number[];
  /** Words that no region has in its name: attributes were searched. */
  inAttributes: string[];
}

export interface IntervalHit {
  location: number;
  path: string;
  lane: number;
  row: number;
  region: number;
  begin: number;
  duration: number;
}

/** GET /api/runs/{run}/causes?location=&lane=&row= */
export interface Causes {
  of: IntervalHit;
  /** Links that came in, the latest first, then the caller. */
  causes: Step[];
  effects: Step[];
  /** How many links there are each way, also those that are not named. */
  causeCount: number;
  effectCount: number;
  /** From cause to cause, back to the first one known. */
  chain: Step[];
  /** The chain goes on. */
  cut: boolean;
}

/** The interval at the other end of a link, or the caller. */
export interface Step {
  location: number;
  path: string;
  lane: number;
  row: number;
  region: number;
  begin: number;
  duration: number;
  /** "message", "spawn", "wake", … or "caller". */
  by: string;
  /** Of the link. */
  from: number;
  to: number;
  /** Bytes; null where not known. */
  size: number | null;
}

/** GET and PUT /api/runs/{run}/notes: what is kept with a run. */
export interface Notes {
  /** Grows with every change; a change says which one it is of. */
  version: number;
  notes: RunNote[];
  workspaces: SavedPage[];
}

/** A word at a time, or over a range of it. */
export interface RunNote {
  name: string;
  begin: number;
  /** That of begin: a flag. */
  end: number;
  text: string;
  /** Paths of the locations it is about; none: all. */
  locations: string[];
}

/** A named state of the page, as its address has it. */
export interface SavedPage {
  name: string;
  query: string;
}

/** POST /api/share: a token that only looks. */
export interface Share {
  token: string;
  /** RFC 3339. */
  until: string;
}

export interface LocationHit {
  id: number;
  name: string;
  path: string;
  kind: string;
  rank: number | null;
}

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

/** A selection as the server understood it. */
export interface SelectionSize {
  begin: number;
  end: number;
  /** Nodes of the tree that it holds. */
  locations: number;
  regions: number;
}

/** GET /api/runs/{run}/summary?<selection> */
export interface Summary {
  selection: SelectionSize;
  /** Quantiles come from every call; otherwise from a sample, see note. */
  exact: boolean;
  /** How the figures were made, in words, where not exact. */
  note: string;
  /** Of all that is not a count: "ns", or that of a profile's metric. */
  unit: string;
  roles: RoleTotal[];
  regions: RegionSummary[];
}

export interface RoleTotal {
  role: Role;
  /** Time in which the role counts, each instant of a location once; of chosen regions their exclusive time. */
  time: number;
  /** Of the locations with intervals × the window. */
  share: number;
}

export interface RegionSummary {
  id: number;
  name: string;
  role: Role;
  colour: number;
  /** Calls that begin in the window; null: the source does not count them. */
  count: number | null;
  /** Exclusive and inclusive time, clipped to the window. */
  exclusive: number;
  inclusive: number;
  /** Exclusive times of the calls that begin in the window, unclipped; null without calls. */
  mean: number | null;
  p50: number | null;
  p90: number | null;
  p98: number | null;
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

/** GET …/views/{view}/data: the JSON twin. */
export interface ViewData {
  view: string;
  source: string;
  selection: SelectionSize;
  options: Record<string, unknown>;
  notes: string[];
  data: unknown;
}

/** GET …/views/{view}/table?offset=&limit=&sort=&descending= */
export interface TablePage {
  columns: Column[];
  rows: Cell[][];
  /** What choosing a row selects: none, or one a row. */
  locations: number[];
  regions: number[];
  offset: number;
  total: number;
  notes: string[];
  /** Set where the selection holds nothing to show. */
  empty: Empty | null;
}

export type Cell = string | number | null;

/** Rows for a question in SQL; whole numbers beyond 2^53 are texts. */
export interface Answer {
  columns: Column[];
  rows: Cell[][];
  /** There are rows beyond the limit. */
  more: boolean;
}

export interface Column {
  name: string;
  /** "ns", "bytes", "count", "share" or "". */
  unit: string;
}

export interface Empty {
  what: string;
  hint: string;
}

/** GET …/views/{view}/pick?item= or ?x=&y= */
export interface Pick {
  /** Null: nothing there. */
  fact: Fact | null;
}

export interface Fact {
  title: string;
  lines: FactLine[];
  text?: string;
  locations?: number[];
  regions?: number[];
  begin?: number;
  end?: number;
  count?: number;
  row?: { Location: number; Lane: number; Row: number };
  /** Options of the view that a double click sets. */
  open?: Record<string, string>;
  /** Names of two runs that a click opens against each other. */
  compare?: string[];
  /** There is more to know than travels with the scene: ask. */
  more?: boolean;
}

/** A stretch of a source file. */
export interface SourceText {
  file: string;
  line: number;
  /** Number of the first line given. */
  first: number;
  lines: string[];
}

export interface FactLine {
  label: string;
  value: string;
  exact?: string;
  /** Left out where there is room for a few. */
  minor?: boolean;
}

export type ExportFormat = "svg" | "png" | "pdf" | "jpg" | "csv" | "json";
