import { expect, test } from "vitest";
import { offerAt, type Vocabulary } from "./complete";
import { valuesOf } from "./values";

const option = (name: string, choices?: string[]) => ({ name, kind: "text" as const, choices, default: "", help: "", title: name, group: "" });
const known: Vocabulary = {
  words: [{ name: "rank", note: "", text: "" }, { name: "maxRank", note: "", text: "" }, { name: "event0.val", note: "", text: "" }, { name: "event0.max", note: "", text: "" }, { name: "metadata", note: "", text: "metadata(key)" }, { name: "mod", note: "", text: "mod(a, b)" }, { name: "pi", note: "", text: "pi()" }, { name: "restrictDim", note: "", text: "" }],
  metadata: ["CPU Cores", "host.slot"], atomics: ["Message size"], counters: ["power"],
  regions: ["MPI_Barrier", "MPI_Recv", "std::sort"], metrics: ["exclusive", "inclusive", "calls"], options: [option("event0"), option("shape", ["points", "bars"])],
};

/** What is offered at the bar, as it would be written; the first can be taken. */
const offered = (text: string, asked = false) => {
  const offer = offerAt(text.replace("|", ""), text.indexOf("|"), known, asked);
  return offer?.words.map((w) => text.slice(0, offer.from) + w.insert + text.replace("|", "").slice(offer.to)).map((t) => t.split("\n").find((_, i) => i === text.slice(0, text.indexOf("|")).split("\n").length - 1)) ?? [];
};
const viz = (line: string) => `BEGIN_VIZ=a\nrootRanks=sqrt(maxRank)\n${line}\nz=0\nEND_VIZ\n`;
const ui = (line: string) => `BEGIN_VIZ=a\nEND_VIZ\nBEGIN_UI=a\n${line}\nEND_UI\n`;

test("names that are set above, names that are given, and functions", () => {
  expect(offered(viz("x=2*r|"))).toEqual(["x=2*rootRanks", "x=2*rank"]);
  expect(offered(viz("x=mo|d"))).toEqual(["x=mod(d"]);
  expect(offered(viz("x=p|+1"))).toEqual(["x=pi()+1"]);
  expect(offered(viz("x=event0.m|"))).toEqual(["x=event0.max"]);
  expect(offered(viz("x=mod(rank,MAX|)"))).toEqual(["x=mod(rank,maxRank)"]);
  expect(offered(viz("x=rank /\n  ma|"))).toEqual(["  maxRank"]);
  expect(offered(viz("x=rank|"))).toEqual([]); // nothing else to write
  expect(offered(viz("# ra|"))).toEqual([]);
  expect(offered(viz("x=12|"))).toEqual([]);
  expect(offered("ra|")).toEqual([]); // outside of blocks
});

test("what a layout has yet to set", () => {
  expect(offered(viz("|"))).toEqual([]);
  expect(offered(viz("|"), true)).toEqual(["x=", "y=", "z=", "color=", "restrictDim="]);
  expect(offered(viz("x=1\nre|"))).toEqual(["restrictDim="]);
  expect(offered(viz("x=1\n|"), true)).not.toContain("x=");
});

test("metadata by any part of their name", () => {
  expect(offered(viz("x=metadata(|)"))).toEqual(["x=metadata(CPU Cores)", "x=metadata(host.slot)"]);
  expect(offered(viz("x=metadata(slo|)"))).toEqual(["x=metadata(host.slot)"]);
});

test("regions and metrics of a UI block", () => {
  expect(offered(ui("event0=Barr|"))).toEqual(["event0=MPI_Barrier:exclusive"]);
  expect(offered(ui("event0=std::sort:c|"))).toEqual(["event0=std::sort:calls"]);
  expect(offered(ui("#event0=metadata:cpu|"))).toEqual(["#event0=metadata:CPU Cores"]);
  expect(offered(ui("sh|"))).toEqual(["shape="]);
  expect(offered(ui("shape=b|"))).toEqual(["shape=bars"]);
});

test("values stand on the line that gives them", () => {
  const line = (text: number | undefined, label: string, value: string) => ({ text, label, value });
  expect(valuesOf({ title: "rank 3", lines: [line(undefined, "rank", "3"), line(2, "xdim", "8"), line(2, "ydim", "4"), line(3, "x", "0.5")] }))
    .toEqual({ of: "rank 3", lines: new Map([[2, "xdim 8, ydim 4"], [3, "0.5"]]) });
});
