import { expect, test } from "vitest";
import type { TablePage } from "../api/types";
import { columnWidths, leastWidth } from "./table-twin";

test("columns have widths that do not depend on the row", () => {
  const page = {
    columns: [{ name: "path", unit: "" }, { name: "exclusive", unit: "ns" }, { name: "n", unit: "count" }],
    rows: [["node05/rank 40/main thread", 123456789, 5], ["x".repeat(10_000), null, 12345678]],
  } as unknown as TablePage;
  expect(columnWidths(page)).toEqual(["minmax(220px, 60fr)", "79px", "45px"]);
});

test("a row is never narrower than its columns and the gaps between them", () => {
  expect(leastWidth(["minmax(220px, 60fr)", "79px", "45px"])).toBe(220 + 79 + 45 + 2 * 12 + 28);
  expect(leastWidth([])).toBe(28);
});
