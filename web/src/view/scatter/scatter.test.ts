import { expect, test } from "vitest";
import { followOf, specFor } from "../../shell/scope";
import { everything } from "../../shell/selection";
import { scatter } from "./index";

test("all locations stay when some are chosen, so that they can be compared", () => {
  const look = { ...everything, locations: ["#3"], time: { begin: 5, end: 9 } };
  const spec = specFor(look, followOf(null, scatter.follow));
  expect(spec.locations).toBeUndefined();
  expect(spec).toMatchObject({ from: 5, to: 9 });
});
