"""Train, score and measure many networks with one recipe; shared by ``beyond`` and ``reference_models``.

The recipe of a task is the same for all networks: that of its preset, with a learning rate of 0.002 and with batches,
warm-up and weight averaging that suit short trainings. Nothing was tuned for these tables; the presets were tuned with
Point2Node (docs/training.md).

Runs are in RUNS/TASK/NETWORK-seedN. The tables are written after every run, and cells without a run say "not trained".
Without ``--modelnet40`` there is no training on shapes, without ``--real`` no scoring on real rooms.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import alternate
from experiments.adapt import describe
from experiments.real_rooms import CLASS_FILE, kind_folders, label_rooms
from experiments.running import score_once, train_once
from point2node.core.memory import keep_freed_memory
from point2node.core.words import WIDTHS
from point2node.data.batches import Batch, Sample, make_batch
from point2node.inference.asking import ask
from point2node.inference.labeller import SceneLabeller
from point2node.report.ablation import judge, seed_differences
from point2node.report.paper_numbers import ABLATION, Claim
from point2node.report.tables import Summary, summarise
from point2node.training.recipe import build_optimiser, loss_and_weight
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import Settings
from point2node.weights.trained import Trained, load_trained

SEEDS = (0, 1, 2)
NOT_TRAINED, NOT_SCORED = "not trained", "not scored"


@dataclass(frozen=True)
class Task:
    """The data, recipe and split that networks are compared on."""

    name: str
    preset: str
    words: tuple[str, ...]
    split: str
    data: Path | None = None
    """None for generated rooms."""


SHORT: tuple[str, ...] = ("learning_rate=0.002", "warmup_steps=60", "ema_decay=0.99")
ROOMS = Task("rooms", "rooms_real", (*SHORT, "rooms=80", "batch_size=4", "validation_scenes=0"), "test")
"""Blocks of 3 m from 64 generated rooms, without colour; scored on eight others, mostly of unseen types and styles."""
SHAPES = Task("modelnet40", "modelnet40_modern", (*SHORT, "batch_size=16", "folds=10", "fold=0"), "val")
"""One fold in ten of the training shapes is held back; the official test split is never used."""


@dataclass(frozen=True)
class Measure:
    """One score of a run, and its heading in the tables."""

    heading: str
    task: str
    scored: str
    score: str


MEASURES = (
    Measure("generated rooms, mIoU", "rooms", "result", "miou"),
    Measure("real rooms, mIoU", "rooms", "real", "miou"),
    Measure("ModelNet40, OA", "modelnet40", "result", "oa"),
)
"""Scores of real rooms are the mean of the scanner kinds."""
KEPT = ("trained_steps", "parameters", "units", "oa", "macc", "miou", "iou")


@dataclass(frozen=True)
class Plan:
    """The settings of one run."""

    task: Task
    network: str
    seed: int
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """The run folder, relative to that of all runs; ``--only`` selects by it."""
        return f"{self.task.name}/{self.network}-seed{self.seed}"


def choose_tasks(modelnet40: Path | None, real: Path | None) -> tuple[Task, ...]:
    """Return the tasks that have data; an invalid folder of real rooms is rejected before anything is trained."""
    if real is not None:
        kind_folders(real, "test")
    for name, given in {"training on ModelNet40": modelnet40, "scores on real rooms": real}.items():
        if given is None:
            print(f"No folder given: no {name}", flush=True)
    return (ROOMS,) if modelnet40 is None else (ROOMS, replace(SHAPES, data=modelnet40))


def carry_out(
    plans: Iterable[Plan], runs: Path, real: Path | None, only: Sequence[str], write: Callable[[], None]
) -> None:
    """Train, score and measure each plan that matches a pattern of ``only``; call ``write`` after each."""
    keep_freed_memory()  # like the command 'train', because step times are measured here
    write()
    for plan in plans:
        if only and not any(fnmatchcase(plan.name, pattern) for pattern in only):
            continue
        words = (*plan.task.words, *plan.words, f"seed={plan.seed}")
        run = train_once(runs / plan.name, plan.task.preset, words, plan.task.data)
        score_once(run, plan.task.split, plan.task.data, "--weights", "last")
        measure_once(run)
        if real is not None and plan.task.name == ROOMS.name and run.last.is_file():
            score_real_once(run, real)
        write()


def score_real_once(run: RunFolder, real: Path) -> None:
    """Score the run on each kind of real rooms and keep the scores, and their mean, in the run folder."""
    file = run.path / "scored-real.json"
    if file.is_file():
        return
    labeller = SceneLabeller(load_trained(run.path, "last"))
    kinds = [label_rooms(labeller, folder, real / CLASS_FILE, "test") for folder in kind_folders(real, "test")]
    run.write_json(file, describe(kinds, [one.name for one in labeller.classes]))


def measure_once(run: RunFolder) -> None:
    """Measure the processor seconds of one thread on random clouds, and keep them in the run folder."""
    file = run.path / "costs.json"
    if file.is_file():
        return
    trained, settings = load_trained(run.path, "last"), run.read_settings()
    summary = json.loads(run.summary.read_text(encoding="utf-8"))
    with one_thread():  # one after the other: a network is in one mode at a time
        cloud = alternate({"cloud": partial(infer, trained)}, clock=time.process_time)["cloud"]
        step = alternate({"step": training_step(trained, settings)}, clock=time.process_time)["step"]
    costs = {
        "macs": trained.network.macs(trained.card.points),
        "training_seconds": step / settings.batch_size,
        "inference_seconds": cloud,
        "peak_megabytes": None if summary["resumed_at"] else summary["peak_megabytes"],  # of the last session only
    }
    run.write_json(file, costs)


def steps_in_equal_time(steps: int, of: RunFolder, as_: RunFolder, file: Path) -> int | None:
    """Return how many steps of ``of`` take as long as ``steps`` of ``as_``; None until both are trained.

    Their steps are timed alternately. This is done once and saved in ``file``, so runs of all seeds are equally long.
    """
    if not file.is_file():
        if not (of.finished and as_.finished):
            return None
        forms = {run.name: training_step(load_trained(run.path, "last"), run.read_settings()) for run in (of, as_)}
        with one_thread():
            seconds = alternate(forms, clock=time.process_time)
        if not file.is_file():  # another process may have measured it meanwhile
            of.write_json(file, {"seconds": seconds, "steps": round(steps * seconds[as_.name] / seconds[of.name])})
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    equal: int = content["steps"]
    return equal


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread for torch and the kernels: other work on the machine then hardly affects processor time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def infer(trained: Trained) -> None:
    """Label one cloud, including its geometry."""
    ask(trained.network, random_batch(trained, 1))


def training_step(trained: Trained, settings: Settings) -> Callable[[], None]:
    """Return a function that does a training step on a whole batch, including its geometry."""
    network = trained.network.train()
    optimiser = build_optimiser(settings, network)

    def step() -> None:
        batch = random_batch(trained, settings.batch_size)
        total, weight = loss_and_weight(network(batch.features, batch.pyramid), batch.labels, None, 0.0)
        penalty = network.penalty()
        (total / weight + (0.0 if penalty is None else penalty)).backward()  # type: ignore[no-untyped-call, unused-ignore]
        optimiser.step()
        optimiser.zero_grad()

    return step


def random_batch(trained: Trained, clouds: int) -> Batch:
    """Return clouds with as many points and features as the network was trained on."""
    card = trained.card
    random = np.random.default_rng(0)
    labels = np.zeros(() if card.task == "classification" else card.points, np.int64)
    channels = sum(WIDTHS[name] for name in card.features)

    def sample() -> Sample:
        features = random.random((card.points, channels), np.float32) if channels else None
        return Sample(random.random((card.points, 3), np.float32), features, labels, "random")

    return make_batch([sample() for _ in range(clouds)], trained.network.plan, seed=0)


@dataclass(frozen=True)
class Outcome:
    """The results of a run: scores of the split, of real rooms if there are any, and costs."""

    network: str
    seed: int
    content: Mapping[str, Any]

    def score(self, measure: Measure) -> float | None:
        """Return a score in per cent, or None if it was not measured."""
        scored = self.content[measure.scored]
        return None if scored is None else 100 * scored[measure.score]


Outcomes = Mapping[str, Sequence[Outcome]]
"""Outcomes by task."""


def read_outcomes(runs: Path, networks: Sequence[str]) -> dict[str, list[Outcome]]:
    """Read the runs of the networks that are finished and scored."""
    return {
        task.name: [
            Outcome(network, seed, found)
            for network in networks
            for seed in SEEDS
            if (found := _read_run(runs / task.name / f"{network}-seed{seed}", task)) is not None
        ]
        for task in (ROOMS, SHAPES)
    }


def _read_run(path: Path, task: Task) -> dict[str, Any] | None:
    files = {"result": f"scored-{task.split}-weights-last", "costs": "costs", "real": "scored-real"}
    found = {key: _read(path / f"{file}.json") for key, file in files.items()}
    if found["result"] is None or found["costs"] is None:
        return None
    result = {key: found["result"][key] for key in KEPT if key in found["result"]}
    real = None if found["real"] is None else {**found["real"]["mean"], "kinds": found["real"]["kinds"]}
    return {"run": f"{task.name}/{path.name}", "result": result, "real": real, "costs": found["costs"]}


def _read(file: Path) -> dict[str, Any] | None:
    if not file.is_file():
        return None
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content


def scores_of(outcomes: Outcomes, measure: Measure) -> dict[str, dict[int | None, float]]:
    """Return a score of every network, by seed."""
    scores: dict[str, dict[int | None, float]] = {}
    for one in outcomes[measure.task]:
        score = one.score(measure)
        if score is not None:
            scores.setdefault(one.network, {})[one.seed] = score
    return scores


def score_cell(outcomes: Outcomes, measure: Measure, network: str) -> str:
    """Return mean ± sample standard deviation, with the number of seeds if some are missing."""
    if not any(one.network == network for one in outcomes[measure.task]):
        return NOT_TRAINED
    summary = summarise(list(scores_of(outcomes, measure).get(network, {}).values()))
    return NOT_SCORED if summary is None else summary.words() + _seeds(summary)


def _seeds(summary: Summary) -> str:
    count = summary.count or 0
    return "" if count == len(SEEDS) else f" ({count} seed{'s' * (count > 1)})"


def claim_cell(outcomes: Outcomes, measure: Measure, claim: Claim) -> str:
    """Return the verdict, the mean difference with its spread over the seeds, and how many seeds are in favour."""
    differences = seed_differences(claim, scores_of(outcomes, measure))
    summary = summarise(list(differences.values()))
    if summary is None:
        return NOT_TRAINED
    in_favour = sum(one > 0 for one in differences.values())
    return f"{judge(in_favour, len(differences))}: {summary.words('+')}, {in_favour} of {len(differences)}"


def claim_rows(outcomes: Outcomes, claims: Sequence[Claim]) -> list[tuple[str, ...]]:
    """Return each claim with its verdict by every measure, and the paper's difference if it prints all rows."""
    printed = {row.variant: row.miou for row in ABLATION}
    rows = []
    for claim in claims:
        paper = ""
        if printed.keys() >= {*claim.more, *claim.less}:
            gain = sum(printed[name] for name in claim.more) - sum(printed[name] for name in claim.less)
            paper = Summary(gain).words("+")
        rows.append((claim.words, *(claim_cell(outcomes, measure, claim) for measure in MEASURES), paper))
    return rows


def as_figures(outcomes: Outcomes) -> list[Mapping[str, Any]]:
    """Return everything that the tables are made from."""
    return [one.content for found in outcomes.values() for one in found]
