"""Generated rooms: speed, similarity to S3DIS, and the benefit of context: ``python -m benchmarks.rooms``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numba
import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.measure import Row, alternate, write_rows
from point2node.core.classes import S3DIS
from point2node.evaluation.metrics import count_confusion, score
from point2node.geometry.neighbours import k_nearest_neighbours
from point2node.rooms import RoomSettings, generate_room

# per cent of the points of S3DIS by class, sampled on a grid
S3DIS_SHARES = (18.1, 15.4, 26.4, 1.7, 2.0, 2.6, 5.2, 3.5, 4.3, 0.5, 6.9, 1.2, 12.2)
TIMED, COUNTED = range(8), range(200)
TRAIN, TEST = range(50), range(1000, 1020)
POINTS = 8192  # of each room for the two small networks
COARSE = RoomSettings(ray_step=0.9, even=0.04)


def measure() -> list[Row]:
    print_shares()
    return [*measure_speed(), *measure_context()]


def print_shares() -> None:
    labels = np.concatenate([generate_room(0, index, settings=COARSE).labels for index in COUNTED])
    shares = 100 * np.bincount(labels) / len(labels)
    print(f"{'per cent of the points':<24}{'generated':>10}{'S3DIS':>8}{'ratio':>8}")
    for entry, share, expected in zip(S3DIS, shares, S3DIS_SHARES, strict=True):
        print(f"{entry.name:<24}{share:10.2f}{expected:8.1f}{share / expected:8.2f}")


def measure_speed() -> list[Row]:
    sizes = [len(generate_room(0, index)) for index in TIMED]
    unevened = RoomSettings(even=0)
    raw = sum(len(generate_room(0, index, settings=unevened)) for index in TIMED)
    seconds = alternate(
        {
            "evened": lambda: [generate_room(0, index) for index in TIMED],
            "raw": lambda: [generate_room(0, index, settings=unevened) for index in TIMED],
        },
        rounds=2,
    )
    with ProcessPoolExecutor(
        2, mp_context=get_context("spawn"), initializer=numba.set_num_threads, initargs=(1,)
    ) as pool:
        list(pool.map(count_points, TIMED))  # import and load the compiled kernels
        start = time.perf_counter()
        generated = sum(pool.map(count_points, list(TIMED) * 3))
        two_processes = generated / (time.perf_counter() - start)
    name, unit = "generated rooms", "M points a second"
    return [
        Row(f"{name}, one point per 2 cm", sum(sizes) / seconds["evened"] / 1e6, None, unit),
        Row(f"{name}, every return", raw / seconds["raw"] / 1e6, None, unit),
        Row(f"{name}, one point per 2 cm, two processes", two_processes / 1e6, None, unit),
    ]


def count_points(index: int) -> int:
    return len(generate_room(0, index))


def measure_context() -> list[Row]:
    """Measure the same small network on single points, with and without features of their neighbourhoods."""
    train, test = read_rooms(TRAIN), read_rooms(TEST)
    rows = []
    for name, width in (("single points", 6), ("points and neighbourhoods", train[0].shape[1])):
        accuracy, miou = train_and_test(train[0][:, :width], train[1], test[0][:, :width], test[1])
        rows += [
            Row(f"MLP on {name}, unseen rooms: accuracy", 100 * accuracy, None, "per cent"),
            Row(f"MLP on {name}, unseen rooms: mIoU", 100 * miou, None, "per cent"),
        ]
    return rows


def read_rooms(indices: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return features (N, 32) and labels (N,) of the points of all rooms; the first six are of single points."""
    rooms = [generate_room(0, index, points=POINTS) for index in indices]
    features = []
    for room in rooms:
        xyz = torch.from_numpy(room.local()[0])
        rgb = torch.from_numpy(np.asarray(room.rgb)).float() / 255 - 0.5
        near = [describe_neighbourhoods(xyz, rgb, k) for k in (16, 96)]
        features.append(torch.cat([xyz, rgb, *near], dim=1))
    return torch.cat(features), torch.from_numpy(np.concatenate([room.labels for room in rooms])).long()


def describe_neighbourhoods(xyz: Tensor, rgb: Tensor, k: int) -> Tensor:
    """Compute (N, 13): radius, height span, offset in height, shape as covariances, mean colour and its spread."""
    distances, neighbours = k_nearest_neighbours(xyz[None], xyz[None], k)
    near, colours = xyz[neighbours[0]], rgb[neighbours[0]]
    centred = (near - near.mean(dim=1, keepdim=True)) / distances[0, :, -1:, None].clamp_min(1e-3)
    covariances = (centred.mT @ centred / k).flatten(1)[:, [0, 1, 2, 4, 5, 8]]
    heights = near[:, :, 2]
    parts = [
        distances[0, :, -1:],
        (heights.amax(dim=1) - heights.amin(dim=1))[:, None],
        (xyz[:, 2] - heights.mean(dim=1))[:, None],
        covariances,
        colours.mean(dim=1),
        colours.std(dim=1).mean(dim=1, keepdim=True),
    ]
    return torch.cat(parts, dim=1)


def train_and_test(features: Tensor, labels: Tensor, unseen: Tensor, unseen_labels: Tensor) -> tuple[float, float]:
    """Train a network of three layers, and return its accuracy and mIoU on unseen rooms."""
    torch.manual_seed(0)
    mean, deviation = features.mean(dim=0), features.std(dim=0) + 1e-6
    features, unseen = (features - mean) / deviation, (unseen - mean) / deviation
    network = nn.Sequential(
        nn.Linear(features.shape[1], 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, len(S3DIS))
    )
    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    for _ in range(4):
        for batch in torch.randperm(len(features)).split(2048):
            optimiser.zero_grad()
            nn.functional.cross_entropy(network(features[batch]), labels[batch]).backward()
            optimiser.step()
    with torch.no_grad():
        found = network(unseen).argmax(dim=1)
    scores = score(count_confusion(unseen_labels.numpy(), found.numpy(), len(S3DIS)), [one.name for one in S3DIS])
    return scores.oa, scores.miou


def main() -> None:
    write_rows("rooms", measure())


if __name__ == "__main__":
    main()
