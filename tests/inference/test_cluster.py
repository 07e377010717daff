"""Work on a cluster of two processes: what they are given, and what happens when some die or lack memory."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numba
import psutil
import pytest
import torch

from point2node.core.errors import InputError
from point2node.core.memory import memory_limit

pytest.importorskip("distributed")
from point2node.inference import cluster as module
from point2node.inference.cluster import Failure, connected, spread

MEMORY = 2 * 10**9


@pytest.fixture(scope="module")
def cluster():
    with connected("local:2", MEMORY) as started:
        yield started


def results(cluster, function, shared, items):
    found = dict(spread(cluster, function, shared, items))
    assert sorted(found) == list(range(len(items)))
    return [found[place] for place in range(len(items))]


def added(shared, item, tries):
    return shared + item


def misbehaving(folder, item, tries):
    """Notes each try, and does what the item says."""
    (Path(folder) / f"{item}-{tries}").write_text(str(memory_limit()))
    if item == "dies":
        os._exit(1)
    if item == "lacks memory" or (item == "lacks memory once" and not tries):
        raise MemoryError
    if item == "torch lacks memory":
        torch.empty(10**16)
    if item == "fails":
        raise KeyError("a bug")
    return item


def thread_counts(shared, item, tries):
    return torch.get_num_threads(), numba.config.NUMBA_NUM_THREADS, os.environ["OMP_NUM_THREADS"]


def told_process(shared, item, tries):
    time.sleep(0.3)
    return os.getpid(), id(shared)


def test_every_item_has_a_result_made_with_what_is_shared(cluster):
    assert results(cluster, added, 10, [1, 2, 3, 4, 5]) == [11, 12, 13, 14, 15]
    assert results(cluster, added, 10, []) == []


def test_an_item_whose_workers_die_is_given_up_after_three_and_the_others_go_on(cluster, tmp_path):
    found = results(cluster, misbehaving, str(tmp_path), ["a", "dies", "b", "c"])
    assert found[0::2] == ["a", "b"]
    assert found[3] == "c"
    assert found[1] == Failure("the processes that labelled it died, 3 of them: out of memory, or a fault of a library")
    assert len(list(tmp_path.glob("dies-*"))) == 3


@pytest.mark.parametrize("item", ["lacks memory", "torch lacks memory"])
def test_an_item_that_lacks_memory_is_tried_with_half_of_it_and_given_up_after_three(cluster, tmp_path, item):
    found = results(cluster, misbehaving, str(tmp_path), [item, "b"])
    assert found[1] == "b"
    assert "out of memory" in found[0].reason
    limits = [int((tmp_path / f"{item}-{tries}").read_text()) for tries in range(3)]
    assert limits == [MEMORY // 2, MEMORY // 4, MEMORY // 8]


def test_an_item_that_fits_into_less_memory_is_done(cluster, tmp_path):
    assert results(cluster, misbehaving, str(tmp_path), ["lacks memory once"]) == ["lacks memory once"]


def test_any_other_error_is_told_and_not_tried_again(cluster, tmp_path):
    assert results(cluster, misbehaving, str(tmp_path), ["fails", "b"]) == [Failure("KeyError: 'a bug'"), "b"]
    assert len(list(tmp_path.glob("fails-*"))) == 1


def test_workers_share_the_cores(cluster):
    threads = max(1, module.dask.system.CPU_COUNT // 2)
    assert set(results(cluster, thread_counts, None, [0, 1])) == {(threads, threads, str(threads))}


def test_what_is_shared_is_unpacked_once_in_each_process(cluster):
    cluster.client.wait_for_workers(2)  # one may have died in another test
    found = results(cluster, told_process, ["weights"], list(range(6)))
    assert len({process for process, _ in found}) == 2
    assert len(set(found)) == 2


def test_nothing_listens_beyond_this_machine(cluster):
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    listening = [one for process in processes for one in process.net_connections("inet") if one.status == "LISTEN"]
    assert listening
    assert {one.laddr.ip for one in listening} <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("address", ["local:", "local:0", "local:x", "local:9999", "tcp://127.0.0.1:1", "nowhere.json"])
def test_an_address_where_no_scheduler_answers_is_refused_in_one_line(address, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", "1s")
    with pytest.raises(InputError, match="--cluster: expected") as caught, connected(address):
        pass
    assert "\n" not in str(caught.value)


def test_workers_of_another_version_are_refused(monkeypatch):
    class Client:
        def run(self, function):
            return {"tcp://far:1": "0.0.1"}

    with pytest.raises(InputError, match=r"found 0\.0\.1 on tcp://far:1"):
        module._check_versions(Client())


def test_the_environment_of_this_process_is_as_before_when_the_workers_are_gone():
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    script = (
        "import os\n"
        "from point2node.inference.cluster import connected\n"
        f"before = [os.environ.get(name) for name in {names}]\n"
        "with connected('local:1', None):\n"
        "    pass\n"
        f"assert [os.environ.get(name) for name in {names}] == before\n"
    )
    subprocess.run([sys.executable, "-c", f"if __name__ == '__main__':\n{textwrap.indent(script, '    ')}"], check=True)
