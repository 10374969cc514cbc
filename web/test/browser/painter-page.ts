// What the painter's test runs inside the browser. It is not part of the page.

import { decodeScene } from "../../src/api/wire";
import { device } from "../../src/scene/device";
import { createPainter, type Backend, type Painter, type Transform } from "../../src/scene/painter";
import { palette } from "../../src/scene/palette";
import { none, type Scene } from "../../src/scene/scene";

const host = () => document.getElementById("host")!;

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

async function pixelsOf(png: string): Promise<ImageData> {
  const bitmap = await createImageBitmap(new Blob([bytes(png)], { type: "image/png" }), { colorSpaceConversion: "none" });
  const ctx = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d")!;
  ctx.drawImage(bitmap, 0, 0);
  return ctx.getImageData(0, 0, bitmap.width, bitmap.height);
}

function withPainter<T>(backend: string, f: (p: Painter) => T, pixelRatio = 1): T {
  const p = createPainter(host(), palette, { backend: backend as Backend, pixelRatio });
  try {
    return f(p);
  } finally {
    p.destroy();
  }
}

function compare(got: ImageData, want: ImageData) {
  if (got.width !== want.width || got.height !== want.height) throw new Error(`${got.width}×${got.height}, want ${want.width}×${want.height}`);
  let sum = 0;
  let wrong = 0;
  for (let i = 0; i < got.data.length; i += 4) {
    let most = 0;
    for (let c = 0; c < 3; c++) {
      const d = Math.abs(got.data[i + c]! - want.data[i + c]!);
      sum += d;
      most = Math.max(most, d);
    }
    if (most > 64) wrong++;
  }
  const pixels = got.width * got.height;
  return { pixels, wrong: wrong / pixels, mean: sum / pixels / 3 };
}

/** Sums of the columns of a picture, to see where things went. */
function profile(image: ImageData, y0: number, y1: number): number[] {
  const out = new Array<number>(image.width).fill(0);
  for (let y = y0; y < y1; y++) for (let x = 0; x < image.width; x++) out[x]! += image.data[(y * image.width + x) * 4]!;
  return out;
}

const sceneOfTexts: Scene = {
  width: 200, height: 60, title: "", description: "Two texts.", frames: [], legend: [], notes: [], empty: null, coarse: false,
  layers: [{
    name: "t", frame: -1,
    marks: [{
      kind: "text", x: Float32Array.of(10, 190), y: Float32Array.of(20, 50), text: ["<b>plain</b>", "مرحبا end"],
      fill: Uint16Array.of(2, none), anchor: Uint8Array.of(0, 2), size: 14, bold: false, turned: false,
    }],
  }],
};

