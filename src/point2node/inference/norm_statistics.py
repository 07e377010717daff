"""Batch-norm statistics of the user's own scans, mixed into the trained ones.

A scanner that differs from those in training shifts the mean and the variance of every channel. Both can be estimated
without labels. Schneider et al. (2020), "Improving robustness against common corruptions by covariate shift
adaptation": with trained μ, σ² and the scan's μ*, σ²*, use (1 − share)·μ + share·μ* and (1 − share)·σ² + share·σ²*.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from point2node.core.errors import InputError
from point2node.data.batches import Sample, make_batch
from point2node.geometry.blocks import BlockRules, cut_blocks, voting_groups
from point2node.inference.asking import device_of
from point2node.inference.votes import SceneInput, scene_sample
from point2node.models.batch_norm import BatchNorm
from point2node.models.network import Network

NORM_SHARE = 0.5
"""The share of the scan's own statistics that ``predict --adapt bn`` and ``adapt`` use."""
SAMPLES = 128
"""Groups of points that statistics are estimated on: an eighth of the work to label a million points."""
SAMPLES_AT_ONCE = 8
"""As in training: the statistics of a batch cover several places."""

Statistics = Mapping[str, tuple[Tensor, Tensor]]
"""Mean and unbiased variance (C,) of the input of each batch norm, by the name of its module."""


def draw_samples(scene: SceneInput, rules: BlockRules, points: int, count: int) -> list[Sample]:
    """Draw at most ``count`` of the groups of ``points`` points that labelling would use, with equal probability."""
    random = np.random.default_rng(0)
    blocks = cut_blocks(scene.xyz, 0.0, random, rules)
    groups = np.concatenate([voting_groups(block, points, 1, random, rules, tiled=False) for block in blocks])
    return [scene_sample(scene, group) for group in random.permutation(groups)[:count]]


def estimate_statistics(network: Network, samples: Sequence[Sample]) -> Statistics:
    """Return the statistics that every batch norm would have if ``network`` had been trained on ``samples`` only.

    The samples are shuffled into batches of nearly equal size, which are normalised by their own statistics; the result
    is the plain mean over the batches. The network is not changed.
    """
    twin = copy.deepcopy(network)
    norms = batch_norms(twin)
    for norm in norms.values():
        norm.reset_running_stats()
        norm.momentum = 0.0  # a plain mean over any number of batches
        norm.train()
    order = np.random.default_rng(0).permutation(len(samples))
    for numbers in np.array_split(order, -(-len(samples) // SAMPLES_AT_ONCE)):
        batch = make_batch([samples[number] for number in numbers], network.plan, seed=0).to(device_of(network))
        with torch.no_grad():
            twin(batch.features, batch.pyramid)
    return {name: _statistics_of(norm) for name, norm in norms.items()}


def mix_statistics(network: Network, statistics: Statistics, share: float) -> Network:
    """Return a copy of ``network`` with ``share`` of the given statistics and 1 − ``share`` of its own."""
    mixed = copy.deepcopy(network)
    if share == 0:
        return mixed
    with torch.no_grad():
        for name, norm in batch_norms(mixed).items():
            for own, given in zip(_statistics_of(norm), statistics[name], strict=True):
                own.lerp_(given, share)
    return mixed


def batch_norms(network: Network) -> dict[str, BatchNorm]:
    """Return the batch norms of a network by name; raises InputError if it has none."""
    norms = {name: module for name, module in network.named_modules() if isinstance(module, BatchNorm)}
    if not norms:
        raise InputError("weights", expected="a network with batch norm, to adapt its statistics", found="none")
    return norms


def check_share(share: float) -> None:
    """Raise InputError if ``share`` is not from 0 to 1."""
    if not 0 <= share <= 1:
        raise InputError("norm share", expected="0 to 1", found=str(share))


def _statistics_of(norm: BatchNorm) -> tuple[Tensor, Tensor]:
    assert norm.running_mean is not None
    assert norm.running_var is not None
    return norm.running_mean, norm.running_var
