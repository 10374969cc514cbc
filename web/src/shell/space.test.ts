import { expect, test } from "vitest";
import type { ViewInfo } from "../api/types";
import { newPanel } from "./layout";
import { cameraOf, spaceGestures, splitOptions, withGestures } from "./space";

const of = (camera?: string) => newPanel("topology", camera === undefined ? {} : { camera: [camera] });
const view = { options: [{ name: "layout" }, { name: "camera" }] } as ViewInfo;

test("a drag turns the camera from where it was", () => {
  expect(spaceGestures.turn(of(), 100, 0)).toEqual([{ option: "camera", values: ["70,20,1"] }]);
  expect(spaceGestures.turn(of("350,0,2"), 50, 50)).toEqual([{ option: "camera", values: ["10,20,2"] }]);
  expect(spaceGestures.turn(of("0,80,1"), 0, 1000)).toEqual([{ option: "camera", values: ["0,90,1"] }]);
});

test("the wheel comes closer, within reason, and leaves what is under the pointer there", () => {
  expect(spaceGestures.magnify(of(), 2, { x: 0, y: 0 })).toEqual([{ option: "camera", values: ["30,20,2"] }]);
  expect(spaceGestures.magnify(of("30,20,99"), 9, { x: 0, y: 0 })).toEqual([{ option: "camera", values: ["30,20,100"] }]);
  expect(spaceGestures.magnify(of(), 2, { x: 0.25, y: -0.1 })).toEqual([{ option: "camera", values: ["30,20,2,-0.25,0.1"] }]);
});

test("a drag with Shift moves, and the usual side is the default", () => {
  expect(spaceGestures.shift(of(), 0.5, 0)).toEqual([{ option: "camera", values: ["30,20,1,0.5,0"] }]);
  expect(spaceGestures.magnify(of("30,20,2"), 0.5, { x: 0, y: 0 })).toEqual([{ option: "camera", values: [] }]);
  expect(cameraOf(of("nonsense"))).toMatchObject({ azimuth: 30, elevation: 20, zoom: 1 });
});

test("what the page does by itself is not asked for", () => {
  const { asked, space } = splitOptions(view, { layout: ["sphere"], camera: ["1,2,3"], min: ["20%"], slice: ["x=3"], point: ["2"] });
  expect(asked).toEqual({ layout: ["sphere"] });
  expect(space).toEqual({ camera: "1,2,3", min: "20%", slice: "x=3", point: "2" });
  expect(splitOptions({ options: [{ name: "min" }] } as ViewInfo, { min: ["3"] })).toEqual({ asked: { min: ["3"] }, space: {} });
});

test("a view with a camera has gestures without a word, and keeps its own", () => {
  expect(withGestures({ name: "landscape" }, view).turn).toBe(spaceGestures.turn);
  const own = () => [];
  expect(withGestures({ name: "landscape", turn: own }, view).turn).toBe(own);
  expect(withGestures({ name: "timeline" }, { options: [] as ViewInfo["options"] } as ViewInfo).turn).toBeUndefined();
});
