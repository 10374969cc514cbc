import { expect, test } from "vitest";
import { newPanel } from "../../shell/layout";
import { cameraOf, topology } from "./index";

const of = (camera?: string) => newPanel("topology", camera === undefined ? {} : { camera: [camera] });

test("a drag turns the camera from where it was", () => {
  expect(topology.turn!(of(), 100, 0)).toEqual([{ option: "camera", values: ["70,20,1"] }]);
  expect(topology.turn!(of("350,0,2"), 50, -50)).toEqual([{ option: "camera", values: ["10,20,2"] }]);
  expect(topology.turn!(of("0,80,1"), 0, -1000)).toEqual([{ option: "camera", values: ["0,90,1"] }]);
});

test("the wheel comes closer, within reason", () => {
  expect(topology.magnify!(of(), 2)).toEqual([{ option: "camera", values: ["30,20,2"] }]);
  expect(topology.magnify!(of("30,20,19"), 9)).toEqual([{ option: "camera", values: ["30,20,20"] }]);
});

test("the usual side is the default", () => {
  expect(topology.magnify!(of("30,20,2"), 0.5)).toEqual([{ option: "camera", values: [] }]);
  expect(cameraOf(of("nonsense"))).toEqual([30, 20, 1]);
});
