import { expect, test } from "vitest";
import { none, type Scene } from "../scene/scene";
import { endOf, leavesRoom } from "./narrow";

const scene = (h: number, fill = 3): Scene => ({
  width: 300, height: 600, title: "", description: "", legend: [], notes: [], empty: null, coarse: false,
  frames: [{ name: "", x: 0, y: 20, w: 300, h, xScale: { kind: "", begin: 0, end: 1, label: "", rows: [] }, yScale: { kind: "", begin: 0, end: 1, label: "", rows: [] } }],
  layers: [{ name: "", frame: 0, marks: [{ kind: "rect", x: new Float32Array([0]), y: new Float32Array([20]), w: new Float32Array([300]), h: new Float32Array([900]), fill: new Uint16Array([fill]), flags: null, count: null }] }],
});

test("a picture ends where the last thing in it does, within its frame", () => {
  expect(endOf(scene(200))).toBe(224);
  expect(endOf(scene(2000))).toBe(600);
});

test("what is only pointed at is not seen", () => {
  expect(endOf(scene(200, none))).toBe(4);
});

test("a picture without marks is as high as it was asked for", () => {
  expect(endOf({ ...scene(200), layers: [] })).toBe(600);
});

test("a picture leaves room for another panel where it and what is around it take less than two thirds", () => {
  expect(leavesRoom(300, 600, 0)).toBe(true);
  expect(leavesRoom(500, 600, 0)).toBe(false);
  expect(leavesRoom(300, 600, 700)).toBe(true);
  expect(leavesRoom(300, 600, 430)).toBe(false); // the strip came, and the panels share less
});
