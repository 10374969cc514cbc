import { expect, test } from "vitest";
import { parseBinding, writeBinding } from "./events";
import { boxOf } from "./layout-choice";
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
