import { expect, test } from "vitest";
import { arrangementOf } from ".";

test("the groups of the whole run need no details", () => {
  expect(arrangementOf({}, {}, 100)).toBe("groups");
  expect(arrangementOf({ palette: ["cividis"] }, { from: 0, to: 100 }, 100)).toBe("groups");
});

test("other groups are named by all that they depend on", () => {
  expect(arrangementOf({ k: ["3"], similarity: ["time"] }, { from: 10, to: 50, locations: ["#7"], regions: ["re:a{1,2}"] }, 100))
    .toBe("groups:similarity=time,k=3,time=10..50,location=#7,region=re:a{1%2C2}");
});
