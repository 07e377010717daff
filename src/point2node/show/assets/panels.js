// The panels around the canvas: choices, legend, objects, the picked point. Names only ever become text nodes.

const byId = (id) => document.getElementById(id);

function make(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function swatch(colour) {
  const made = make("span", "", { class: "swatch" });
  made.style.setProperty("--colour", `rgb(${colour.join(" ")})`);
  return made;
}

// A button for each name, one of which is chosen; `choose` is called with it. Returns a function that chooses a name.
function makeChoice(id, names, choose, labels = {}) {
  const buttons = names.map((name) => make("button", labels[name] || name, { type: "button", role: "radio", "data-name": name }));
  const select = (place, focus) => {
    buttons.forEach((button, n) => {
      button.setAttribute("aria-checked", n === place);
      button.tabIndex = n === place ? 0 : -1;
    });
    if (focus) buttons[place].focus();
    choose(names[place]);
  };
  buttons.forEach((button, n) => {
    button.addEventListener("click", () => select(n, false));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) select((n + step + buttons.length) % buttons.length, true);
    });
  });
  byId(id).replaceChildren(...buttons);
  byId(id).hidden = names.length < 2;
  select(0, false);
  return (name) => select(names.indexOf(name), false);
}

// A row for each class that occurs; `shown` is the set of visible marks, and `changed` is called when it changes.
function makeLegend(entries, shown, changed) {
  const buttons = new Map();
  const update = () => {
    for (const [mark, button] of buttons) button.setAttribute("aria-pressed", shown.has(mark));
    changed();
  };
  const only = (mark) => {
    shown.clear();
    shown.add(mark);
    update();
  };
  const rows = entries.map((entry) => {
    const row = make("div", "", { class: "entry" });
    const toggle = make("button", "", { type: "button", title: "Hide or show; double click: only this class" });
    toggle.append(swatch(entry.colour), make("span", entry.name), make("span", entry.count.toLocaleString("en")));
    toggle.addEventListener("click", () => {
      if (!shown.delete(entry.mark)) shown.add(entry.mark);
      update();
    });
    toggle.addEventListener("dblclick", () => only(entry.mark));
    const alone = make("button", "only", { type: "button", class: "only", "aria-label": `Show only ${entry.name}` });
    alone.addEventListener("click", () => only(entry.mark));
    buttons.set(entry.mark, toggle);
    row.append(toggle, alone);
    return row;
  });
  const all = make("button", "show all", { type: "button", class: "all" });
  all.addEventListener("click", () => {
    for (const entry of entries) shown.add(entry.mark);
    update();
  });
  byId("legend").replaceChildren(...rows, all);
  update();
}

const inMetres = (size) => size.map((side) => side.toFixed(2)).join(" × ") + " m";

// A row for each object; `choose` is called with its number, from 1, or 0 for all. Returns a function that marks one.
function makeObjects(scene, choose) {
  const all = make("button", "show the whole room", { type: "button", class: "all" });
  all.addEventListener("click", () => choose(0));
  const rows = scene.objects.map((one, n) => {
    const row = make("button", "", { type: "button", class: "object", "aria-pressed": "false" });
    const sure = one.confidence === null ? "" : `${Math.round(100 * one.confidence)} %`;
    row.append(swatch(scene.classes[one.mark].colour), make("span", one.name), make("span", sure, { title: "confidence" }),
      make("small", inMetres(one.size)));
    row.addEventListener("click", () => choose(row.getAttribute("aria-pressed") === "true" ? 0 : n + 1));
    return row;
  });
  byId("objects").replaceChildren(all, ...rows);
  return (number) => {
    all.disabled = !number;
    rows.forEach((row, n) => row.setAttribute("aria-pressed", n + 1 === number));
    const list = byId("objects"), row = rows[number - 1];
    if (row && (row.offsetTop < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight)) {
      list.scrollTop = row.offsetTop - list.clientHeight / 3; // within the list only: the page stays where it is
    }
  };
}

function showPicked(lines) {
  const panel = byId("picked");
  panel.hidden = !lines;
  if (!lines) return;
  panel.replaceChildren(...lines.map(([name, value, colour]) => {
    const line = make("div", "");
    line.append(make("i", name));
    if (colour) line.append(swatch(colour), " ");
    line.append(value);
    return line;
  }));
}

// Interpolated colours of a ramp, as bytes with alpha.
function rampBytes(stops, length) {
  const bytes = new Uint8Array(4 * length);
  for (let n = 0; n < length; n++) {
    const place = (n / (length - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    for (let c = 0; c < 3; c++) bytes[4 * n + c] = stops[low][c] + (place - low) * (stops[low + 1][c] - stops[low][c]);
    bytes[4 * n + 3] = 255;
  }
  return bytes;
}

function showRamp(bytes, mode) {
  const panel = byId("ramp");
  panel.hidden = !bytes;
  if (!bytes) return;
  const [low, high] = panel.querySelectorAll("span");
  [low.textContent, high.textContent] = mode === "confidence" ? ["doubtful 0", "1 sure"] : ["sure 0", "1 doubtful"];
  const strip = panel.querySelector("canvas").getContext("2d");
  strip.putImageData(new ImageData(new Uint8ClampedArray(bytes), bytes.length / 4, 1), 0, 0);
}

// Cells of the confusion matrix show their numbers as text when they are hovered over, focused or tapped.
function listenToMatrix() {
  const table = document.querySelector(".matrix");
  if (!table) return;
  const tell = (event) => {
    const cell = event.target.closest("td");
    if (cell) byId("told-cell").textContent = cell.title;
  };
  for (const kind of ["mouseover", "focusin", "click"]) table.addEventListener(kind, tell);
}
