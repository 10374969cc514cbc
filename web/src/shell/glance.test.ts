import { describe, expect, it } from "vitest";
import type { Scene } from "../scene/scene";
import { glance } from "./glance";

const scene = (frame: object) => ({ layers: [], legend: [], frames: [{ name: "calls", x: 0, y: 0, w: 100, h: 100, xScale: { kind: "", rows: [] }, yScale: { kind: "", rows: [] }, ...frame }] }) as unknown as Scene;

describe("what a picture itself tells of a place", () => {
  it("says nothing where there is nothing but the name of the picture", () => {
    expect(glance(scene({}), 0, 50, 50)).toBeNull();
  });
});
