"""Every setting of a run: one flat, complete list of keys, the same in a preset, in a run folder and on the command
line.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from point2node.core.documents import parse_yaml
from point2node.core.errors import InputError, unknown_choice
from point2node.core.words import Feature
from point2node.geometry.augment import Transform
from point2node.geometry.frames import Frame
from point2node.models.point2node.design import ChiStart, CorrelationStart, DecoderSource, Loss

Rule = Literal["max_confidence", "mean_probability"]

MACHINE = frozenset(
    {"num_workers", "checkpoint_seconds", "log_every", "accelerator", "devices", "num_nodes", "strategy"}
)
"""Settings that say how fast a run is and where, not what is learnt; the same bits come from the same processes."""


class Settings(BaseModel):
    """What a run is made of. A preset gives every key; ``null`` stands for "none" or "as the size says"."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    # data
    dataset: Literal["s3dis", "scannet", "modelnet", "rooms", "folder"]
    """Which reader prepares a raw root; "rooms" are generated where no data is given."""
    rooms: int = Field(ge=1)
    """How many rooms are generated where no data is given."""
    rooms_seed: int = Field(ge=0)
    """Which rooms are generated."""
    classes: str | int | None
    """The classes that the data must have: a class list's name, a number of classes, or null for whatever it has."""
    features: tuple[Feature, ...]
    """The network's input next to xyz: rgb; relative_rgb, to the mean and spread of the scan; normals, estimated where
    a scene has none; height above the floor; and what surrounds a point in the whole scan: shape of the surface at four
    scales, column that it stands in, distance to the boundary of the footprint, smooth segment that it lies on."""
    points: int = Field(ge=1)
    """N, the points of a sample."""
    block_side: float = Field(gt=0)
    """Metres; rooms are cut into columns of this side."""
    block_grid: float = Field(gt=0)
    """Metres; within a block, density is evened in cells of this side."""
    block_points: int = Field(ge=1)
    """Larger blocks are split."""
    frame: Frame
    """Whether x and y are counted from the middle of the room, as in the paper, or of each block."""
    balance: float = Field(default=0.0, ge=0, le=1)
    """Scenes: the share of the samples that are drawn by class: a class at random, then a block that holds it."""
    test_area: int | None = Field(ge=1, le=6)
    """S3DIS: the area that is held out."""
    split_seed: int = Field(ge=0)
    """Draws the validation share; apart from ``seed``, so that runs of several seeds share one split."""
    validation_share: float = Field(ge=0, lt=1)
    """The share of the training scenes, or of each class' shapes, that chooses the best weights; data with a split
    "val" uses that instead. 0: train on everything, and the last weights are the best."""
    folds: int | None = Field(default=None, ge=2)
    """Cut the training scenes, or each class' shapes, into this many equal folds and hold back one of them instead of
    ``validation_share``; null: no folds."""
    fold: int = Field(default=0, ge=0)
    """Which of the folds is held back, from 0."""

    validation_scenes: int | None = Field(ge=0)
    """At most this many scenes are validated on; null: all of them. 0: none, and the last weights are the best."""
    target: str | None = None
    """Scenes: a second prepared store to learn from, such as scans with the pseudo-labels that ``adapt`` gives them;
    null: none."""
    target_share: float = Field(default=0.5, gt=0, le=1)
    """The share of the samples that are drawn from ``target``."""
    source_weight: float = Field(default=0.5, ge=0)
    """With a ``target``: factor on the mean loss of the labelled points of the data itself …"""
    target_weight: float = Field(default=1.0, ge=0)
    """… and of the target; only their ratio matters."""

    # network
    model: str
    """A network of the catalogue: 'point2node models' lists them."""
    size: str
    """A size of the catalogue."""
    variant: str | None
    """A row of the ablation: the correlations behind the network's nodes. null: Point2Node's own, and for every other
    model none, the network as published."""
    width: int | None = Field(ge=1)
    """Point2Node's width x, if not the size's."""
    dropout: float | None = Field(ge=0, lt=1)
    """Before the logits, if not the size's."""
    correlation_start: CorrelationStart = "even"
    """How θ and φ start: near 0, so that rows are even, or by Glorot's rule like the rest of the network."""
    correlation_norm: bool = False
    """Batch norm after θ and φ instead of a bias."""
    correlation_scale: bool = False
    """Divide the correlations by √(C/r) before the softmax; the paper prints no scale."""
    decoder_source: DecoderSource = "features"
    """Where the decoder's second layer searches: on the points of its features, or on the level that PointCNN's table
    names, with zeros where there are no features, as PointCNN's release does."""
    chi_start: ChiStart = "dense"
    """Fans of the X-transformation's first layer at the start: a dense layer's, or those of PointCNN's convolution."""
    start: str | None = None
    """Weights to begin from: a run folder, a file, or shipped ones by name; of several, with commas between them, the
    mean; null: drawn at random."""

    # recipe
    seed: int = Field(ge=0, lt=2**63)
    """Draws the first weights, the samples and their augmentation."""
    steps: int | None = Field(ge=1)
    """How long to train; null: ``epochs``."""
    epochs: int = Field(ge=1)
    """How often the network sees each sample; ``steps`` counts instead if it is given."""
    batch_size: int = Field(ge=1)
    """Clouds in a step, over all processes together."""
    optimiser: Literal["adam", "adamw"]
    """Adam with coupled L2, or AdamW with decoupled weight decay."""
    learning_rate: float = Field(gt=0)
    """At the start, after warming up."""
    schedule: Literal["steps", "cosine", "constant"]
    """How the rate falls: in steps, along a cosine, or not at all."""
    decay_factor: float = Field(gt=0, le=1)
    """Schedule "steps": the rate is multiplied by this …"""
    decay_every: int = Field(ge=1)
    """… every so many steps."""
    lowest_rate: float = Field(ge=0)
    """The rate never falls below it."""
    warmup_steps: int = Field(ge=0)
    """The rate rises linearly over the first steps."""
    adam_epsilon: float = Field(gt=0)
    """Added to Adam's denominator."""
    adam_form: Literal["torch", "tensorflow"] = "torch"
    """Where Adam adds its ε: to the bias-corrected root of the second moment, or to the plain one, as TensorFlow and
    so PointCNN do (ε-hat)."""
    correlation_rate: float = Field(default=1.0, gt=0)
    """Factor on the learning rate of θ and φ: slower, the rows of the correlations stay open for longer."""
    loss: Loss = "nodes"
    """Point2Node's classifier: cross entropy at every node, as PointCNN, or of the nodes' averaged features."""
    weight_decay: float = Field(ge=0)
    """On kernels and on batch norms' scale and shift; biases are left alone."""
    label_smoothing: float = Field(ge=0, lt=1)
    """The share of each label that is spread evenly over all classes."""
    class_weights: Literal["none", "balanced"]
    """Balanced: by the inverse square root of each class' share, with mean 1."""
    ema_decay: float | None = Field(gt=0, lt=1)
    """The weights that are scored and kept are an exponential mean over the steps; null: the plain ones."""
    gradient_clip: float | None = Field(gt=0)
    """Largest norm of the gradient."""

    # augmentation
    turn: float = Field(ge=0, le=180)
    """Rotation about the vertical, uniform in ± so many degrees."""
    tilt: float = Field(ge=0, le=180)
    """Rotation about each horizontal axis, likewise."""
    scale: float = Field(ge=0)
    """Standard deviation of each axis' scale, clipped at three of them."""
    scale_range: tuple[float, float] | None = None
    """Scale each axis by a factor drawn evenly from this range instead; null: by ``scale``."""
    transform: Transform = "composed"
    """How scaling and rotation are joined: as matrices, or multiplied element by element, as PointCNN's release does,
    which drops the off-diagonal terms of the rotation."""
    translate: float = Field(default=0.0, ge=0)
    """Shift along each axis, uniform in ± this length."""
    affine: float = Field(default=0.0, ge=0)
    """Standard deviation of each entry of a 3 × 3 matrix that is added to the unit matrix, clipped at three of them."""
    elastic: float = Field(default=0.0, ge=0)
    """Scenes: metres; standard deviation of a smooth random displacement that changes over 0.4 m; a quarter of it, over
    0.12 m, is added."""
    mirror: float = Field(ge=0, le=1)
    """Probability that a cloud is mirrored."""
    jitter: float = Field(ge=0)
    """Standard deviation of each coordinate."""
    height_shift: float = Field(ge=0)
    """Standard deviation of a cloud's height, in metres."""
    top_drop: float = Field(ge=0, le=1)
    """Probability that a block has nothing above a random height, as in scans without a ceiling."""
    holes: int = Field(default=0, ge=0)
    """At most this many round holes, of 10 to 50 cm radius, are cut into a block."""
    density: float = Field(default=0.0, ge=0, le=1)
    """Probability that a block's points thin out with the square of the distance from some place, as around a laser
    scanner."""
    mix: float = Field(default=0.0, ge=0, le=1)
    """Probability that quarters of a block are replaced by those of any other block, which needs ``frame`` block, or
    that up to half of a shape is replaced by a part of another, with labels in the same shares."""
    point_drop: float = Field(ge=0, lt=1)
    """The largest share of a cloud's points that are replaced by copies of others, as in thin scans."""
    colour_drop: float = Field(ge=0, le=1)
    """Probability that a cloud loses its colours, so that scans without any can be labelled too."""
    colour_jitter: float = Field(ge=0, le=1)
    """How much contrast and brightness of each channel change."""
    surroundings_drop: float = Field(default=0.0, ge=0, le=1)
    """Probability that a cloud loses each of shape, column, boundary and segment, so that none is relied on alone."""

    # scoring
    validate_every: int = Field(ge=1)
    """Steps between validations."""
    votes: int = Field(ge=1)
    """How often each block, or shape, is labelled anew; votes decide."""
    rule: Rule
    """How votes decide: the prediction of highest confidence, or the mean of the probabilities."""
    voxel: float | None = Field(gt=0)
    """Metres; score voxels of this side instead of points."""
    smooth: bool = False
    """``predict``: whether probabilities are averaged over smooth surfaces before the labels are chosen."""
    thin: float = Field(default=0.0, ge=0)
    """``predict``: metres; one point in each cube of this side is labelled, the others are interpolated from these."""

    # machine
    num_workers: int = Field(ge=0)
    """Processes that build batches; changes nothing but speed."""
    checkpoint_seconds: float = Field(gt=0)
    """Seconds between two checkpoints."""
    log_every: int = Field(ge=1)
    """Steps between lines of the history."""
    accelerator: str
    """Fabric's: auto, cpu, cuda …"""
    devices: int | str
    """Fabric's: how many processors of that kind, or auto."""
    num_nodes: int = Field(ge=1)
    """Fabric's: how many machines."""
    strategy: str
    """Fabric's words: auto, cpu, cuda · auto, 1, 2 · auto, ddp."""
    precision: Literal["32-true", "bf16-mixed", "16-mixed"]
    """Fabric's: full precision, or mixed on a GPU."""
    sync_batch_norm: bool
    """Several processes: normalise over all of them together."""

    @model_validator(mode="after")
    def _test_area_is_for_s3dis(self) -> Settings:
        if (self.test_area is not None) != (self.dataset == "s3dis"):
            raise ValueError("test_area is set for dataset s3dis, and null for all others")
        return self

    @model_validator(mode="after")
    def _ranges_are_right(self) -> Settings:
        if self.scale_range is not None and not 0 < self.scale_range[0] <= self.scale_range[1]:
            raise ValueError("scale_range is a lower and an upper factor above 0")
        if self.fold and self.fold >= (self.folds or 1):
            raise ValueError("fold is below folds")
        return self

    @model_validator(mode="after")
    def _mixing_is_for_blocks_in_their_own_frame(self) -> Settings:
        if self.mix and self.dataset != "modelnet" and self.frame != "block":
            raise ValueError("mix joins blocks around their middle: set frame to block, or mix to 0")
        return self

    @model_validator(mode="after")
    def _targets_are_scenes_that_count(self) -> Settings:
        if self.target is not None and self.dataset == "modelnet":
            raise ValueError("target is a store of scenes, and null for shapes")
        if self.target is not None and self.source_weight == self.target_weight == 0:
            raise ValueError("source_weight or target_weight is above 0")
        return self

    @property
    def test_split(self) -> str:
        """The split that is held out of training."""
        return "test" if self.test_area is None else f"Area_{self.test_area}"

    def dump(self) -> str:
        """The settings as YAML, in their order."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def preset_names() -> tuple[str, ...]:
    """Every preset that is shipped."""
    folder = resources.files("point2node") / "presets"
    return tuple(sorted(file.name.removesuffix(".yaml") for file in folder.iterdir() if file.name.endswith(".yaml")))


def describe_preset(name: str) -> str:
    """What a preset is for: the first line of its file."""
    return _text_of(name).splitlines()[0].removeprefix("# ")


def _text_of(name: str) -> str:
    if name not in preset_names():
        raise unknown_choice("preset", name, preset_names())
    return (resources.files("point2node") / "presets" / f"{name}.yaml").read_text(encoding="utf-8")


def load_preset(name: str, overrides: Iterable[str] = ()) -> Settings:
    """The settings of a preset, with ``key=value`` words put over them."""
    values = parse_yaml(_text_of(name))
    values.update(parse_overrides(overrides))
    return check_settings(f"preset {name!r}", values)


def parse_overrides(words: Iterable[str]) -> dict[str, Any]:
    """``key=value`` words as a mapping; values are read as YAML, so numbers, null and [lists] mean what they say."""
    values: dict[str, Any] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise InputError("settings", expected="key=value", found=repr(word), remedy="For example steps=1000.")
        if key not in Settings.model_fields:
            raise unknown_choice("setting", key, Settings.model_fields)
        try:
            values[key] = parse_yaml(value)
        except (yaml.YAMLError, ValueError) as error:  # the latter of what looks like a date and is none
            raise InputError(f"setting {key!r}", expected="a value in YAML", found=repr(value)) from error
        if isinstance(values[key], date):
            values[key] = value  # no setting is a date, but a folder may be called so
        if isinstance(values[key], str):
            values[key] = _as_number(values[key])
    return values


def _as_number(value: str) -> float | str:
    """YAML 1.1 takes 1e-3 for a word; people mean a number."""
    try:
        return float(value)
    except ValueError:
        return value


def read_settings(path: Path) -> Settings:
    """The settings in a file, such as a run folder's."""
    try:
        values = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(path, expected="settings in YAML", found=" ".join(str(error).split())) from error
    if not isinstance(values, dict):
        raise InputError(path, expected="settings in YAML", found=type(values).__name__)
    return check_settings(str(path), values)


def check_settings(where: str, values: dict[str, Any]) -> Settings:
    """Settings out of plain values; the first thing that is wrong is said in one line."""
    for key in values:
        if key not in Settings.model_fields:
            raise unknown_choice(f"{where}, setting", str(key), Settings.model_fields)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else "settings"
        message = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        if first["type"] == "missing":
            raise InputError(f"{where}, {key}", expected="a value", found="nothing") from error
        found = repr(values.get(key)) if first["loc"] else "otherwise"
        raise InputError(f"{where}, {key}", expected=message[0].lower() + message[1:], found=found) from error
