import { expect, test } from "vitest";
import { regionNames } from "./region-name";

test("regions of one name are told apart by their category, or else their role", () => {
  const names = regionNames([
    { id: 3, name: "ProfilerStep#3", category: "user_annotation", role: "annotation" },
    { id: 4, name: "ProfilerStep#3", category: "gpu_user_annotation", role: "annotation" },
    { id: 5, name: "wait", category: "", role: "idle" },
    { id: 6, name: "wait", category: "mpi", role: "communication" },
    { id: 7, name: "gemm", category: "kernel", role: "compute" },
  ]);
  expect([...names.values()]).toEqual(["ProfilerStep#3 · user_annotation", "ProfilerStep#3 · gpu_user_annotation", "wait · idle", "wait · mpi", "gemm"]);
});
