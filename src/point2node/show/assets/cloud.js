// The points: unpacked from the page's text into the bytes for the graphics card, and picked by clicks.

const NO_LABEL = 255;

async function unpackCloud(scene, text) {
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let n = 0; n < letters.length; n++) packed[n] = letters.charCodeAt(n);
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(inflated).arrayBuffer());
  if (bytes.length !== scene.points * scene.columns.length) throw new Error("the points of this page are incomplete");
  const column = (name) => {
    const place = scene.columns.indexOf(name);
    return place < 0 ? null : bytes.subarray(place * scene.points, (place + 1) * scene.points);
  };
  return new Cloud(scene, column);
}

class Cloud {
  constructor(scene, column) {
    this.scene = scene;
    this.points = scene.points;
    this.extent = scene.step.map((step) => step * 65535);
    // two records of 8 bytes for each point: x y z (16 bits each) and label, truth; red green blue, confidence, entropy,
    // walls, object (16 bits)
    this.places = new Uint8Array(8 * this.points);
    this.looks = new Uint8Array(8 * this.points);
    const fill = (record, offset, name, missing) => {
      const values = column(name);
      for (let n = 0; n < this.points; n++) record[8 * n + offset] = values ? values[n] : missing;
    };
    ["x low", "x high", "y low", "y high", "z low", "z high"].forEach((name, n) => fill(this.places, n, name, 0));
    fill(this.places, 6, "label", NO_LABEL);
    fill(this.places, 7, "truth", NO_LABEL);
    ["red", "green", "blue", "confidence", "entropy"].forEach((name, n) => fill(this.looks, n, name, 128));
    fill(this.looks, 5, "walls", 0);
    fill(this.looks, 6, "object low", 0);
    fill(this.looks, 7, "object high", 0);
    this.has = { walls: !!column("walls"), rgb: !!column("red"), truth: !!column("truth") };
    for (const name of ["confidence", "entropy"]) this.has[name] = !!column(name);
  }

  // One coordinate relative to the middle of the scene, as the camera uses it.
  position(n, axis) {
    const byte = 8 * n + 2 * axis;
    return this.scene.step[axis] * (this.places[byte] + 256 * this.places[byte + 1] - 32767.5);
  }

  // Coordinates as in the file, except for rounding.
  coordinates(n) {
    return [0, 1, 2].map((axis) => this.position(n, axis) + this.scene.lower[axis] + this.extent[axis] / 2);
  }

  // From 0 at the bottom of the scene to 1 at its top.
  height(n) { return (this.places[8 * n + 4] + 256 * this.places[8 * n + 5]) / 65535; }
  label(n) { return this.places[8 * n + 6]; }
  truth(n) { return this.places[8 * n + 7]; }
  // The number of the object that a point belongs to, from 1; 0 for none.
  object(n) { return this.looks[8 * n + 6] + 256 * this.looks[8 * n + 7]; }
  walls(n) { return this.looks[8 * n + 5]; }
  share(n, name) { return this.looks[8 * n + (name === "confidence" ? 3 : 4)] / 255; }

  // The position of a point in pixels of a pane from its top left, and its depth; null behind the viewer.
  project(n, m, width, height) {
    const x = this.position(n, 0), y = this.position(n, 1), z = this.position(n, 2);
    const depth = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (depth <= 0) return null;
    const across = (m[0] * x + m[4] * y + m[8] * z + m[12]) / depth;
    const up = (m[1] * x + m[5] * y + m[9] * z + m[13]) / depth;
    return { x: (across + 1) * width / 2, y: (1 - up) * height / 2, depth };
  }

  // The point that a click at (x, y) hits: the nearest to it among the foremost; -1 for none.
  pick(camera, x, y, width, height, reach, isShown) {
    const { matrix } = camera.view();
    const hits = [];
    let foremost = Infinity;
    for (let n = 0; n < this.points; n++) {
      const seen = this.project(n, matrix, width, height);
      if (!seen || Math.abs(seen.x - x) > reach || Math.abs(seen.y - y) > reach || !isShown(n)) continue;
      hits.push({ n, away: Math.hypot(seen.x - x, seen.y - y), depth: seen.depth });
      foremost = Math.min(foremost, seen.depth);
    }
    const front = hits.filter((hit) => hit.depth < foremost + 0.02 * camera.radius);
    return front.reduce((best, hit) => (hit.away < best.away ? hit : best), { n: -1, away: Infinity }).n;
  }
}
