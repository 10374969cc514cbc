import { describe, expect, test } from "vitest";
import { decodePage, encodePage, type PageState } from "./url";
import { changePanel, newPanel, panels, type Layout } from "./layout";
import { everything } from "./selection";

const empty: PageState = { run: "", look: everything, layout: null, theme: "system", palette: "", hues: "", arrange: "", minimap: "activity", embed: "", marks: [], walk: "", story: "" };

/** Ids are not part of the address. */
function plain(l: Layout | null) {
  if (!l) return null;
  const all = panels(l);
  return {
    rows: l.rows.map((r) => ({ weight: r.weight, panels: r.panels.map(({ id: _, ...p }) => p) })),
    max: all.findIndex((p) => p.id === l.maximised),
  };
}

describe("the address holds the whole state", () => {
  test("nothing set gives an empty query", () => {
    expect(encodePage(empty)).toBe("");
    expect(decodePage("")).toEqual(empty);
  });
  test("everything comes back", () => {
    let layout: Layout = {
      rows: [
        { weight: 1.2, panels: [newPanel("timeline", { show: ["max"], expand: ["node*", "a&b=c;d,e#1"] }, 1.7), newPanel("moments")] },
        { weight: 1, panels: [newPanel("treemap", { p: ["0.25"] })] },
      ],
      maximised: "",
    };
    const [first, , third] = panels(layout);
    layout = { ...changePanel(layout, first.id, { table: true }), maximised: third.id };
    const state: PageState = {
      run: "hpl 16/ä", theme: "dark", palette: "cividis", hues: "safe", arrange: "groups:k=3,similarity=time", minimap: "moments", embed: "", marks: [5, 70], walk: "2.why", story: "2:the slow node: why?",
      look: {
        trail: [{ begin: 0, end: 500 }, { begin: 10, end: 20 }], only: ["#3"], time: { begin: 12, end: 14 },
        locations: ["#7", "re:^rank [0-9]+$"], regions: ["role:io", "<script>alert(1)</script>"],
      },
      layout,
    };
    const query = encodePage(state);
    const back = decodePage(query);
    expect({ ...back, layout: plain(back.layout) }).toEqual({ ...state, layout: plain(layout) });
    expect(encodePage(back)).toBe(query);
  });
  test("names of the release before are read", () => {
    const page = decodePage("hues=safe&v=callmatrix&0.stretch=rank&0.alike=time");
    expect([page.hues, panels(page.layout!)[0].options]).toEqual(["safe", { "value-scale": ["rank"], similarity: ["time"] }]);
  });
  test("panels as tabs or in rows that scroll come back", () => {
    for (const as of ["tabs", "scroll"] as const) {
      const layout: Layout = { rows: [{ weight: 1, panels: [newPanel("timeline"), newPanel("moments")] }], maximised: "", as };
      expect(encodePage({ ...empty, layout })).toBe(`v=timeline,moments&panels=${as}`);
      expect(decodePage(encodePage({ ...empty, layout })).layout?.as).toBe(as);
    }
  });
  test("times beyond 2^32 keep every nanosecond", () => {
    const look = { ...everything, time: { begin: 1_234_567_890_123, end: 1_234_567_890_124 } };
    expect(decodePage(encodePage({ ...empty, look })).look.time).toEqual(look.time);
  });
  test("the default look of a layout is short and readable", () => {
    const layout: Layout = { rows: [{ weight: 1.2, panels: [newPanel("timeline", {}, 1.7), newPanel("moments")] }, { weight: 1, panels: [newPanel("treemap")] }], maximised: "" };
    expect(encodePage({ ...empty, run: "demo", layout })).toBe("run=demo&v=timeline*1.7,moments@1.2~treemap");
  });
});

describe("what cannot be read is left out", () => {
  test.each([
    "t=5-3", "t=a-b", "t=-5", "t=1-2-3", "from=5", "from=9&to=2", "v=", "v=~~,,", "v=<b>", "v=UPPER", "theme=pink", "hues=loud", "embed=../x", "marks=a,b", "0.show=max", "max=7", "panels=tabs",
  ])("%s", (query) => expect(decodePage(query)).toEqual(empty));
  test("a layout with one bad name keeps the others", () => {
    expect(panels(decodePage("v=timeline,<x>~moments*abc&max=9").layout!).map((p) => [p.view, p.weight])).toEqual([["timeline", 1], ["moments", 1]]);
  });
  test("absurd sizes are cut", () => {
    expect(panels(decodePage("v=" + "timeline,".repeat(1000)).layout!).length).toBe(20);
  });
});
