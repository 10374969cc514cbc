// A scene is drawn in parts: marks that move together. Layers of a frame move with
// it. Axes and labels of rows stand outside their frame and move along one
// direction only, so that they stay readable beside what they explain; the line of
// an axis and its name do not move at all.

import { frameBox, type Map2 } from "./raster";
import { ui } from "./palette";
import type { Frame, Layer, LineMark, Mark, Scene, TextMark } from "./scene";

export interface Part {
  marks: Mark[];
  /** Index of the frame that it follows, -1: none. */
  frame: number;
  follows: "both" | "x" | "y" | "none";
  /** The frame it is clipped to. */
  clip: Frame | null;
}

export function parts(scene: Scene): Part[] {
  return scene.layers.flatMap((layer) => {
    if (layer.frame >= 0) {
      const f = scene.frames[layer.frame];
      return f && f.w >= 0 && f.h >= 0 ? [{ marks: layer.marks, frame: layer.frame, follows: "both" as const, clip: f }] : [];
    }
    if (layer.name === "axis") return axisParts(layer, scene.frames);
    if (layer.name === "rows") return rowParts(layer, scene.frames);
    return [still(layer.marks)];
  });
}

function still(marks: Mark[]): Part {
  return { marks, frame: -1, follows: "none", clip: null };
}

/** The line of an axis comes first and is along its frame, which identifies it. */
function axisParts(layer: Layer, frames: Frame[]): Part[] {
  const line = layer.marks.find((m): m is LineMark => m.kind === "line" && m.x0.length > 0);
  const near = (a: number, b: number) => Math.abs(a - b) < 2;
  for (let i = 0; line && i < frames.length; i++) {
    const f = frames[i]!;
    const [x0, y0, x1, y1] = [line.x0[0]!, line.y0[0]!, line.x1[0]!, line.y1[0]!];
    const level = y0 === y1 && near(x0, f.x) && near(x1, f.x + f.w) && (near(y0, f.y + f.h) || near(y0, f.y));
    const upright = x0 === x1 && near(y0, f.y) && near(y1, f.y + f.h) && (near(x0, f.x) || near(x0, f.x + f.w));
    if (level || upright) return split(layer.marks, line, i, level ? "x" : "y");
  }
  return [still(layer.marks)];
}

/** Takes the axis line and the names, which are darker than the labels, from what moves. */
function split(marks: Mark[], line: LineMark, frame: number, follows: "x" | "y"): Part[] {
  const fixed: Mark[] = [lines(line, 0, 1)];
  const moving: Mark[] = [];
  for (const m of marks) {
    if (m === line) moving.push(lines(line, 1, line.x0.length));
    else if (m.kind !== "text") moving.push(m);
    else {
      fixed.push(texts(m, (i) => m.fill[i] === ui.text));
      moving.push(texts(m, (i) => m.fill[i] !== ui.text));
    }
  }
  return [still(fixed), { marks: moving, frame, follows, clip: null }];
}

function lines(m: LineMark, from: number, to: number): LineMark {
  return {
    ...m, x0: m.x0.subarray(from, to), y0: m.y0.subarray(from, to), x1: m.x1.subarray(from, to), y1: m.y1.subarray(from, to),
    stroke: m.stroke.subarray(from, to), flags: m.flags?.subarray(from, to) ?? null, items: null,
  };
}

function texts(m: TextMark, keep: (i: number) => boolean): TextMark {
  const at = m.text.map((_, i) => i).filter(keep);
  const pick = <T extends Float32Array | Uint16Array | Uint8Array>(a: T): T => {
    const out = new (a.constructor as new (n: number) => T)(at.length);
    at.forEach((from, to) => (out[to] = a[from]!));
    return out;
  };
  return {
    ...m, x: pick(m.x), y: pick(m.y), fill: pick(m.fill), anchor: m.anchor && pick(m.anchor),
    width: m.width && pick(m.width), text: at.map((i) => m.text[i]!),
  };
}

/** Labels of rows follow the frame whose rows stand at their height. */
function rowParts(layer: Layer, frames: Frame[]): Part[] {
  const text = layer.marks.find((m): m is TextMark => m.kind === "text" && m.y.length > 0);
  const frame = frames.findIndex((f) => f.yScale.rows.length > 0 && text && text.y[0]! > f.y - 12 && text.y[0]! < f.y + f.h + 12);
  return frame < 0 ? [still(layer.marks)] : [{ marks: layer.marks, frame, follows: "y", clip: null }];
}

/** A frame's place on screen: x' = x * scaleX + offsetX in pixels of the scene, likewise y. */
export interface Transform {
  scaleX: number;
  offsetX: number;
  scaleY: number;
  offsetY: number;
}

export const identity: Transform = { scaleX: 1, offsetX: 0, scaleY: 1, offsetY: 0 };

/** How a part is placed in device pixels. */
export function mapOf(p: Part, t: Transform | undefined, scale: number): Map2 {
  const x = t && (p.follows === "both" || p.follows === "x");
  const y = t && (p.follows === "both" || p.follows === "y");
  return {
    ax: x ? t.scaleX * scale : scale, bx: x ? t.offsetX * scale : 0,
    ay: y ? t.scaleY * scale : scale, by: y ? t.offsetY * scale : 0,
  };
}

/** Slack above and below a frame within which the labels of its axes stay. */
const slack = 16;

/** What a part is clipped to in device pixels. Moved axes do not run past their frame. */
export function clipOf(p: Part, frames: Frame[], t: Transform | undefined, scale: number, width: number, height: number) {
  const whole = { x0: 0, y0: 0, x1: width, y1: height };
  const f = frames[p.frame];
  const box = p.clip ? frameBox(f ?? p.clip, scale) : whole;
  if (!p.clip && t && f) {
    const around = frameBox(f, scale);
    const extra = Math.round(slack * scale);
    if (p.follows === "x") [box.x0, box.x1] = [around.x0 - 1, around.x1 + 1];
    if (p.follows === "y") [box.y0, box.y1] = [around.y0 - extra, around.y1 + extra];
  }
  return {
    x0: Math.min(Math.max(box.x0, 0), width), y0: Math.min(Math.max(box.y0, 0), height),
    x1: Math.min(Math.max(box.x1, 0), width), y1: Math.min(Math.max(box.y1, 0), height),
  };
}

/** Between which device pixels the labels of a moved axis of time may stand: one of a time that is not seen is left out, and none is cut. */
export function placesOf(p: Part, frames: Frame[], t: Transform | undefined, scale: number): [number, number] | undefined {
  const f = frames[p.frame];
  if (p.follows !== "x" || !t || !f) return undefined;
  const { x0, x1 } = frameBox(f, scale);
  return [x0 - 1, x1 + 1];
}
