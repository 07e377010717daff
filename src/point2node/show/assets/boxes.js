// The boxes of objects as lines over the picture; parts behind points are faint. WebGL's own lines are one pixel wide, so
// every edge is a rectangle that faces the viewer.

const LINE_VERTEX = `#version 300 es
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in vec2 corner;  // 0 or 1 along the edge, -1 or 1 to a side
uniform mat4 matrix;
uniform vec2 pane;                    // pixels
uniform float width;
void main() {
  vec4 a = matrix * vec4(from, 1.0), b = matrix * vec4(to, 1.0);
  vec4 here = corner.x < 0.5 ? a : b;
  vec2 along = (b.xy / b.w - a.xy / a.w) * pane;
  vec2 aside = length(along) > 0.0 ? normalize(vec2(-along.y, along.x)) : vec2(0.0, 1.0);
  gl_Position = here + vec4(corner.y * width * aside / pane * here.w, 0.0, 0.0);
  if (min(a.w, b.w) <= 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;
const LINE_FRAGMENT = `#version 300 es
precision highp float;
uniform highp sampler2D depths;
uniform vec2 range;                   // near, far
uniform vec4 colour;
out vec4 painted;
void main() {
  float depth = texelFetch(depths, ivec2(gl_FragCoord.xy), 0).r;
  float there = range.x * range.y / (range.y - depth * (range.y - range.x));
  float seen = 1.0 / gl_FragCoord.w < 1.015 * there ? colour.a : 0.25 * colour.a;
  painted = vec4(colour.rgb * seen, seen);
}`;
const EDGES = [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]];
const RECTANGLE = [[0, -1], [0, 1], [1, 1], [0, -1], [1, 1], [1, -1]];
const VERTICES = EDGES.length * RECTANGLE.length; // of a box

class Boxes {
  constructor(painter) {
    this.painter = painter;
    const { gl, cloud } = painter;
    const { objects, lower } = cloud.scene;
    this.lines = painter.program(LINE_VERTEX, LINE_FRAGMENT);
    this.vertices = gl.createVertexArray();
    gl.bindVertexArray(this.vertices);
    const numbers = objects.flatMap((one) => {
      const corners = one.corners.map((corner) => corner.map((value, axis) => value - lower[axis] - cloud.extent[axis] / 2));
      return EDGES.flatMap(([a, b]) => RECTANGLE.flatMap((place) => [...corners[a], ...corners[b], ...place]));
    });
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
    [[3, 0], [3, 12], [2, 24]].forEach(([size, offset], place) => {
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 32, offset);
      gl.enableVertexAttribArray(place);
    });
  }

  draw(view, panes, boxes, state) {
    const { gl, cloud, scale, depths } = this.painter;
    const { program, at } = this.lines;
    const drawn = cloud.scene.objects.map((one, n) => ({ ...one, n })).filter((one) => state.showsBox(one));
    if (!drawn.length) return;
    gl.useProgram(program);
    gl.bindVertexArray(this.vertices);
    gl.bindTexture(gl.TEXTURE_2D, depths);
    gl.uniform1i(at("depths"), 0);
    gl.uniform2f(at("range"), view.near, view.far);
    gl.uniformMatrix4fv(at("matrix"), false, view.matrix);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    boxes.forEach((box) => {
      gl.viewport(...box);
      gl.scissor(...box);
      gl.uniform2f(at("pane"), box[2], box[3]);
      for (const one of drawn) {
        const colour = cloud.scene.classes[one.mark].colour.map((value) => value / 255);
        for (const [width, line] of [[4, [0.1, 0.12, 0.15, 0.75]], [2, [...colour, 1]]]) {
          gl.uniform1f(at("width"), width * scale);
          gl.uniform4f(at("colour"), ...line);
          gl.drawArrays(gl.TRIANGLES, VERTICES * one.n, VERTICES);
        }
      }
    });
    gl.disable(gl.BLEND);
  }
}
