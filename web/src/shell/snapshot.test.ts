import { expect, test } from "vitest";
import { captionOf, isSize } from "./figure";
import { workspaceQuery } from "./notes";
import { snapshotHTML } from "./snapshot";

test("names from traces are text in a snapshot, never markup", () => {
  const html = snapshotHTML({ run: "<b>&", source: "a\"b", selection: "<i>", when: "now", address: "?x", findings: ["<script>alert(1)</script>"], panels: [{ title: "<img onerror=1>", picture: "<svg><script>1</script></svg>", numbers: "a,b\n", notes: ["<u>"] }] });
  expect(html).not.toMatch(/<script|<b>|<i>|<u>|<img onerror|<svg/);
  expect(html).toContain("data:text/csv;charset=utf-8,a%2Cb%0A");
});

test("a caption says what, of what, when, and what it shows", () => {
  expect(captionOf({ letter: "a", title: "Timeline", run: "hpl", range: "1–2 s", description: "64 rows.", notes: ["Rank 5 waits 3 s", "b", "c"] })).toBe("(a) Timeline of hpl, 1–2 s. 64 rows. Rank 5 waits 3 s. b.");
  expect(captionOf({ letter: "", title: "Timeline", run: "hpl", range: "0–188 ms", description: "Timeline of 72 rows from 0 s to 235 ms: the innermost.", notes: [] })).toBe("Timeline of hpl, 0–188 ms. Timeline of 72 rows: the innermost.");
  expect(captionOf({ letter: "", title: "Profile", run: "x", range: "", description: "", notes: [] })).toBe("Profile of x.");
});

test("sizes are millimetres or pixels", () => {
  expect(["84mm", "174x90mm", "1600x900", "1600xAUTO"].every(isSize)).toBe(true);
  expect(["", "84", "x90", "84cm", "1600x"].some(isSize)).toBe(false);
});

test("a workspace holds the panels, not the run, the token or the theme", () => {
  expect(workspaceQuery("?run=a&token=s&theme=dark&v=timeline&t=1-2")).toBe("v=timeline&t=1-2");
});
