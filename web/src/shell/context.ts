// How components reach the workbench.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Workbench } from "./workbench";

const Bench = createContext<Workbench | null>(null);
export const BenchProvider = Bench.Provider;

export function useBench(): Workbench {
  const bench = useContext(Bench);
  if (!bench) throw new Error("no workbench around this component");
  return bench;
}
