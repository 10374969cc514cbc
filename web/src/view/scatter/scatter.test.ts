import { expect, test } from "vitest";
import { newPanel } from "../../shell/layout";
import { followOf, specFor } from "../../shell/scope";
import { everything } from "../../shell/selection";
import { scatter } from "./index";

test("all locations stay when some are chosen, so that they can be compared", () => {
  const look = { ...everything, locations: ["#3"], time: { begin: 5, end: 9 } };
  const spec = specFor(look, followOf(null, scatter.follow));
  expect(spec.locations).toBeUndefined();
  expect(spec).toMatchObject({ from: 5, to: 9 });
});

test("three numbers make a space that can be turned, a plane stays as it is", () => {
  const plane = newPanel("scatter", { event0: ["a"], event1: ["b"] });
  const space = newPanel("scatter", { event0: ["a"], event1: ["b"], event2: ["c"] });
  expect(scatter.turn!(plane, 10, 0)).toEqual([]);
  expect(scatter.magnify!(plane, 2, { x: 0, y: 0 })).toEqual([]);
  expect(scatter.turn!(space, 10, 0)).toEqual([{ option: "camera", values: ["34,20,1"] }]);
});
