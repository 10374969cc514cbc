import { expect, test } from "vitest";
import type { ViewInfo } from "../api/types";
import { newPanel } from "./layout";
import type { Scene } from "../scene/scene";
import { cameraOf, gesturesOf, spaceGestures, splitOptions, withGestures } from "./space";

const of = (camera?: string) => newPanel("topology", camera === undefined ? {} : { camera: [camera] });
const gestures = spaceGestures;
const view = { options: [{ name: "layout" }, { name: "camera" }] } as ViewInfo;

test("a drag turns the camera from where it was", () => {
  expect(gestures.turn(of(), 100, 0)).toEqual([{ option: "camera", values: ["70,20,1"] }]);
  expect(gestures.turn(of("350,0,2"), 50, 50)).toEqual([{ option: "camera", values: ["10,20,2"] }]);
  expect(gestures.turn(of("0,80,1"), 0, 1000)).toEqual([{ option: "camera", values: ["0,90,1"] }]);
});

test("the wheel comes closer, within reason, and leaves what is under the pointer there", () => {
  expect(gestures.magnify(of(), 2, { x: 0, y: 0 })).toEqual([{ option: "camera", values: ["30,20,2"] }]);
  expect(gestures.magnify(of("30,20,99"), 9, { x: 0, y: 0 })).toEqual([{ option: "camera", values: ["30,20,100"] }]);
  expect(gestures.magnify(of(), 2, { x: 0.25, y: -0.1 })).toEqual([{ option: "camera", values: ["30,20,2,-0.25,0.1"] }]);
});

test("a drag with Shift moves, and the usual side is the default", () => {
  expect(gestures.shift(of(), 0.5, 0)).toEqual([{ option: "camera", values: ["30,20,1,0.5,0"] }]);
  expect(gestures.magnify(of("30,20,2"), 0.5, { x: 0, y: 0 })).toEqual([{ option: "camera", values: [] }]);
  expect(cameraOf(of("nonsense"))).toMatchObject({ azimuth: 30, elevation: 20, zoom: 1 });
});

test("what the page does by itself is not asked for", () => {
  const { asked, space } = splitOptions(view, { layout: ["sphere"], camera: ["1,2,3"], min: ["20%"], slice: ["x=3"], point: ["2"] });
  expect(asked).toEqual({ layout: ["sphere"] });
  expect(space).toEqual({ camera: "1,2,3", min: "20%", slice: "x=3", point: "2" });
  expect(splitOptions({ options: [{ name: "min" }] } as ViewInfo, { min: ["3"] })).toEqual({ asked: { min: ["3"] }, space: {} });
});

test("a view with a camera has gestures without a word, and keeps its own", () => {
  expect(withGestures({ name: "landscape" }, view, () => null).turn!(of(), 100, 0)).toEqual(gestures.turn(of(), 100, 0));
  const own = () => [];
  expect(withGestures({ name: "landscape", turn: own }, view, () => null).turn).toBe(own);
  expect(withGestures({ name: "timeline" }, { options: [] as ViewInfo["options"] } as ViewInfo, () => null).turn).toBeUndefined();
});

test("a scene that begins from above is turned from there", () => {
  const scene = { layers: [{ marks: [{ kind: "space", camera: { azimuth: 0, elevation: 90, zoom: 2, panX: 0, panY: 0 } }] }] } as unknown as Scene;
  expect(gesturesOf(() => scene).turn(of(), 50, 0)).toEqual([{ option: "camera", values: ["20,90,2"] }]);
  expect(gesturesOf(() => scene).turn(of("20,90,2"), -50, 0)).toEqual([{ option: "camera", values: [] }]);
});

test("a view that is a space only sometimes is turned only then", () => {
  const flat = { layers: [{ name: "cells", frame: 0, marks: [{ kind: "image" }] }] } as unknown as Scene;
  const solid = { layers: [{ name: "space", frame: -1, marks: [{ kind: "space", camera: { azimuth: 0, elevation: 0, zoom: 1, panX: 0, panY: 0 } }] }] } as unknown as Scene;
  let now = flat;
  const plug = withGestures({ name: "commmatrix" }, view, () => now);
  expect(plug.turn).toBeUndefined();
  expect(plug.magnify).toBeUndefined();
  now = solid;
  expect(plug.turn).toBeTypeOf("function");
});
