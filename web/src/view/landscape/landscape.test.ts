import { expect, test } from "vitest";
import { followOf, specFor } from "../../shell/scope";
import { everything } from "../../shell/selection";
import { landscape } from "./index";

test("the whole profile stays when a place of it is chosen", () => {
  const look = { ...everything, locations: ["#3"], regions: ["#7"] };
  expect(specFor(look, followOf(null, landscape.follow))).toEqual({});
});
