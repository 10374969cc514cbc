import { expect, test } from "vitest";
import { placeOf } from "./place";

test("a run says which cluster it lies in, and nothing where it is on this machine", () => {
  expect(placeOf("clickhouse://db1:9000,db2:9000/traces/monday")).toBe("on 2 servers");
  expect(placeOf("clickhouse://me@db1:9440/traces/monday?secure=true")).toBe("on db1:9440");
  expect(placeOf("traces/run.plx")).toBe("");
  expect(placeOf("https://example.org/trace.json")).toBe("");
});
