// Every mark with its two ways of being drawn; a test holds the list against
// internal/scene. Texts go to the 2D canvas instead, see text.ts.

import type { Device, Drawable } from "./device";
import { rasterImage, uploadImage } from "./image";
import { rasterLine, uploadLine } from "./line";
import { rasterPath, uploadPath } from "./path";
import { rasterPoint, uploadPoint } from "./point";
import { rasterPolygon, uploadPolygon } from "./polygon";
import type { Raster } from "./raster";
import { rasterRect, uploadRect } from "./rect";
import type { Mark, SpaceMark, TextMark } from "./scene";

/** Marks of the plane; those in space become such ones, see space/view.ts. */
export type Shape = Exclude<Mark, TextMark | SpaceMark>;

export function raster(r: Raster, m: Shape): void {
  switch (m.kind) {
    case "rect":
      return rasterRect(r, m);
    case "line":
      return rasterLine(r, m);
    case "path":
      return rasterPath(r, m);
    case "polygon":
      return rasterPolygon(r, m);
    case "point":
      return rasterPoint(r, m);
    case "image":
      return rasterImage(r, m);
  }
}

export function upload(d: Device, m: Shape): Drawable {
  switch (m.kind) {
    case "rect":
      return uploadRect(d, m);
    case "line":
      return uploadLine(d, m);
    case "path":
      return uploadPath(d, m);
    case "polygon":
      return uploadPolygon(d, m);
    case "point":
      return uploadPoint(d, m);
    case "image":
      return uploadImage(d, m);
  }
}
