// The camera: it looks at a target from a direction and a distance; z is up. Matrices are column by column.

class Camera {
  static FIELD = 0.7; // radians from the bottom to the top of a pane

  // The scene fills a box of this extent; the top may be cut off at a share of its height.
  constructor(extent, cut) {
    this.radius = Math.max(Math.hypot(...extent) / 2, 1e-6);
    this.box = [extent[0] / 2, extent[1] / 2, (extent[2] / 2) * Math.min(1, cut)];
    this.middle = [0, 0, this.box[2] - extent[2] / 2];
    this.whole = [this.middle, this.box];
    this.deep = extent[1] > extent[0];
    this.aspect = 1; // of a pane: width to height
    this.reset();
  }

  reset() {
    this.look(this.deep ? -1.05 : -0.5, 0.95); // from above a corner, with the longer side across
  }

  fromAbove() {
    this.look(this.deep ? -Math.PI / 2 : 0, Math.PI / 2);
  }

  look(yaw, pitch) {
    [this.yaw, this.pitch, this.zoomed, this.target] = [yaw, pitch, 1, [...this.middle]];
    this.first = this.axes();
  }

  // Look at a part of the scene, given by its middle and half its extent, or at the whole, in the same direction.
  frame([middle, half] = this.whole) {
    [this.middle, this.box] = [middle, half];
    this.look(this.yaw, this.pitch);
  }

  turn(right, down) {
    this.yaw -= right;
    this.pitch = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, this.pitch + down));
  }

  zoom(factor) {
    this.zoomed = Math.min(20, Math.max(0.02, this.zoomed * factor));
  }

  // Move the target by shares of the pane's height.
  pan(right, down) {
    const { across, up } = this.axes();
    const seen = 2 * this.distance() * Math.tan(Camera.FIELD / 2);
    for (let axis = 0; axis < 3; axis++) this.target[axis] += seen * (down * up[axis] - right * across[axis]);
  }

  // The distance at which the whole box fits in the initial direction, times the zoom factor.
  distance(aspect = this.aspect) {
    const { across, up, back } = this.first;
    const half = Math.tan(Camera.FIELD / 2);
    let fitting = 1e-6;
    for (let corner = 0; corner < 8; corner++) {
      const place = this.box.map((side, axis) => (corner >> axis & 1 ? side : -side));
      const along = (axis) => axis.reduce((sum, value, n) => sum + value * place[n], 0);
      const reach = Math.max(Math.abs(along(across)) / (half * aspect), Math.abs(along(up)) / half);
      fitting = Math.max(fitting, along(back) + 1.06 * reach);
    }
    return this.zoomed * fitting;
  }

  // The nearest of eight directions from which the scene is seen.
  octant() {
    const { back } = this.axes();
    return Math.round((4 * Math.atan2(back[1], back[0])) / Math.PI + 8) % 8;
  }

  axes() {
    const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
    return { across: [cy, sy, 0], up: [-sy * sp, cy * sp, cp], back: [sy * cp, -cy * cp, sp] };
  }

  // From the scene's coordinates to clip coordinates, with the nearest and farthest depth.
  view() {
    const { across, up, back } = this.axes();
    const distance = this.distance();
    const near = Math.max(distance - 2 * this.radius, 0.01 * this.radius);
    const far = distance + 4 * this.radius;
    const focal = 1 / Math.tan(Camera.FIELD / 2);
    const [a, b] = [-(far + near) / (far - near), (-2 * far * near) / (far - near)];
    const along = (axis) => axis.reduce((sum, value, n) => sum + value * this.target[n], 0);
    const matrix = new Float32Array(16);
    for (let n = 0; n < 3; n++) {
      matrix.set([(focal / this.aspect) * across[n], focal * up[n], a * back[n], -back[n]], 4 * n);
    }
    const depth = along(back) + distance;
    matrix.set([(-focal / this.aspect) * along(across), -focal * along(up), -a * depth + b, depth], 12);
    return { matrix, near, far, focal };
  }
}
