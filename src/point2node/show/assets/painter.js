// Drawing with WebGL 2: points into a texture with depth, then that texture with edges darkened by depth differences.

const POINT_VERTEX = `#version 300 es
layout(location = 0) in vec3 place;   // 0 to 65535
layout(location = 1) in uvec2 marks;  // label, truth
layout(location = 2) in vec4 look;    // red, green, blue, confidence
layout(location = 3) in float doubt;  // entropy
layout(location = 4) in uint walls;   // bit d: hides the room from a viewer in direction d
layout(location = 5) in uint object;  // its number; 0: none
uniform mat4 matrix;
uniform vec3 extent;
uniform float size, cut;
uniform int mode, truthPane;
uniform uint opened;                  // the bit of the walls that are hidden
uniform uint alone;                   // the only object that is drawn; 0: everything
uniform sampler2D palette;            // a class each; alpha 0: hidden
uniform sampler2D ramp;
uniform vec3 right, wrong, unknown;
out vec3 colour;
void main() {
  vec3 share = place / 65535.0;
  uint mark = truthPane == 1 ? marks.y : marks.x;
  vec4 entry = texelFetch(palette, ivec2(mark, 0), 0);
  gl_Position = matrix * vec4((share - 0.5) * extent, 1.0);
  gl_PointSize = clamp(size / gl_Position.w, 1.0, 24.0);
  bool hidden = entry.a < 0.5 || share.z > cut || (walls & opened) != 0u;
  if (alone == 0u ? hidden : object != alone) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  colour = entry.rgb;
  if (mode == 1) colour = look.rgb;
  if (mode == 2) colour = texture(ramp, vec2(look.a, 0.5)).rgb;
  if (mode == 3) colour = texture(ramp, vec2(doubt, 0.5)).rgb;
  if (mode == 4) colour = marks.y == 255u || marks.x == 255u ? unknown : marks.x == marks.y ? right : wrong;
}`;
const POINT_FRAGMENT = `#version 300 es
precision mediump float;
in vec3 colour;
out vec4 painted;
void main() {
  vec2 off = gl_PointCoord - 0.5;
  if (dot(off, off) > 0.25) discard;
  painted = vec4(colour, 1.0);
}`;
const SHADE_VERTEX = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;
// Eye-dome lighting: a pixel is darker the more its neighbours lie in front of it.
const SHADE_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D colours;
uniform highp sampler2D depths;
uniform vec2 range;                   // near, far
uniform ivec4 pane;                   // x, y, width, height
uniform int reach;
out vec4 painted;
float distanceAt(ivec2 at) {
  float depth = texelFetch(depths, clamp(at, pane.xy, pane.xy + pane.zw - 1), 0).r;
  return depth == 1.0 ? 0.0 : log2(range.x * range.y / (range.y - depth * (range.y - range.x)));
}
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec4 colour = texelFetch(colours, at, 0);
  if (colour.a == 0.0) { painted = vec4(0.0); return; }
  float here = distanceAt(at), shade = 0.0;
  for (int n = 0; n < 8; n++) {
    float angle = 0.7853981634 * float(n);
    float there = distanceAt(at + ivec2(round(float(reach) * vec2(cos(angle), sin(angle)))));
    if (there > 0.0) shade += max(0.0, here - there);
  }
  painted = vec4(colour.rgb * max(0.35, exp(-26.0 * shade / 8.0)), 1.0);
}`;

class Painter {
  constructor(canvas, cloud) {
    this.canvas = canvas;
    this.cloud = cloud;
    const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, premultipliedAlpha: true });
    if (!gl) throw new Error("This browser has no WebGL 2, so the 3-D view cannot be shown; the tables below can.");
    this.gl = gl;
    this.prepare();
  }

  prepare() {
    const gl = this.gl;
    this.points = this.program(POINT_VERTEX, POINT_FRAGMENT);
    this.shade = this.program(SHADE_VERTEX, SHADE_FRAGMENT);
    this.vertices = gl.createVertexArray();
    gl.bindVertexArray(this.vertices);
    const fill = (bytes) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
    };
    fill(this.cloud.places);
    gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, false, 8, 0);
    gl.vertexAttribIPointer(1, 2, gl.UNSIGNED_BYTE, 8, 6);
    fill(this.cloud.looks);
    gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, 8, 0);
    gl.vertexAttribPointer(3, 1, gl.UNSIGNED_BYTE, true, 8, 4);
    gl.vertexAttribIPointer(4, 1, gl.UNSIGNED_BYTE, 8, 5);
    gl.vertexAttribIPointer(5, 1, gl.UNSIGNED_SHORT, 8, 6);
    for (let n = 0; n < 6; n++) gl.enableVertexAttribArray(n);
    this.boxes = new Boxes(this);
    this.empty = gl.createVertexArray();
    this.palette = this.texture(gl.NEAREST);
    this.ramp = this.texture(gl.LINEAR);
    this.colours = this.texture(gl.NEAREST);
    this.depths = this.texture(gl.NEAREST);
    this.frame = gl.createFramebuffer();
    this.width = this.height = 0;
  }

  program(vertex, fragment) {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(`The 3-D view cannot be shown: ${gl.getProgramInfoLog(program)}`);
    }
    return { program, at: (name) => gl.getUniformLocation(program, name) };
  }

  texture(filter) {
    const gl = this.gl;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    return texture;
  }

  // A row of colours, 4 bytes each.
  setRow(texture, bytes) {
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, bytes.length / 4, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  }

  fit() {
    const gl = this.gl;
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight].map((n) => Math.max(1, Math.round(n * scale)));
    this.scale = scale;
    if (width === this.width && height === this.height) return;
    [this.width, this.height] = [this.canvas.width, this.canvas.height] = [width, height];
    gl.bindTexture(gl.TEXTURE_2D, this.colours);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    gl.bindTexture(gl.TEXTURE_2D, this.depths);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, width, height, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.colours, 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depths, 0);
  }

  // Panes: { x, y, width, height } in CSS pixels from the top left, with mode and truth; all share one camera.
  draw(camera, panes, state) {
    const gl = this.gl;
    if (gl.isContextLost()) return;
    this.fit();
    const boxes = panes.map((pane) => this.box(pane));
    const view = camera.view();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.viewport(0, 0, this.width, this.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.SCISSOR_TEST);
    this.drawPoints(view, panes, boxes, state);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.DEPTH_TEST);
    this.drawShade(view, boxes);
    this.boxes.draw(view, panes, boxes, state);
    gl.disable(gl.SCISSOR_TEST);
  }

  box(pane) {
    const [x, y, width, height] = [pane.x, pane.y, pane.width, pane.height].map((n) => Math.round(n * this.scale));
    return [x, this.height - y - height, width, height];
  }

  drawPoints(view, panes, boxes, state) {
    const gl = this.gl;
    const { program, at } = this.points;
    gl.useProgram(program);
    gl.bindVertexArray(this.vertices);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.ramp);
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform1i(at("palette"), 0);
    gl.uniform1i(at("ramp"), 1);
    gl.uniformMatrix4fv(at("matrix"), false, view.matrix);
    gl.uniform3fv(at("extent"), this.cloud.extent);
    gl.uniform1f(at("cut"), state.cut);
    gl.uniform1ui(at("opened"), state.opened());
    gl.uniform1ui(at("alone"), state.alone);
    for (const name of ["right", "wrong", "unknown"]) gl.uniform3fv(at(name), this.cloud.scene[name].map((n) => n / 255));
    panes.forEach((pane, n) => {
      gl.viewport(...boxes[n]);
      gl.scissor(...boxes[n]);
      gl.uniform1i(at("mode"), pane.mode);
      gl.uniform1i(at("truthPane"), pane.truth ? 1 : 0);
      gl.uniform1f(at("size"), state.size * this.cloud.scene.spacing * view.focal * boxes[n][3] / 2);
      gl.drawArrays(gl.POINTS, 0, this.cloud.points);
    });
  }

  drawShade(view, boxes) {
    const gl = this.gl;
    const { program, at } = this.shade;
    gl.useProgram(program);
    gl.bindVertexArray(this.empty);
    gl.bindTexture(gl.TEXTURE_2D, this.colours);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.depths);
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform1i(at("colours"), 0);
    gl.uniform1i(at("depths"), 1);
    gl.uniform2f(at("range"), view.near, view.far);
    gl.uniform1i(at("reach"), Math.max(1, Math.round(this.scale)));
    gl.viewport(0, 0, this.width, this.height);
    for (const box of boxes) {
      gl.scissor(...box);
      gl.uniform4i(at("pane"), ...box);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
  }
}
