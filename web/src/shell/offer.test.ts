import { expect, test } from "vitest";
import type { Option } from "../api/types";
import { actionOf, optionOf, wordsOf } from "./offer";

const option = (name: string): Option => ({ name, kind: "text", default: "", help: "", title: "", group: "" });

test("a note that names a flag becomes a button", () => {
  expect(actionOf("94 locations are taken together by rank; --group locations shows each", [option("group")])).toEqual({ option: "group", value: "locations", label: "show each" });
  expect(actionOf("in groups; --group ranks draws each where the picture is 556 pixels high", [option("group")])?.label).toBe("draw each");
  expect(actionOf("3 places show the mean of 9 locations; --cores expand shows each", [option("cores")])?.value).toBe("expand");
  expect(actionOf("4,480 links too dense to draw: 36 symbols for those that start near each other", [option("links")])).toEqual({ option: "links", value: "all", label: "draw all links" });
});

test("a note that names a flag without a value offers its control", () => {
  const note = "30 % of the time is in regions whose names differ and that were taken for the same; --match OLD=NEW says otherwise";
  expect(actionOf(note, [option("match")])).toBeNull();
  expect(optionOf(note, [option("group"), option("match")])?.name).toBe("match");
  expect(optionOf(note, [option("group")])).toBeNull();
});

test("a flag that the view does not have, or a note without one, becomes none", () => {
  expect(actionOf("--group locations shows each", [option("links")])).toBeNull();
  expect(actionOf("of 9 locations the first 4 are aligned; --locations chooses others", [option("group")])).toBeNull();
  expect(actionOf("nothing to do", [option("links")])).toBeNull();
});

test("words that a help text lists are offered", () => {
  expect(wordsOf("what colours mean: region, role, busy or duration")).toEqual(["region", "role", "busy", "duration"]);
  expect(wordsOf("order of rows")).toEqual([]);
});
