// One space as it is shown: the mark with what the user turned and filtered since.

import type { Device, Target } from "../device";
import { uploadLine } from "../line";
import type { Shape } from "../mark";
import { none, type LineMark, type SpaceCamera, type SpaceFilter, type SpaceMark, type TextMark } from "../scene";
import { flattenAxes } from "./axes";
import { barHeight, dotRadius, flattenBody, flattenLinks, Form } from "./body";
import { uploadSpace, type SpaceDrawable } from "./gpu";
import { filterOf, looks, parseCamera, type SpaceChoice } from "./look";
import { locationsInside } from "./lasso";
import { pickThing } from "./pick";
import { at, project, type Projection } from "./project";
import { itemsOf, type LocationRange } from "./runs";

export class SpaceView {
  /** Things are left out while it is being turned. */
  draft = false;
  private readonly mark: SpaceMark;
  private filter: SpaceFilter;
  private filterKey = "";
  private look: Uint16Array | null = null;
  private choice: SpaceChoice = {};
  private drawable: SpaceDrawable | null = null;

  constructor(private readonly given: SpaceMark) {
    this.mark = { ...given };
    this.filter = given.filter;
  }

  /** Takes what the user set; true where the picture changes by it. */
  set(choice: SpaceChoice): boolean {
    const before = JSON.stringify(this.choice);
    this.choice = { ...choice };
    if (JSON.stringify(this.choice) === before) return false;
    const { given, mark } = this;
    this.filter = filterOf(given, choice);
    const key = JSON.stringify(this.filter);
    if (key !== this.filterKey) {
      this.filterKey = key;
      this.look = null;
    }
    if (choice.detail !== undefined) mark.detail = Number(choice.detail) || given.detail;
    else mark.detail = given.detail;
    mark.bare = choice.axes === undefined ? given.bare : choice.axes === "hidden";
    const size = Number(choice.point ?? 1);
    const by = size > 0 && size <= 100 ? size : 1;
    mark.radius = given.radius * by;
    mark.least = given.least * by;
    mark.half = [given.half[0] * by, given.half[1] * by];
    return true;
  }

  private get camera(): SpaceCamera {
    return parseCamera(this.choice.camera, this.given.camera);
  }

  get projection(): Projection {
    return project(this.mark, this.camera);
  }

  /** How many things a full picture draws. */
  get size(): number {
    return this.mark.px.length;
  }

  private get shown(): Uint16Array {
    if (!this.look) {
      this.look = looks(this.mark, this.filter);
      this.drawable?.setLooks(this.look);
    }
    return this.look;
  }

  /** Marks of the plane, for the software rasteriser. */
  flatten(): Shape[] {
    const p = this.projection;
    return [...this.lines(p), flattenBody(this.mark, this.shown, p, this.draft)];
  }

  text(): TextMark {
    return flattenAxes(this.mark, this.projection, this.camera.zoom, this.shown).text;
  }

  /** The box, and lines between things behind them. */
  private lines(p: Projection): LineMark[] {
    const out = flattenAxes(this.mark, p, this.camera.zoom).lines;
    const links = flattenLinks(this.mark, this.shown, p);
    return links ? [...out, links] : out;
  }

  drawOn(d: Device, t: Target): void {
    const p = this.projection;
    const look = this.shown;
    this.drawable ??= uploadSpace(d, this.mark, look);
    for (const l of this.lines(p)) {
      const lines = uploadLine(d, l);
      lines.draw(t);
      lines.free();
    }
    this.drawable.draw(t, p);
  }

  /** The thing at a pixel of the scene, or -1. */
  pick(x: number, y: number): number {
    return pickThing(this.mark, this.shown, this.projection, x, y);
  }

  /** The locations of what is shown inside a closed line. */
  within(line: readonly (readonly [number, number])[]): number[] {
    return locationsInside(this.mark, this.shown, this.projection, line);
  }

  /** Pixels of the scene where things of locations are drawn: x, y, radius. Hidden ones are left out. */
  rings(ranges: readonly LocationRange[], most: number): [number, number, number][] {
    if (ranges.length === 0) return [];
    const p = this.projection;
    const r = Math.max(dotRadius(this.mark, p) + 2, 4);
    return itemsOf(this.mark, ranges, most).filter((i) => this.shown[i] !== none).map((i) => {
      const high = this.mark.form === Form.bars ? barHeight(this.mark, i) : 0;
      const [x, y] = at(p, this.mark.px[i]!, this.mark.py[i]!, this.mark.pz[i]! + high);
      return [x, y, r];
    });
  }

  /** Gives up what is on the GPU; lost: it is gone already. */
  free(lost = false): void {
    if (!lost) this.drawable?.free();
    this.drawable = null;
  }
}
