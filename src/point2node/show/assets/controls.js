// Mouse, touch and keys on the canvas: they move the camera, and a click or tap picks a point.

function listenToGestures(canvas, viewer) {
  const fingers = new Map();
  let travelled = 0;
  const middle = () => {
    const all = [...fingers.values()];
    const mean = (key) => all.reduce((sum, one) => sum + one[key], 0) / all.length;
    const spread = all.length > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0;
    return { x: mean("x"), y: mean("y"), spread };
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (!fingers.size) travelled = 0;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    canvas.focus({ preventScroll: true });
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = middle();
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const after = middle();
    const [right, down] = [after.x - before.x, after.y - before.y];
    travelled += Math.hypot(right, down) + Math.abs(after.spread - before.spread);
    const height = viewer.paneHeight();
    const pans = fingers.size > 1 || event.shiftKey || event.buttons & 6;
    if (pans) viewer.camera.pan(right / height, down / height);
    else viewer.camera.turn(right * 0.007, down * 0.007);
    if (before.spread && after.spread) viewer.camera.zoom(before.spread / after.spread);
    viewer.redraw();
  });
  const lift = (event) => {
    const clicked = event.type === "pointerup" && fingers.size === 1 && travelled < 6 && event.button === 0;
    fingers.delete(event.pointerId);
    if (clicked) {
      const box = canvas.getBoundingClientRect();
      viewer.pick(event.clientX - box.left, event.clientY - box.top, event.pointerType === "touch" ? 14 : 7);
    }
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    viewer.camera.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY * (event.deltaMode ? 20 : 1))) * 0.0015));
    viewer.redraw();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step && event.shiftKey) viewer.camera.pan(0.05 * step[0], 0.05 * step[1]);
    else if (step) viewer.camera.turn(0.12 * step[0], 0.12 * step[1]);
    else if (event.key === "+" || event.key === "=") viewer.camera.zoom(0.85);
    else if (event.key === "-") viewer.camera.zoom(1 / 0.85);
    else if (event.key === "0") viewer.camera.reset();
    else return;
    event.preventDefault();
    viewer.redraw();
  });
}
