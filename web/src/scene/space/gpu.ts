// Things in space on the GPU: places stay there, a turn changes a few uniforms. The
// depth buffer decides what is in front; smoothed edges go by coverage.

import type { Device, Program, Target } from "../device";
import { none, type SpaceMark } from "../scene";
import { dimmed, discsOf, dotRadius, Form } from "./body";
import type { Projection } from "./project";

export interface SpaceDrawable {
  draw(t: Target, p: Projection): void;
  /** Other colours of the same things. */
  setLooks(look: Uint16Array): void;
  free(): void;
}

export function uploadSpace(d: Device, m: SpaceMark, look: Uint16Array): SpaceDrawable {
  const places = [m.px, m.py, m.pz, m.value].map((c) => d.column(c));
  let colours = d.column(look);
  return {
    draw(t, p) {
      const { gl } = d;
      const program = programOf(d, m.form);
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.LEQUAL);
      gl.depthMask(true);
      gl.clearDepth(1);
      gl.clear(gl.DEPTH_BUFFER_BIT);
      gl.disable(gl.BLEND);
      gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
      d.use(program, t);
      ["uX", "uY", "uZ", "uValue"].forEach((name, i) => d.bind(program, name, i + 1, places[i]!));
      d.bind(program, "uLook", 5, colours);
      uniforms(gl, program, m, p);
      gl.uniform1i(program.at("uThin"), isThin(m, p) ? 1 : 0);
      d.drawQuads(program, quadCount(m, p));
      gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
      gl.disable(gl.DEPTH_TEST);
      gl.enable(gl.BLEND);
    },
    setLooks(next) {
      d.free(colours);
      colours = d.column(next);
    },
    free: () => d.free(...places, colours),
  };
}

/** Bars narrower than a pixel are drawn as lines. */
function isThin(m: SpaceMark, p: Projection): boolean {
  return [0, 1].every((a) => 2 * m.half[a]! * p.stretch[a]! * p.scale < 1.2);
}

function quadCount(m: SpaceMark, p: Projection): number {
  if (m.form === Form.bars) return isThin(m, p) ? m.px.length : m.px.length * 3;
  if (m.form !== Form.mesh) return m.px.length;
  return m.columns < 2 ? 0 : Math.max(0, Math.ceil(m.px.length / m.columns) - 1) * (m.columns - 1);
}

function programOf(d: Device, form: number): Program {
  if (form === Form.bars) return d.program("space-bars", shared + barVertex, faceFragment);
  if (form === Form.mesh) return d.program("space-mesh", shared + meshVertex, meshFragment);
  return d.program("space-dots", shared + dotVertex, dotFragment);
}

function uniforms(gl: WebGL2RenderingContext, p: Program, m: SpaceMark, v: Projection): void {
  const [x, y, z] = v.middle as [number, number, number];
  const [sx, sy, sz] = v.stretch as [number, number, number];
  gl.uniform3f(p.at("uMiddle"), x, y, z);
  gl.uniform3f(p.at("uStretch"), sx, sy, sz);
  gl.uniform4f(p.at("uTurn"), v.sinA, v.cosA, v.sinE, v.cosE);
  const reach = Math.hypot(...m.axes.map((a) => (a.end - a.begin) * a.stretch)) * v.scale + 100 * v.scale * m.radius + 1;
  gl.uniform4f(p.at("uView"), v.cx, v.cy, v.scale, reach);
  gl.uniform1f(p.at("uRadius"), dotRadius(m, v));
  const steps = discsOf(m, dotRadius(m, v));
  gl.uniform1i(p.at("uSteps"), steps.length);
  // Middle, radius, what the colour is multiplied by, and how much light is added.
  gl.uniform4fv(p.at("uDisc[0]"), steps.flatMap((d) => [d.off, d.radius, d.light ? 1 : d.shades.reduce((f, c) => f * dimmed(c), 1), d.light ? 0.502 : 0]));
  gl.uniform4f(p.at("uBar"), m.half[0], m.half[1], m.tall, m.base);
  gl.uniform3f(p.at("uSides"), v.sinA < 0 ? 1 : -1, v.cosA < 0 ? 1 : -1, v.sinE < 0 ? 0 : 1);
  gl.uniform2f(p.at("uEnds"), m.low, m.high);
  gl.uniform3i(p.at("uMesh"), m.columns, m.px.length, m.fill ? 1 : 0);
  gl.uniform1f(p.at("uGap"), m.gap * v.scale);
}

/** Pixel and depth of a place; depth in pixels, away from the eye. */
const shared = `
uniform sampler2D uX, uY, uZ, uValue;
uniform usampler2D uLook;
uniform int uBase;
uniform vec3 uMiddle, uStretch;
uniform vec4 uTurn, uView;

vec3 seen(vec3 at) {
  vec3 b = (at - uMiddle) * uStretch;
  float w = b.x * uTurn.x + b.y * uTurn.y;
  return vec3(uView.xy + vec2(b.x * uTurn.y - b.y * uTurn.x, -(b.z * uTurn.w + w * uTurn.z)) * uView.z, (w * uTurn.w - b.z * uTurn.z) * uView.z);
}
vec3 placeOf(int i) { return vec3(number(uX, i), number(uY, i), number(uZ, i)); }
vec4 inDepth(vec3 v) {
  vec4 at = place(v.xy * uMap.xz + uMap.yw);
  return vec4(at.xy, clamp(v.z / uView.w, -1.0, 1.0), 1.0);
}
bool sound(vec3 v) { return abs(v.x) < 1e9 && abs(v.y) < 1e9; }
`;

