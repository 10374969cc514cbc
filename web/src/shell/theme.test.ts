import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import table from "../../../internal/scene/palette.json";

test("the page has the colours of the palette that the pictures have", () => {
  const css = readFileSync(new URL("./theme.css", import.meta.url), "utf8");
  const [light, dark] = css.split(':root[data-theme="dark"]').map((part) => new Map([...part.matchAll(/--([a-z-]+): #([0-9a-f]+);/g)].map((m) => [m[1], m[2]])));
  const ui = table.sections[0];
  expect(light.size).toBeGreaterThan(10);
  for (const [theme, vars] of [["light", light], ["dark", dark]] as const) {
    for (const [name, value] of vars) expect(`${theme} ${name} ${ui[theme]![ui.names!.indexOf(name)]}`).toBe(`${theme} ${name} ${value}`);
  }
});
