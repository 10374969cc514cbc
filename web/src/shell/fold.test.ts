import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { foldings } from "./fold";
import { middle } from "./format";

const cases = JSON.parse(readFileSync(new URL("../../../internal/scene/testdata/foldings.json", import.meta.url), "utf8")) as { name: string; forms: string[] }[];

test.each(cases)("$name is folded to what tells it apart", ({ name, forms }) => {
  expect(foldings(name)).toEqual(forms);
});

test("a name that is too long loses its package before anything is cut from its middle", () => {
  expect(middle("cmd/compile/internal/ssa.(*Func).Compile", 20)).toBe("ssa.(*Func).Compile");
  expect(middle("cmd/compile/internal/ssa.(*Func).Compile", 10)).toBe("(*Fun…pile");
});