const dotVertex = `
uniform float uRadius;
flat out vec4 vFill;
out vec2 vAt;

void main() {
  int i = uBase + gl_VertexID / 4;
  uint fill = whole(uLook, i);
  vec3 v = seen(placeOf(i));
  if (fill == ${none}u || !sound(v)) { gl_Position = nowhere(); return; }
  vFill = look(fill, false);
  vAt = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, (gl_VertexID & 2) == 0 ? -1.0 : 1.0) * (uRadius + 1.0);
  gl_Position = inDepth(vec3(v.xy + vAt, v.z));
}`;

// A ball is a shadowed disc, a lit one a little up and left, and a spot of light.
const dotFragment = `
uniform float uRadius;
uniform int uSteps;
uniform vec4 uDisc[6];
flat in vec4 vFill;
in vec2 vAt;
out vec4 colour;

float disc(vec2 middle, float r) { return clamp((r - length(vAt - middle)) * uScale + 0.5, 0.0, 1.0); }
void main() {
  float cover = disc(vec2(0), uRadius);
  if (cover < 0.1) discard;
  vec3 c = vFill.rgb;
  for (int k = 0; k < uSteps; k++) {
    vec4 d = uDisc[k];
    c = mix(c, d.w > 0.0 ? mix(c, vec3(1), d.w) : vFill.rgb * d.z, disc(vec2(-d.x * uRadius), d.y * uRadius));
  }
  colour = vec4(c, cover);
}`;

const barVertex = `
uniform vec4 uBar;
uniform vec3 uSides;
uniform vec2 uEnds;
uniform int uThin;
flat out vec3 vFill;

void main() {
  int q = uBase + gl_VertexID / 4, i = uThin == 1 ? q : q / 3, side = q - 3 * i;
  uint fill = whole(uLook, i);
  vec3 at = placeOf(i);
  if (fill == ${none}u || !sound(seen(at))) { gl_Position = nowhere(); return; }
  float s = (gl_VertexID & 1) == 0 ? -1.0 : 1.0, t = (gl_VertexID & 2) == 0 ? 0.0 : 1.0;
  float high = uEnds.y > uBar.w ? max((number(uValue, i) - uBar.w) / (uEnds.y - uBar.w), 0.0) * uBar.z : 0.0;
  vec3 c = look(fill, false).rgb;
  if (uThin == 1) {
    vFill = c;
    vec3 v = seen(at + vec3(0, 0, t * high));
    gl_Position = inDepth(vec3(v.x + s * 0.5, v.y - t, v.z));
    return;
  }
  if (side == 0) { at += vec3(uSides.x * uBar.x, s * uBar.y, t * high); c *= 0.6863; }
  else if (side == 1) { at += vec3(s * uBar.x, uSides.y * uBar.y, t * high); c *= 0.851; }
  else at += vec3(s * uBar.x, (2.0 * t - 1.0) * uBar.y, uSides.z * high);
  vFill = c;
  gl_Position = inDepth(seen(at));
}`;

const meshVertex = `
uniform ivec3 uMesh;
uniform float uGap;
flat out vec3 vFill0, vFill1, vFill2, vFill3;
out vec2 vAt;

void main() {
  int q = uBase + gl_VertexID / 4, across = uMesh.x - 1;
  int first = (q / across) * uMesh.x + q % across;
  int corner[4] = int[](first, first + 1, first + uMesh.x, first + uMesh.x + 1);
  gl_Position = nowhere();
  vec3 v[4];
  for (int k = 0; k < 4; k++) {
    if (corner[k] >= uMesh.y || whole(uLook, corner[k]) == ${none}u) return;
    v[k] = seen(placeOf(corner[k]));
    if (!sound(v[k])) return;
  }
  if (uGap > 0.0 && max(max(distance(v[0], v[1]), distance(v[1], v[3])), max(distance(v[3], v[2]), distance(v[2], v[0]))) > uGap) return;
  vec3 n = cross(v[3] - v[0], v[2] - v[1]);
  float size = length(n);
  float light = size > 0.0 ? dot(n, vec3(-0.38, -0.58, -0.72)) / (n.z > 0.0 ? -size : size) : 1.0;
  float shade = light > 0.72 ? 1.0 : light > 0.42 ? 0.851 : 0.6863;
  vFill0 = look(whole(uLook, corner[0]), false).rgb * shade;
  vFill1 = look(whole(uLook, corner[1]), false).rgb * shade;
  vFill2 = look(whole(uLook, corner[2]), false).rgb * shade;
  vFill3 = look(whole(uLook, corner[3]), false).rgb * shade;
  vAt = vec2(gl_VertexID & 1, (gl_VertexID >> 1) & 1);
  gl_Position = inDepth(v[gl_VertexID & 3]);
}`;

// Each corner has the part of a piece next to it in its own colour.
const meshFragment = `
flat in vec3 vFill0, vFill1, vFill2, vFill3;
in vec2 vAt;
out vec4 colour;
void main() {
  vec3 far = vAt.x < 0.5 ? vFill0 : vFill1, near = vAt.x < 0.5 ? vFill2 : vFill3;
  colour = vec4(vAt.y < 0.5 ? far : near, 1);
}`;

const faceFragment = `
flat in vec3 vFill;
out vec4 colour;
void main() { colour = vec4(vFill, 1); }`;

