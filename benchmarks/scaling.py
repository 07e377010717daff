"""Two cores as one process with two threads or as two processes with one: ``python -m benchmarks scaling``.

``torchrun -m benchmarks.scaling worker`` is one of the processes: it trains the ``rooms`` network on its share of a
batch of 8 clouds, as DDP over gloo, and the first process prints the clouds a second of all of them.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import point2node
from benchmarks.measure import Row

CLOUDS, POINTS = 8, 2048
ROUNDS, STEPS = 3, 12


def train_a_share() -> None:
    distributed.init_process_group("gloo")
    processes = distributed.get_world_size()
    torch.manual_seed(distributed.get_rank())
    model = point2node.create_model(preset="rooms").train()
    pyramid = point2node.build_pyramid(torch.rand(CLOUDS // processes, POINTS, 3) * 1.5, model.plan)
    features = torch.rand(CLOUDS // processes, POINTS, 3)
    labels = torch.randint(0, 13, (CLOUDS // processes * POINTS,))
    parallel = DistributedDataParallel(model)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4)
    seconds = []
    for _ in range(2 + STEPS):
        start = time.perf_counter()
        torch.nn.functional.cross_entropy(parallel(features, pyramid).flatten(0, 1), labels).backward()
        optimiser.step()
        optimiser.zero_grad()
        distributed.barrier()
        seconds.append(time.perf_counter() - start)
    if distributed.get_rank() == 0:
        print(CLOUDS / statistics.median(seconds[2:]))
    distributed.destroy_process_group()


def clouds_a_second(processes: int, threads: int) -> float:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [*launcher, "-m", "benchmarks.scaling", "worker"]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads)}
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)


def measure() -> list[Row]:
    one, two = zip(*((clouds_a_second(1, 2), clouds_a_second(2, 1)) for _ in range(ROUNDS)), strict=True)
    name = f"training the rooms network on {CLOUDS} x {POINTS}"
    return [
        Row(f"{name}, 1 process x 2 threads", statistics.median(one), None, "clouds a second"),
        Row(f"{name}, 2 processes x 1 thread", statistics.median(two), None, "clouds a second"),
    ]


if __name__ == "__main__":
    if sys.argv[1:] == ["worker"]:
        train_a_share()
