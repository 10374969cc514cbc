import { expect, test } from "vitest";
import { parseBinding, termNote, writeBinding } from "./events";
import { boxOf, grown, sidesOf } from "./layout-choice";
import { mapText } from "./map-choice";
import { blocksOf, nameOf, optionOf, textOf } from "./text";

const file = "# two\nBEGIN_VIZ=a b\nx=1\ny=0\nz=0\nEND_VIZ\n\njunk\nBEGIN_VIZ=c\nx=2\nEND_VIZ\n";

test("a file is cut into blocks that know their lines", () => {
  expect(blocksOf(file)).toEqual([
    { name: "a b", from: 1, to: 6, text: "BEGIN_VIZ=a b\nx=1\ny=0\nz=0\nEND_VIZ" },
    { name: "c", from: 8, to: 11, text: "BEGIN_VIZ=c\nx=2\nEND_VIZ" },
  ]);
  expect(blocksOf("BEGIN_VIZ=a\nx=1\nBEGIN_VIZ=b\nx=2").map((b) => [b.name, b.to])).toEqual([["a", 2], ["b", 4]]);
  expect(blocksOf("x=1")).toEqual([]);
});

test("one block is sent, and read back from the option", () => {
  const option = optionOf(blocksOf(file)[1], file);
  expect(option).toBe("strict:c\nBEGIN_VIZ=c\nx=2\nEND_VIZ");
  expect(textOf(option)).toBe("BEGIN_VIZ=c\nx=2\nEND_VIZ");
  expect(nameOf(option)).toBe("c");
  expect(optionOf(undefined, "x=1")).toBe("strict:\nx=1");
  expect(textOf("sphere")).toBe("");
});

test("the controls of a layout go with it", () => {
  const ui = "BEGIN_UI=c\nshape=bars\nEND_UI";
  expect(optionOf(blocksOf(file + ui)[1], file + ui)).toBe(`strict:c\nBEGIN_VIZ=c\nx=2\nEND_VIZ\n${ui}`);
  expect(optionOf(blocksOf(file + ui)[0], file + ui)).not.toContain("BEGIN_UI");
  expect(optionOf(blocksOf(file + ui)[0], `${file}#BEGIN_UI=*\n#min=2\n#END_UI\n`)).toContain("#min=2");
});

test("bindings are read and written as the command line has them", () => {
  const metrics = ["exclusive", "inclusive", "calls", "PAPI_TOT_INS", "PAPI_TOT_INS:inclusive"];
  for (const text of ["MPI_Barrier:exclusive", "std::sort:calls", "solve:PAPI_TOT_INS:inclusive", "atomic:Message size:max", "counter:power:last", "metadata:CPU MHz"]) {
    expect(writeBinding(parseBinding(text, metrics))).toBe(text);
  }
  expect(parseBinding("solve:PAPI_TOT_INS:inclusive", metrics)).toEqual({ kind: "region", name: "solve", what: "PAPI_TOT_INS:inclusive" });
  expect(parseBinding("std::sort", metrics)).toEqual({ kind: "region", name: "std::sort", what: "exclusive" });
  expect(writeBinding({ kind: "region", name: "", what: "calls" })).toBe("");
});

test("a box for all ranks", () => {
  for (const [n, box] of [[16384, "16x32x32"], [8, "2x2x2"], [1, "1x1x1"], [256, "4x8x8"]] as const) expect(boxOf(n)).toBe(box);
  for (let n = 1; n < 2000; n += 7) {
    const [x, y, z] = boxOf(n).split("x").map(Number);
    expect(x! * y! * z!).toBeGreaterThanOrEqual(n);
  }
});

test("the panel names the binding of an event and its source", () => {
  expect(termNote(undefined, false)).toBe("not bound");
  expect(termNote({ name: "event0", text: "MPI_Barrier:exclusive", label: "time in MPI_Barrier", by: "layout" }, false)).toBe("time in MPI_Barrier, bound by the layout");
  expect(termNote({ name: "event0", text: "solve:exclusive", label: "solve, exclusive time", by: "" }, false)).toBe("solve, exclusive time, bound to the region with most time");
  expect(termNote({ name: "event0", text: "", label: "busy time", by: "" }, false)).toBe("busy time, as nothing else is bound");
  expect(termNote({ name: "event1", text: "solve:calls", label: "solve, calls", by: "user" }, true)).toBe("solve, calls, chosen here");
  expect(termNote(undefined, true)).toBe("bound, and not used by the layout");
});

test("a box keeps the side that was set and grows another until it holds all", () => {
  expect(sidesOf("fill:8x8x16")).toEqual([8, 8, 16]);
  expect(sidesOf("fill:4")).toEqual([4, 1, 1]);
  expect(grown([8, 8, 16], 0, 16, 1024)).toEqual([16, 8, 16]);
  expect(grown([8, 8, 16], 0, 4, 1024)).toEqual([4, 8, 32]);
  expect(grown([8, 8, 16], 2, 4, 1024)).toEqual([8, 32, 4]);
  expect(grown([8, 8, 16], 1, 0, 1024)).toEqual([8, 1, 128]);
});

test("of a map the lines that say where ranks are count", () => {
  expect(mapText("Job 7\n 0:c0-0c0s2n1\n1:c0-0c0s2n1 \n[PE_0]: cpumask = 0001\nbye\n")).toBe("0:c0-0c0s2n1\n1:c0-0c0s2n1\n[PE_0]: cpumask = 0001");
  expect(mapText("rank 0 on host 3\n")).toBe("");
});
