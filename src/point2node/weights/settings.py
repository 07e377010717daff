"""All settings of a run: one flat, complete list of keys, the same in a preset, in a run folder and on the command
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
"""Settings that affect where and how fast a run is, not what it learns; with the same number of processes, the result
is bit-identical."""


class Settings(BaseModel):
    """The settings of a run. A preset has every key; ``null`` means "none" or "the default of the size"."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    # data
    dataset: Literal["s3dis", "scannet", "modelnet", "rooms", "folder"]
    """The kind of data; "rooms" are generated if no data is given."""
    rooms: int = Field(ge=1)
    """How many rooms are generated if no data is given."""
    rooms_seed: int = Field(ge=0)
    """The seed of the generated rooms."""
    classes: str | int | None
    """The classes that the data must have: the name of a class list, a number of classes, or null for any."""
    features: tuple[Feature, ...]
    """The network's input next to xyz: rgb; relative_rgb, colours relative to the mean and spread of the scan; normals,
    estimated if a scene has none; height above the floor; and the surroundings of a point in the whole scan: shape (of
    the surface at four scales), column (the points above and below), boundary (distance to the edge of the footprint)
    and segment (the smooth surface it is on)."""
    points: int = Field(ge=1)
    """N, the number of points in a sample."""
    block_side: float = Field(gt=0)
    """Metres; rooms are cut into square columns of this side."""
    block_grid: float = Field(gt=0)
    """Metres; the density within a block is evened out in cells of this side."""
    block_points: int = Field(ge=1)
    """The largest number of points in a block; larger blocks are split."""
    frame: Frame
    """The origin of x and y: the middle of the room, as in the paper, or of each block."""
    balance: float = Field(default=0.0, ge=0, le=1)
    """Scenes: the share of the samples that are drawn by class: a random class, then a block that contains it."""
    test_area: int | None = Field(ge=1, le=6)
    """S3DIS: the held-out area."""
    split_seed: int = Field(ge=0)
    """The seed of the validation split; separate from ``seed``, so that runs with different seeds share one split."""
    validation_share: float = Field(ge=0, lt=1)
    """The share of the training scenes, or of each class' shapes, held back to select the best weights; data with a
    split "val" uses that instead. 0: train on everything and use the last weights."""
    folds: int | None = Field(default=None, ge=2)
    """Divide the training scenes, or each class' shapes, into this many equal folds and hold back one of them, instead
    of ``validation_share``; null: no folds."""
    fold: int = Field(default=0, ge=0)
    """Which of the folds is held back, from 0."""

    validation_scenes: int | None = Field(ge=0)
    """The largest number of scenes to validate on; null: all of them. 0: none, and the last weights are used."""
    target: str | None = None
    """Scenes: a second prepared store to learn from, such as scans with the pseudo-labels that ``adapt`` gives them;
    null: none."""
    target_share: float = Field(default=0.5, gt=0, le=1)
    """The share of samples that are drawn from ``target``."""
    source_weight: float = Field(default=0.5, ge=0)
    """With a ``target``: factor on the mean loss of the labelled points of the original data."""
    target_weight: float = Field(default=1.0, ge=0)
    """Factor on the mean loss of the labelled points of ``target``; only its ratio to ``source_weight`` matters."""

    # network
    model: str
    """The network; 'point2node models' lists them."""
    size: str
    """The size of the network; 'point2node models' lists them."""
    variant: str | None
    """A row of the paper's ablation: the correlations after the network. null: those of Point2Node; for any other model
    none, as published."""
    width: int | None = Field(ge=1)
    """The width x of Point2Node; null: the size's."""
    dropout: float | None = Field(ge=0, lt=1)
    """The dropout before the logits; null: the size's."""
    correlation_start: CorrelationStart = "even"
    """The initialisation of θ and φ: near 0, so that rows are even, or Glorot's like the rest of the network."""
    correlation_norm: bool = False
    """Use batch norm after θ and φ instead of a bias."""
    correlation_scale: bool = False
    """Divide the correlations by √(C/r) before the softmax; the paper has no such scale."""
    decoder_source: DecoderSource = "features"
    """Where the decoder's second layer searches for neighbours: among the points of its features, or in the level that
    PointCNN's table gives, with zeros for missing features, as in PointCNN's code."""
    chi_start: ChiStart = "dense"
    """The fan-in and fan-out that initialise the X-transformation's first layer: those of a dense layer, or of
    PointCNN's convolution."""
    start: str | None = None
    """Weights to start from: a run folder, a file or the name of a pretrained model; several, separated by commas, are
    averaged; null: random."""

    # recipe
    seed: int = Field(ge=0, lt=2**63)
    """The seed of the initial weights, the samples and their augmentation."""
    steps: int | None = Field(ge=1)
    """How many steps to train; null: as ``epochs`` says."""
    epochs: int = Field(ge=1)
    """How many times to train on each sample; ignored if ``steps`` is given."""
    batch_size: int = Field(ge=1)
    """Clouds per step, over all processes together."""
    optimiser: Literal["adam", "adamw"]
    """Adam with coupled L2, or AdamW with decoupled weight decay."""
    learning_rate: float = Field(gt=0)
    """The initial learning rate, after the warm-up."""
    schedule: Literal["steps", "cosine", "constant"]
    """How the learning rate falls: in steps, along a cosine, or not at all."""
    decay_factor: float = Field(gt=0, le=1)
    """Schedule "steps": the learning rate is multiplied by this every ``decay_every`` steps."""
    decay_every: int = Field(ge=1)
    """Schedule "steps": the number of steps between two decays."""
    lowest_rate: float = Field(ge=0)
    """The lower limit of the learning rate."""
    warmup_steps: int = Field(ge=0)
    """The learning rate rises linearly over this many steps."""
    adam_epsilon: float = Field(gt=0)
    """Added to Adam's denominator."""
    adam_form: Literal["torch", "tensorflow"] = "torch"
    """Where Adam adds ε: to the bias-corrected root of the second moment, or to the uncorrected one (ε-hat), as in
    TensorFlow and therefore in PointCNN."""
    correlation_rate: float = Field(default=1.0, gt=0)
    """Factor on the learning rate of θ and φ; below 1, the rows of the correlations take longer to become one-hot."""
    loss: Loss = "nodes"
    """Point2Node's classification loss: cross entropy at every node, as in PointCNN, or of the nodes' mean features."""
    weight_decay: float = Field(ge=0)
    """Applies to kernels and to batch norms' scale and shift, not to biases."""
    label_smoothing: float = Field(ge=0, lt=1)
    """The share of each label that is spread evenly over all classes."""
    class_weights: Literal["none", "balanced"]
    """"balanced": the inverse square root of each class' share, normalised to mean 1."""
    ema_decay: float | None = Field(gt=0, lt=1)
    """Decay of an exponential moving average over the steps, whose weights are scored and saved; null: no averaging."""
    gradient_clip: float | None = Field(gt=0)
    """The largest norm of the gradient; null: no clipping."""

    # augmentation
    turn: float = Field(ge=0, le=180)
    """Degrees; the largest rotation about the vertical axis, drawn uniformly from ± this angle."""
    tilt: float = Field(ge=0, le=180)
    """Degrees; the largest rotation about each horizontal axis, drawn the same way."""
    scale: float = Field(ge=0)
    """Standard deviation of each axis' scale factor, clipped at three standard deviations."""
    scale_range: tuple[float, float] | None = None
    """Draw each axis' scale factor uniformly from this range instead; null: as ``scale`` says."""
    transform: Transform = "composed"
    """How scaling and rotation are combined: as matrices, or element by element as in PointCNN's code, which drops the
    off-diagonal terms of the rotation."""
    translate: float = Field(default=0.0, ge=0)
    """The largest shift along each axis, drawn uniformly from ± this length."""
    affine: float = Field(default=0.0, ge=0)
    """Standard deviation of each entry of a random 3 × 3 matrix that is added to the identity, clipped at three
    standard deviations."""
    elastic: float = Field(default=0.0, ge=0)
    """Scenes: metres; standard deviation of a smooth random displacement that varies over 0.4 m, plus a quarter of it
    that varies over 0.12 m."""
    mirror: float = Field(ge=0, le=1)
    """Probability of mirroring a cloud."""
    jitter: float = Field(ge=0)
    """Standard deviation of the noise on each coordinate."""
    height_shift: float = Field(ge=0)
    """Metres; standard deviation of a shift of a cloud's height."""
    top_drop: float = Field(ge=0, le=1)
    """Probability of removing everything above a random height from a block, as in scans without a ceiling."""
    holes: int = Field(default=0, ge=0)
    """The largest number of round holes, of 10 to 50 cm radius, cut into a block."""
    density: float = Field(default=0.0, ge=0, le=1)
    """Probability of thinning a block with the square of the distance from a random position, as around a
    scanner."""
    mix: float = Field(default=0.0, ge=0, le=1)
    """Probability of replacing quarters of a block by those of another block, which needs ``frame`` block; or of
    replacing up to half of a shape by a part of another one, with the labels mixed in the same proportion."""
    point_drop: float = Field(ge=0, lt=1)
    """The largest share of a cloud's points that is replaced by copies of others, as in sparse scans."""
    colour_drop: float = Field(ge=0, le=1)
    """Probability of removing a cloud's colours, so that scans without colour can be labelled too."""
    colour_jitter: float = Field(ge=0, le=1)
    """The strength of random changes to the contrast and brightness of each channel."""
    surroundings_drop: float = Field(default=0.0, ge=0, le=1)
    """Probability of removing each of shape, column, boundary and segment, so that none is relied on
    alone."""

    # scoring
    validate_every: int = Field(ge=1)
    """Steps between validations."""
    votes: int = Field(ge=1)
    """How many times each block or shape is labelled; the votes are combined."""
    rule: Rule
    """How votes are combined: the prediction with the highest confidence, or the mean of the probabilities."""
    voxel: float | None = Field(gt=0)
    """Metres; score voxels of this side instead of points; null: points."""
    smooth: bool = False
    """``predict``: average the probabilities over smooth surfaces before choosing the labels."""
    thin: float = Field(default=0.0, ge=0)
    """``predict``: metres; label one point per cube of this side and interpolate the others; 0: every point."""

    # machine
    num_workers: int = Field(ge=0)
    """Number of processes that build batches; affects only speed."""
    checkpoint_seconds: float = Field(gt=0)
    """Seconds between two checkpoints."""
    log_every: int = Field(ge=1)
    """Steps between lines of the history."""
    accelerator: str
    """Lightning Fabric's accelerator: auto, cpu, cuda …"""
    devices: int | str
    """Lightning Fabric's number of devices, or auto."""
    num_nodes: int = Field(ge=1)
    """Lightning Fabric's number of machines."""
    strategy: str
    """Lightning Fabric's strategy: auto, ddp …"""
    precision: Literal["32-true", "bf16-mixed", "16-mixed"]
    """Lightning Fabric's precision: full, or mixed on a GPU."""
    sync_batch_norm: bool
    """With several processes: normalise over all of them together."""

    @model_validator(mode="after")
    def _test_area_is_for_s3dis(self) -> Settings:
        if (self.test_area is not None) != (self.dataset == "s3dis"):
            raise ValueError("test_area to be set for dataset s3dis, and null for all others")
        return self

    @model_validator(mode="after")
    def _ranges_are_right(self) -> Settings:
        if self.scale_range is not None and not 0 < self.scale_range[0] <= self.scale_range[1]:
            raise ValueError("scale_range to be a lower and an upper factor above 0")
        if self.fold and self.fold >= (self.folds or 1):
            raise ValueError("fold to be below folds")
        return self

    @model_validator(mode="after")
    def _mixing_is_for_blocks_in_their_own_frame(self) -> Settings:
        if self.mix and self.dataset != "modelnet" and self.frame != "block":
            raise ValueError("frame to be block, or mix to be 0: mix combines blocks around their middle")
        return self

    @model_validator(mode="after")
    def _targets_are_scenes_that_count(self) -> Settings:
        if self.target is not None and self.dataset == "modelnet":
            raise ValueError("target to be a store of scenes, and null for shapes")
        if self.target is not None and self.source_weight == self.target_weight == 0:
            raise ValueError("source_weight or target_weight to be above 0")
        return self

    @property
    def test_split(self) -> str:
        """The split that is held out from training."""
        return "test" if self.test_area is None else f"Area_{self.test_area}"

    def dump(self) -> str:
        """Return the settings as YAML, in the order above."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def preset_names() -> tuple[str, ...]:
    """Return the names of all presets."""
    folder = resources.files("point2node") / "presets"
    return tuple(sorted(file.name.removesuffix(".yaml") for file in folder.iterdir() if file.name.endswith(".yaml")))


def describe_preset(name: str) -> str:
    """Return the purpose of a preset: the first line of its file."""
    return _text_of(name).splitlines()[0].removeprefix("# ")


def _text_of(name: str) -> str:
    if name not in preset_names():
        raise unknown_choice("preset", name, preset_names())
    return (resources.files("point2node") / "presets" / f"{name}.yaml").read_text(encoding="utf-8")


def load_preset(name: str, overrides: Iterable[str] = ()) -> Settings:
    """Load the settings of a preset, with ``key=value`` overrides."""
    values = parse_yaml(_text_of(name))
    values.update(parse_overrides(overrides))
    return check_settings(f"preset {name!r}", values)


def parse_overrides(words: Iterable[str]) -> dict[str, Any]:
    """Parse ``key=value`` words into a mapping; values are YAML: numbers, null, [lists] …"""
    values: dict[str, Any] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise InputError("settings", expected="key=value", found=repr(word), remedy="For example steps=1000.")
        if key not in Settings.model_fields:
            raise unknown_choice("setting", key, Settings.model_fields)
        try:
            values[key] = parse_yaml(value)
        except (yaml.YAMLError, ValueError) as error:  # ValueError: looks like a date but is not valid
            raise InputError(f"setting {key!r}", expected="a value in YAML", found=repr(value)) from error
        if isinstance(values[key], date):
            values[key] = value  # no setting is a date, but a folder may be named like one
        if isinstance(values[key], str):
            values[key] = _as_number(values[key])
    return values


def _as_number(value: str) -> float | str:
    """Convert words such as 1e-3, which YAML 1.1 reads as text, to numbers."""
    try:
        return float(value)
    except ValueError:
        return value


def read_settings(path: Path) -> Settings:
    """Read the settings in a file, such as a run folder's."""
    try:
        values = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(path, expected="settings in YAML", found=" ".join(str(error).split())) from error
    if not isinstance(values, dict):
        raise InputError(path, expected="settings in YAML", found=type(values).__name__)
    return check_settings(str(path), values)


def check_settings(where: str, values: dict[str, Any]) -> Settings:
    """Make settings from plain values; raises InputError for the first problem."""
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
