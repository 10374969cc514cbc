// A region's place in its program: it opens in the view source.

import type { RegionRow } from "../api/types";
import { useBench } from "./context";

/** A button for a region with a file; nothing for others. */
export function SourceButton({ region }: { region: RegionRow | undefined }) {
  const bench = useBench();
  if (!region?.file) return null;
  return <button type="button" title={`${region.file}:${region.line}`} onClick={() => bench.showSource(region)}>Show source</button>;
}
