// The line of a lasso while it is drawn over a picture.

const svg = "http://www.w3.org/2000/svg";

/** Pixels between two points of the line. */
const step = 3;

export class Lasso {
  readonly line: [number, number][];
  private readonly root: SVGSVGElement;
  private readonly shape: SVGPolygonElement;

  constructor(over: HTMLElement, x: number, y: number) {
    this.line = [[x, y]];
    this.root = document.createElementNS(svg, "svg");
    this.root.setAttribute("class", "lasso");
    this.root.setAttribute("aria-hidden", "true");
    this.shape = document.createElementNS(svg, "polygon");
    this.root.append(this.shape);
    over.append(this.root);
  }

  to(x: number, y: number): void {
    const [lastX, lastY] = this.line[this.line.length - 1]!;
    if (Math.hypot(x - lastX, y - lastY) < step) return;
    this.line.push([x, y]);
    this.shape.setAttribute("points", this.line.map((p) => p.join(",")).join(" "));
  }

  remove(): void {
    this.root.remove();
  }
}
