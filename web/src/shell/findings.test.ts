import { expect, test } from "vitest";
import { gravity, readFindings, selectionOf } from "./findings";
import { reportWords } from "./status";

test("findings are read from the view's data, and anything else is left out", () => {
  const data = { findings: [{ kind: "straggler", severity: 0.9, text: "rank 5: 3.2 × the kernel time of its peers", view: "boxprofile", selection: { locations: [5] }, evidence: {} }, { text: "" }, null, 7] };
  expect(readFindings(data)).toEqual([{ kind: "straggler", severity: 0.9, text: "rank 5: 3.2 × the kernel time of its peers", view: "boxprofile", selection: { locations: [5] } }]);
  expect([null, {}, { findings: 3 }].map(readFindings)).toEqual([[], [], []]);
});

test("how grave a finding is may be said in numbers or words", () => {
  expect([0.9, 0.5, 0.1, "high", "warning", "info"].map(gravity)).toEqual(["high", "medium", "low", "high", "medium", "low"]);
});

test("a finding selects ids or patterns, and a range of time", () => {
  expect(selectionOf({ begin: 5, end: 9, locations: [1, "rank:3"], regions: null })).toEqual({ time: { begin: 5, end: 9 }, locations: ["#1", "rank:3"], regions: [] });
  expect(selectionOf(null)).toEqual({ time: null, locations: [], regions: [] });
});

test("the import report is summed up by kind", () => {
  expect(reportWords([])).toBe("import: every record kept as it was");
  expect(reportWords([{ kind: "repaired", what: "", count: 3, example: "" }, { kind: "skipped", what: "", count: 20000, example: "" }])).toBe("import: 3 repaired, 20.0 k skipped");
  expect(reportWords([{ kind: "guessed", what: "", count: 1, example: "" }])).toBe("import: 0 repaired, 1 guessed, 0 skipped");
});
