// The viewer: one camera for all panes, the state of the controls, and a redraw whenever one of them changes.

const MODES = { class: 0, rgb: 1, confidence: 2, entropy: 3, error: 4 };

class Viewer {
  constructor(scene, cloud) {
    this.scene = scene;
    this.cloud = cloud;
    this.canvas = byId("canvas");
    this.camera = new Camera(cloud.extent, scene.cut);
    this.painter = new Painter(this.canvas, cloud);
    this.frames = 0;
    this.picked = -1;
    this.mode = "class";
    this.size = 1.5;
    this.cut = 1;
    this.alone = 0;
    this.shown = new Set([...scene.classes.keys(), NO_LABEL]);
    this.canvas.parentElement.classList.toggle("two", cloud.has.truth);
    this.fill();
    listenToGestures(this.canvas, this);
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.painter.prepare();
      this.updatePalette();
      this.setMode(this.mode);
    });
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
  }

  fill() {
    const { scene, cloud } = this;
    makeChoice("modes", Object.keys(MODES).filter((mode) => mode === "class" || cloud.has[mode === "error" ? "truth" : mode]),
      (mode) => this.setMode(mode));
    this.show = makeChoice("views", byId("plan") ? ["3-D view", "plan"] : ["3-D view"], (view) => this.setView(view));
    this.mark = makeObjects(scene, (number) => this.isolate(number));
    const counted = { objects: `objects (${scene.objects.length})` };
    this.list = makeChoice("lists", scene.objects.length ? ["classes", "objects"] : ["classes"], (list) => this.setList(list), counted);
    const entries = scene.classes.map((one, mark) => ({ ...one, mark })).filter((one) => one.count || one.true);
    if (scene.unlabelled) entries.push({ name: "no label", colour: scene.unknown, count: scene.unlabelled, mark: NO_LABEL });
    makeLegend(entries, this.shown, () => this.updatePalette());
    const cut = byId("cut");
    const height = cloud.extent[2];
    byId("cut-control").hidden = !height;
    cut.value = Math.round(1000 * scene.cut);
    const setCut = () => {
      this.cut = cut.value / 1000;
      byId("cut-value").textContent = this.cut < 1 ? (scene.lower[2] + this.cut * height).toFixed(2) + scene.unit : "off";
      if (this.cut === 1) this.cut = 2;
      this.redraw();
    };
    cut.addEventListener("input", setCut);
    setCut();
    byId("walls-control").hidden = !cloud.has.walls;
    byId("walls").addEventListener("change", () => this.redraw());
    byId("size").addEventListener("input", (event) => {
      this.size = Number(event.target.value);
      this.redraw();
    });
    const move = (id, action) => byId(id).addEventListener("click", () => {
      action();
      this.redraw();
    });
    move("nearer", () => this.camera.zoom(0.8));
    move("farther", () => this.camera.zoom(1 / 0.8));
    move("above", () => this.camera.fromAbove());
    move("reset", () => this.camera.reset());
  }

  setView(view) {
    const plan = byId("plan");
    if (!plan) return;
    plan.hidden = view !== "plan";
    for (const part of [this.canvas.parentElement, ...document.querySelectorAll(".toolbar > :not(#views)")]) {
      part.classList.toggle("away", !plan.hidden);
    }
    this.redraw();
  }

  setList(list) {
    byId("objects").hidden = list !== "objects";
    byId("legend").hidden = list === "objects";
    this.isolate(0);
  }

  // Draw only one object, close up; 0: everything.
  isolate(number) {
    if (number) this.show("3-D view");
    if (number !== this.alone) this.camera.frame(number ? this.frameOf(this.scene.objects[number - 1]) : undefined);
    this.alone = number;
    this.picked = -1;
    this.mark(number);
    showPicked(number ? this.describeObject(number) : null);
    if (number) this.canvas.scrollIntoView({ block: "nearest" }); // on a phone the list is below the picture
    this.redraw();
  }

  // The middle of an object relative to that of the scene, and half its extent.
  frameOf(object) {
    const { lower } = this.scene, { extent } = this.cloud;
    const range = [0, 1, 2].map((axis) => {
      const places = object.corners.map((corner) => corner[axis] - lower[axis] - extent[axis] / 2);
      return [Math.min(...places), Math.max(...places)];
    });
    return [range.map(([low, high]) => (low + high) / 2), range.map(([low, high]) => 0.65 * (high - low))];
  }

  // Boxes are drawn while the list of objects is open.
  showsBox(object) {
    if (byId("objects").hidden) return false;
    return this.alone ? this.alone === object.n + 1 : this.shown.has(object.mark);
  }

  setMode(mode) {
    this.mode = mode;
    const stops = this.scene.ramps[mode];
    const bytes = stops ? rampBytes(stops, 128) : null;
    if (bytes) this.painter.setRow(this.painter.ramp, bytes);
    showRamp(bytes, mode);
    const first = byId("pane-0");
    if (mode === "error") first.replaceChildren(swatch(this.scene.wrong), " wrong ", swatch(this.scene.right), " right");
    else first.textContent = { class: "prediction", rgb: "colour of the scan" }[mode] || mode;
    byId("pane-1").textContent = "truth";
    this.redraw();
  }

  updatePalette() {
    const bytes = new Uint8Array(4 * 256);
    const set = (mark, colour) => bytes.set([...colour, this.shown.has(mark) ? 255 : 0], 4 * mark);
    this.scene.classes.forEach((one, mark) => set(mark, one.colour));
    set(NO_LABEL, this.scene.unknown);
    this.painter.setRow(this.painter.palette, bytes);
    this.redraw();
  }

  // One pane, or two next to or below each other, whichever shows the scene larger.
  panes() {
    const [width, height] = [this.canvas.clientWidth, Math.max(1, this.canvas.clientHeight)];
    const whole = { x: 0, y: 0, width, height, mode: MODES[this.mode], truth: false };
    if (!this.cloud.has.truth) return [whole];
    const beside = { ...whole, width: width / 2 };
    const below = { ...whole, height: height / 2 };
    const seen = (pane) => pane.height / this.camera.distance(pane.width / pane.height);
    const first = seen(beside) >= seen(below) ? beside : below;
    const [x, y] = first === beside ? [width / 2, 0] : [0, height / 2];
    return [first, { ...first, x, y, mode: MODES.class, truth: true }];
  }

  paneHeight() {
    return this.panes()[0].height;
  }

  // The bit of the walls between the viewer and the room.
  opened() {
    return this.cloud.has.walls && byId("walls").checked ? 1 << this.camera.octant() : 0;
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (!this.canvas.clientWidth) return; // hidden by the plan
      const panes = this.panes();
      this.camera.aspect = panes[0].width / panes[0].height;
      this.painter.draw(this.camera, panes, this);
      this.placeOverlays(panes);
      this.frames += 1;
    });
  }

  placeOverlays(panes) {
    const second = panes[1];
    for (const id of ["pane-1", "divider"]) byId(id).hidden = !second;
    if (second) {
      Object.assign(byId("pane-1").style, { left: `calc(${second.x}px + .6rem)`, top: `calc(${second.y}px + .6rem)` });
      Object.assign(byId("divider").style, { left: `${second.x}px`, top: `${second.y}px` });
    }
    const { matrix } = this.camera.view();
    document.querySelectorAll(".marker").forEach((marker, place) => {
      const pane = panes[place];
      const seen = pane && this.picked >= 0 && this.cloud.project(this.picked, matrix, pane.width, pane.height);
      marker.hidden = !seen || seen.x < 0 || seen.y < 0 || seen.x > pane.width || seen.y > pane.height;
      if (!marker.hidden) Object.assign(marker.style, { left: `${pane.x + seen.x}px`, top: `${pane.y + seen.y}px` });
    });
  }

  pick(x, y, reach) {
    const pane = this.panes().find((one) => x >= one.x && y >= one.y && x < one.x + one.width && y < one.y + one.height);
    if (!pane) return -1;
    const { cloud, shown, cut } = this;
    const opened = this.opened();
    const isShown = (n) => this.alone ? cloud.object(n) === this.alone :
      shown.has(pane.truth ? cloud.truth(n) : cloud.label(n)) && !(cloud.walls(n) & opened) && cloud.height(n) <= cut;
    this.picked = cloud.pick(this.camera, x - pane.x, y - pane.y, pane.width, pane.height, reach, isShown);
    if (!byId("objects").hidden && (this.picked < 0 || (!this.alone && cloud.object(this.picked)))) {
      const picked = this.picked; // nothing was hit: back to the whole room
      this.isolate(picked < 0 ? 0 : cloud.object(picked));
      return picked;
    }
    showPicked(this.picked < 0 ? null : this.describe(this.picked));
    this.redraw();
    return this.picked;
  }

  describeObject(number) {
    const { name, mark, size, confidence, points } = this.scene.objects[number - 1];
    const lines = [["object", name, this.scene.classes[mark].colour], ["size", inMetres(size)]];
    if (confidence !== null) lines.push(["confidence", confidence.toFixed(2)]);
    lines.push(["points", points.toLocaleString("en")]);
    return lines;
  }

  describe(n) {
    const { cloud, scene } = this;
    const named = (mark) => (mark === NO_LABEL ? ["none", scene.unknown] : [scene.classes[mark].name, scene.classes[mark].colour]);
    const lines = [["class", ...named(cloud.label(n))]];
    if (cloud.has.truth) lines.push(["truth", ...named(cloud.truth(n))]);
    if (cloud.object(n)) lines.push(["object", scene.objects[cloud.object(n) - 1].name]);
    for (const name of ["confidence", "entropy"]) {
      if (cloud.has[name]) lines.push([name, cloud.share(n, name).toFixed(2)]);
    }
    lines.push(["x, y, z", cloud.coordinates(n).map((value) => value.toFixed(scene.decimals)).join(", ") + scene.unit]);
    return lines;
  }
}

async function start() {
  const message = byId("message");
  window.point2node = { ready: false };
  try {
    listenToMatrix();
    const scene = JSON.parse(byId("scene").textContent);
    if (!("DecompressionStream" in window)) {
      throw new Error("This browser cannot unpack the points (no DecompressionStream); the tables below can be read.");
    }
    const cloud = await unpackCloud(scene, byId("points").textContent);
    const viewer = new Viewer(scene, cloud);
    message.hidden = true;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      viewer.painter.gl.finish();
      Object.assign(window.point2node, { ready: true, viewer });
    }));
  } catch (error) {
    byId("viewer").classList.add("failed");
    message.textContent = error.message;
    window.point2node.failed = error.message;
  }
}

start();
