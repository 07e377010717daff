"""Run folders and evaluations as the engine writes them, with made-up scores."""

import json

from point2node.weights.settings import load_preset

CLASSES = ("floor", "wall", "chair")
PROTOCOL = {
    "task": "segmentation",
    "dataset": "rooms",
    "split": "test",
    "selection": "fedcba987654",
    "data": "0123456789abcdef",
    "sampling": None,
    "input": "xyz + rgb",
    "voxel": None,
    "points": 2048,
    "votes": 1,
    "rule": "max_confidence",
    "ignored": [],
    "unit": "point",
    "offsets": [0.0, 0.75],
    "block_side": 1.5,
    "block_grid": 0.03,
    "block_points": 8192,
}


def evaluation(miou=0.6, *, variant="point2node", model="point2node", seed=0, protocol=None, iou=None, **more):
    iou = iou or dict.fromkeys(CLASSES, miou)
    file = {
        "format": 1,
        "run": f"{variant or model}_{seed}",
        "preset": "rooms",
        "model": model,
        "variant": variant,
        "seed": seed,
        "weights": "best",
        "scenes": 12,
        "units": 123456,
        "oa": 0.9,
        "macc": 0.8,
        "miou": miou,
        "iou": iou,
        "accuracy": iou,
        "confusion": [[1]],
        "protocol": PROTOCOL | (protocol or {}),
    }
    return file | more


def write_evaluation(path, *arguments, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(evaluation(*arguments, **options)))
    return path


def write_run(folder, *scores, variant="point2node", model="point2node", seed=0, steps=2000, settings=(), **options):
    """A run folder with one evaluation for each score."""
    folder.mkdir(parents=True)
    card = {"format": 1, "point2node": "0.1", "preset": "rooms", "model": model, "variant": variant, "seed": seed}
    card |= {"task": "segmentation", "dataset": "rooms", "parameters": 741234, "classes": [], "further": "keys"}
    (folder / "run.json").write_text(json.dumps(card))
    chosen = load_preset("rooms", (f"seed={seed}", f"variant={variant or 'null'}", *settings))
    (folder / "settings.yaml").write_text(chosen.dump())
    if steps is not None:
        (folder / "summary.json").write_text(json.dumps({"steps": steps, "seconds": 1.5, "best_step": 7}))
    for number, score in enumerate(scores):
        file = folder / "evaluations" / f"{number}.json"
        write_evaluation(file, score, variant=variant, model=model, seed=seed, **options)
    return folder
