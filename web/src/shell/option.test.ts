import { describe, expect, test } from "vitest";
import type { Option, ViewInfo } from "../api/types";
import { changed, commandLine, controlOf, inGroups, keptValues, optionsFor, problemOf, valueOf, withDefaults } from "./option";

const of = (o: Partial<Option>): Option => ({ name: "x", kind: "text", default: "", help: "", title: "", group: "Rows", ...o });
const show = of({ name: "show", title: "A pixel shows", group: "Colour", kind: "choice", choices: ["dominant", "max"], default: "dominant" });
const p = of({ name: "p", kind: "number", default: "0.1", min: 0, max: 1, step: 0.001 });
const paper = of({ name: "paper", title: "Colours of the paper", group: "Colour", kind: "switch", default: "false" });
const expand = of({ name: "expand", title: "Always open", kind: "patterns" });
const palette = of({ name: "palette", kind: "choice", choices: ["viridis", "cividis"], default: "viridis" });
const arrange = of({ name: "arrange", kind: "choice", choices: ["tree", "groups"], default: "tree", open: true });
const view = { options: [show, p, paper, expand, palette, arrange] } as ViewInfo;

test("each kind of option has its control", () => {
  const kinds = [show, p, paper, expand, of({ kind: "integer" }), of({ kind: "number" }), of({ kind: "file" })].map(controlOf);
  expect(kinds).toEqual(["select", "slider", "switch", "patterns", "number", "number", "text"]);
});

describe("a value", () => {
  test("is the default until it is set", () => {
    expect(valueOf(show, {})).toBe("dominant");
    expect(valueOf(show, { show: ["max"] })).toBe("max");
  });
  test("that is the default is not kept", () => {
    expect(keptValues(show, ["dominant"])).toEqual([]);
    expect(keptValues(show, ["max"])).toEqual(["max"]);
    expect(keptValues(p, [""])).toEqual([]);
    expect(keptValues(of({ kind: "text", default: "exclusive" }), [""])).toEqual([""]);
  });
  test("of patterns is a list without blanks and repeats", () => {
    expect(keptValues(expand, [" a ", "", "b", "a"])).toEqual(["a", "b"]);
  });
  test("that does not fit is told before it is sent", () => {
    expect(problemOf(p, "2")).toBe("want a number from 0 to 1");
    expect(problemOf(p, "x")).toBe("want a number");
    expect(problemOf(p, "0.5")).toBe("");
    expect(problemOf(of({ kind: "integer" }), "1.5")).toBe("want a whole number");
    expect(problemOf(show, "min")).toBe("want one of dominant, max");
    expect(problemOf(show, "max:k=3")).toBe("want one of dominant, max");
    expect(problemOf(arrange, "groups:k=3")).toBe("");
  });
});

test("the head of a panel names what differs from the defaults", () => {
  expect(changed(view, { show: ["max"], paper: ["true"], expand: ["a", "b"] }).map((c) => c.text)).toEqual(["A pixel shows: max", "Colours of the paper", "Always open: 2"]);
  expect(changed(undefined, { show: ["max"] })).toEqual([]);
});

test("options stand below their headings, with the page's own defaults", () => {
  expect(inGroups([show, p, paper, expand]).map(([group, list]) => `${group}: ${list.map((o) => o.name).join(" ")}`)).toEqual(["Rows: p expand", "Colour: show paper"]);
  const depth = of({ name: "depth", kind: "integer", default: "0", word: "auto" });
  expect(withDefaults({ options: [depth, p] } as ViewInfo, { depth: ["auto"] }).options.map((o) => o.default)).toEqual(["auto", "0.1"]);
  expect([problemOf(depth, "auto"), problemOf(depth, "3"), problemOf(depth, "deep")]).toEqual(["", "", "want a whole number or auto"]);
});

test("only options that the view has are sent, with the page's palette and order of locations", () => {
  const page = { palette: "cividis", arrange: "" };
  expect(optionsFor(view, { show: ["max"], bogus: ["1"] }, page)).toEqual({ show: ["max"], palette: ["cividis"] });
  expect(optionsFor(view, { palette: ["viridis"] }, page)).toEqual({ palette: ["viridis"] });
  expect(optionsFor(undefined, { show: ["max"] }, page)).toEqual({});
  expect(optionsFor(view, {}, { palette: "", arrange: "groups:k=3" })).toEqual({ arrange: ["groups:k=3"] });
  expect(optionsFor({ options: [show] } as ViewInfo, {}, { palette: "", arrange: "groups" })).toEqual({});
});

test("lines of counters are those of the selected locations", () => {
  const timeline = { options: [of({ name: "counters", kind: "patterns" }), of({ name: "counters-of", kind: "patterns" })] } as ViewInfo;
  const page = { palette: "", arrange: "", chosen: ["#40", "#41", "#47"] };
  expect(optionsFor(timeline, { counters: ["power"] }, page)).toEqual({ counters: ["power"], "counters-of": ["#40-41,47"] });
  expect(optionsFor(timeline, {}, page)).toEqual({}); // without lines a selection asks for nothing anew
  expect(optionsFor(timeline, { counters: ["power"], "counters-of": ["rank:3"] }, page)).toEqual({ counters: ["power"], "counters-of": ["rank:3"] });
  expect(optionsFor(timeline, { counters: ["power"] }, { ...page, chosen: [] })).toEqual({ counters: ["power"] });
  expect(optionsFor({ options: [timeline.options[0]] } as ViewInfo, { counters: ["power"] }, page)).toEqual({ counters: ["power"] });
});

test("a picture can be had from the command line", () => {
  expect(commandLine("my run.otf2", "timeline", { show: ["max"], expand: ["n*"] }, { from: 5, to: 9, locations: ["#7"], regions: ["it's"] }))
    .toBe(`parallax view timeline 'my run.otf2' --from 5ns --to 9ns --locations '#7' --regions 'it'\\''s' --show=max '--expand=n*' -o timeline.svg`);
});