Object.assign(window, {
  bench: {
    async compare(scene: string, png: string, theme: "light" | "dark", backend: string, pixelRatio: number) {
      const want = await pixelsOf(png);
      return withPainter(backend, (p) => {
        p.draw(decodeScene(bytes(scene).buffer), theme);
        return { backend: p.backend, ...compare(p.read(), want) };
      }, pixelRatio);
    },
    async lose(scene: string) {
      const p = createPainter(host(), palette, { backend: "webgl2", pixelRatio: 1 });
      const ink = () => p.read().data.reduce((n, v, i) => n + (i % 4 === 0 && v < 200 ? 1 : 0), 0);
      p.draw(decodeScene(bytes(scene).buffer), "light");
      const before = ink();
      const lost = device(true)!;
      lost.gl.getExtension("WEBGL_lose_context")!.loseContext();
      while (!lost.lost) await new Promise((done) => setTimeout(done, 5)); // the browser tells in a task of its own
      p.setTheme("dark");
      p.read();
      p.setTheme("light");
      const after = ink();
      p.destroy();
      return { before, after };
    },
    /** Draws before a GPU was asked for, and once more when it is there. */
    async takeUp(scene: string) {
      const gone = device(true)!;
      gone.gl.getExtension("WEBGL_lose_context")!.loseContext();
      while (!gone.lost) await new Promise((done) => setTimeout(done, 5));
      const p = createPainter(host(), palette, { pixelRatio: 1 });
      p.draw(decodeScene(bytes(scene).buffer), "light");
      const first = { backend: p.backend, image: p.read() };
      device(true); // auto takes no WebGL2 that is drawn in software, unless it is there
      while (p.backend === first.backend) await new Promise((done) => setTimeout(done, 20));
      const got = { first: first.backend, then: p.backend, canvases: host().querySelectorAll("canvas").length, ...compare(p.read(), first.image) };
      p.destroy();
      return got;
    },
    /** Draws and leaves the picture there, to be looked at. */
    draw(scene: string, theme: "light" | "dark", backend: string, pixelRatio = 1, t?: Transform) {
      const p = createPainter(host(), palette, { backend: backend as Backend, pixelRatio });
      p.draw(decodeScene(bytes(scene).buffer), theme);
      if (t) p.setTransform(0, t);
      p.read();
    },
    moved(scene: string, backend: string) {
      return withPainter(backend, (p) => {
        p.draw(decodeScene(bytes(scene).buffer), "light");
        const first = p.read();
        p.setTransform(0, { scaleX: 2, offsetX: -37, scaleY: 1, offsetY: 0 });
        const second = p.read();
        p.setTransform(0, { scaleX: 1, offsetX: 0, scaleY: 1, offsetY: 0 });
        const third = p.read();
        const f = p.scene!.frames[0]!;
        for (let y = 0; y < first.height; y++) {
          for (let x = 0; x < first.width; x++) {
            if (x >= f.x && x < f.x + f.w && y >= f.y && y < f.y + f.h) continue;
            const i = (y * first.width + x) * 4;
            if (first.data[i] !== second.data[i]) throw new Error(`pixel ${x}, ${y} lies outside the frame and changed`);
          }
        }
        return {
          before: profile(first, 12, 20), after: profile(second, 12, 20),
          restored: first.data.every((v, i) => v === third.data[i]),
        };
      });
    },
    overlay(scene: string) {
      return withPainter("software", (p) => {
        p.draw(decodeScene(bytes(scene).buffer), "light");
        p.highlight({ frame: 0, keep: [{ x: 100, y: 0, w: 50, h: 100 }, { x: 120, y: 0, w: 50, h: 100 }], crossX: 200 });
        p.read();
        const above = host().querySelectorAll("canvas")[1]!.getContext("2d")!;
        const alpha = (x: number, y: number) => above.getImageData(x, y, 1, 1).data[3]!;
        return [alpha(130, 50), alpha(60, 50), alpha(200, 150), alpha(5, 5)];
      });
    },
    texts(backend: string) {
      return withPainter(backend, (p) => {
        p.draw(sceneOfTexts, "light");
        const image = p.read();
        let ink = 0;
        for (let i = 0; i < image.data.length; i += 4) if (image.data[i]! < 200) ink++;
        for (let x = 100; x < 200; x++) if (image.data[(45 * 200 + x) * 4] !== 255) throw new Error("a text without colour was drawn");
        return { ink, label: host().querySelector("canvas")!.getAttribute("aria-label") };
      });
    },
    /** Milliseconds to decode and to draw, with the picture read back. */
    time(scene: string, backend: string, rounds: number) {
      const buffer = bytes(scene).buffer;
      return withPainter(backend, (p) => {
        const out: { decode: number; draw: number; move: number }[] = [];
        for (let i = 0; i < rounds; i++) {
          const t0 = performance.now();
          const decoded = decodeScene(buffer);
          const t1 = performance.now();
          p.draw(decoded, "light");
          p.read();
          const t2 = performance.now();
          p.setTransform(0, { scaleX: 1.1, offsetX: -i, scaleY: 1, offsetY: 0 });
          p.read();
          out.push({ decode: t1 - t0, draw: t2 - t1, move: performance.now() - t2 });
        }
        return out;
      });
    },
  },
});
