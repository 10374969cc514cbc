import { expect, test } from "vitest";
import type { Ticket } from "../api/client";
import { ask, evidenceWords, gravity, readEfficiency, readFindings, readVerdict, readWalk, selectionOf, whoOf } from "./findings";
import { reportWords } from "./status";
import type { Workbench } from "./workbench";

test("findings are read from the view's data, and anything else is left out", () => {
  const evidence = [{ name: "kernels", value: 102e6, unit: "ns" }];
  const gain = { time: 2e9, error: 0, share: 0.5, of: "the run", at_most: false, by: "replay", text: "The run would be 2 s shorter." };
  const proof = [{ name: "kernels", value: 102e6, least: null, most: null, unit: "ns" }];
  const whole = { kind: "straggler", title: "Straggler", next: "Compare them.", gain, no_gain: "", proof, seen_as: ["Idle GPUs (3 %)"], severity: "high", lost: 6e8, unit: "ns", share: 0.4, share_of: "the time of 8 ranks", text: "Rank 5 holds up the other 7", view: "phases", options: { phase: ["iteration"] }, selection: { locations: [5] }, subjects: [5], evidence };
  expect(readFindings({ findings: [whole, { text: "" }, null, 7] })).toEqual([whole]);
  expect(readFindings({ findings: [{ text: "old", lost: null }] })).toEqual([{ kind: "", title: "", next: "", gain: null, no_gain: "", proof: [], seen_as: [], severity: "", lost: 0, unit: "ns", share: 0, share_of: "all time", text: "old", view: "", options: {}, selection: null, subjects: [], evidence: [] }]);
  expect([null, {}, { findings: 3 }].map(readFindings)).toEqual([[], [], []]);
});

test("the numbers behind a finding are written with their units", () => {
  expect(evidenceWords([{ name: "kernels", value: 102e6, unit: "ns" }, { name: "load balance", value: 0.5, unit: "share" }, { name: "times", value: 3, unit: "" }])).toBe("kernels: 102 ms\nload balance: 50.0 %\ntimes: 3");
});

test("efficiencies are shown where they are defined", () => {
  expect(readEfficiency({ pop: { load_balance: 0.67, communication_efficiency: 0.99, parallel_efficiency: null, over: "ranks", locations: 16 } })).toEqual({ load: 0.67, communication: 0.99, parallel: null, over: "16 ranks" });
  expect([null, {}, { pop: { load_balance: null, parallel_efficiency: null } }].map(readEfficiency)).toEqual([null, null, null]);
});

test("how grave a finding is may be said in numbers or words", () => {
  expect([0.9, 0.5, 0.1, "high", "warning", "info"].map(gravity)).toEqual(["high", "medium", "low", "high", "medium", "low"]);
});

test("a finding selects ids or patterns, and a range of time", () => {
  expect(selectionOf({ begin: 5, end: 9, locations: [1, "rank:3"], regions: null })).toEqual({ time: { begin: 5, end: 9 }, locations: ["#1", "rank:3"], regions: [] });
  expect(selectionOf(null)).toEqual({ time: null, locations: [], regions: [] });
});

test("a walk begins with what is selected, else with whom it blames; nobody is nobody", () => {
  const about = (x: unknown) => whoOf(readFindings({ findings: [{ text: "t", ...(x as object) }] })[0]!);
  expect(about({ selection: { locations: [1, 2] }, subjects: [1] })).toEqual(["#1", "#2"]);
  expect(about({ selection: { locations: [] }, subjects: [7] })).toEqual(["#7"]);
  expect(about({ selection: { locations: [], regions: [3] } })).toEqual([]);
});

test("the import report is summed up by kind", () => {
  expect(reportWords([])).toBe("import: every record kept as it was");
  const entry = (kind: "repaired" | "guessed" | "skipped", count: number, lost: boolean) => ({ kind, what: "", count, example: "", lost, consequence: "" });
  expect(reportWords([entry("repaired", 3, false), entry("skipped", 20000, true)])).toBe("import: 3 repaired, 20.0 k skipped");
  expect(reportWords([entry("guessed", 1, false)])).toBe("import: 1 guessed, nothing lost");
  expect(reportWords([entry("skipped", 89300, false)])).toBe("import: nothing lost"); // duplicates
  expect(reportWords([entry("skipped", 89300, false), entry("skipped", 12, true)])).toBe("import: 12 skipped");
});

test("findings of a run that was renewed are asked for anew, and the question before is given up", async () => {
  const tickets: Ticket[] = [];
  const bench = {
    runID: { value: "r", peek: () => "r" }, comebacks: { value: 0 }, view: () => ({}), missing: () => undefined, reportGone: () => undefined, info: { peek: () => null },
    api: { data: (_run: string, _request: unknown, ticket: Ticket) => { tickets.push(ticket); return new Promise(() => {}); } },
  } as unknown as Workbench;
  const asked = () => new Promise((done) => setTimeout(done));
  ask(bench);
  await asked();
  ask(bench); // the server would refuse the first one, which a browser writes down as an error
  await asked();
  expect(tickets.map((t) => t.signal?.aborted)).toEqual([true, false]);
  ask(bench);
  ask(bench);
  await asked();
  expect(tickets.map((t) => t.signal?.aborted)).toEqual([true, true, false]);
});

test("an address names a finding, from 1, and a stop of its walk", () => {
  expect(["1.who", "12.if", "0.why", "1.when", "", "x"].map(readWalk)).toEqual([{ index: 0, stop: "who" }, { index: 11, stop: "if" }, null, null, null, null]);
});

test("the verdict on two runs is an answer with both lengths as its proof", () => {
  const v = readVerdict({ text: "The run takes 1.26 s in A and 1.98 s in B.", unit: "ns", a: [{ name: "even" }], b: [{ name: "slow" }, { name: "slow (2)" }], length: { a: 1.26e9, b: 1.98e9, verdict: "changed" } });
  expect(v?.text).toBe("The run takes 1.26 s in A and 1.98 s in B.");
  expect(v?.proof.map((p) => [p.name, p.value])).toEqual([["A: even", 1.26e9], ["B: 2 runs", 1.98e9]]);
  expect([v?.kind, v?.severity, v?.view]).toEqual(["", "high", "compare"]);
  expect(v?.next).toBe("");
  const alone = readVerdict({ text: "The run takes 2 s in A and 3 s in B.", unit: "ns", a: [{ name: "a" }], b: [{ name: "b" }], length: { a: 2e9, b: 3e9, verdict: "unknown" } });
  expect(alone?.next).toMatch(/three runs per side/);
  expect([readVerdict(null), readVerdict({})]).toEqual([null, null]);
});
