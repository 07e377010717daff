"""Two cores as one process with two threads, or as two processes with one: ``python -m benchmarks scaling``.

``torchrun -m benchmarks.scaling NETWORK`` is one of the processes: it trains a network on its share of a batch, with
DDP over gloo, and the first process prints the clouds per second of all of them.
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
from point2node.training.recipe import loss_and_weight

BATCHES = {"rooms": (8, 2048), "modelnet10": (32, 1024)}
ROUNDS, STEPS = 3, 12


def train_share(network: str) -> None:
    clouds, points = BATCHES[network]
    distributed.init_process_group("gloo")
    processes = distributed.get_world_size()
    torch.manual_seed(distributed.get_rank())
    model = point2node.create_model(preset=network).train()
    share = clouds // processes
    pyramid = point2node.build_pyramid(torch.rand(share, points, 3) * 1.5, model.plan)
    features = torch.rand(share, points, model.in_features) if model.in_features else None
    labels = torch.randint(0, 10, (share, points) if model.task == "segmentation" else (share,))
    parallel = DistributedDataParallel(model) if processes > 1 else model
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    seconds = []
    for _ in range(2 + STEPS):
        start = time.perf_counter()
        total, weight = loss_and_weight(parallel(features, pyramid), labels, None, 0.0)
        (total / weight).backward()
        optimiser.step()
        optimiser.zero_grad()
        distributed.barrier()
        seconds.append(time.perf_counter() - start)
    if distributed.get_rank() == 0:
        print(clouds / statistics.median(seconds[2:]))
    distributed.destroy_process_group()


def clouds_per_second(network: str, processes: int, threads: int) -> float:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [*launcher, "-m", "benchmarks.scaling", network]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads)}
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)


def measure() -> list[Row]:
    return [row for network in BATCHES for row in measure_network(network)]


def measure_network(network: str) -> list[Row]:
    rounds = [(clouds_per_second(network, 1, 2), clouds_per_second(network, 2, 1)) for _ in range(ROUNDS)]
    one, two = (statistics.median(speeds) for speeds in zip(*rounds, strict=True))
    name = "training the {} network on {} x {}".format(network, *BATCHES[network])
    return [
        Row(f"{name}, 1 process x 2 threads", one, None, "clouds a second"),
        Row(f"{name}, 2 processes x 1 thread", two, None, "clouds a second"),
    ]


if __name__ == "__main__" and sys.argv[1:]:
    train_share(sys.argv[1])
