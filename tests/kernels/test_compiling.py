"""Kernels of a small package in a folder of its own, compiled by real processes."""

import os
import shutil
import subprocess
import sys

import pytest

KERNELS = """
from point2node.kernels.compiling import kernel
from shelf.factors import factor
from shelf.offset import OFFSET

@kernel()
def scale(x):
    return factor() * x + OFFSET
"""
FACTORS = """
from numba import njit

@njit
def factor():
    return {}
"""
USE = """
import sys
import numpy as np
from shelf.kernels import scale
for dtype in sys.argv[1:]:
    print(scale(np.dtype(dtype).type(3)), sum(scale.stats.cache_hits.values()))
"""


@pytest.fixture
def shelf(tmp_path):
    package = tmp_path / "shelf"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "kernels.py").write_text(KERNELS)
    (package / "factors.py").write_text(FACTORS.format(2))
    (package / "offset.py").write_text("OFFSET = 0")
    return package


def start(shelf, *dtypes, before="", **environment):
    paths = os.pathsep.join([str(shelf.parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-c", before + USE, *dtypes]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert not errors
    return [tuple(map(float, line.split())) for line in output.splitlines()]


def use(shelf, *dtypes, **environment):
    """(result of the kernel on 3, pieces of code found on disk so far) for each type of number."""
    return finish(start(shelf, *dtypes, **environment))


def code_in(folder):
    return sorted(path.name for path in folder.rglob("*") if ".nbc" in path.name)


def block_in_tree(shelf):
    """Even the administrator cannot make a folder where a file is."""
    shutil.rmtree(shelf / "__pycache__", ignore_errors=True)
    (shelf / "__pycache__").touch()


def test_the_second_process_finds_the_code_of_the_first(shelf):
    assert use(shelf, "f4", "f8") == [(6, 0), (6, 0)]
    assert len(code_in(shelf)) == 2
    assert use(shelf, "f4", "f8") == [(6, 1), (6, 2)]
    assert len(code_in(shelf)) == 2


def test_code_is_renewed_when_a_function_in_another_file_changes(shelf):
    use(shelf, "f4")
    (shelf / "factors.py").write_text(FACTORS.format(5))
    assert use(shelf, "f4") == [(15, 0)]
    (shelf / "factors.py").write_text(FACTORS.format(2))
    assert use(shelf, "f4") == [(6, 1)]


def test_code_is_renewed_when_a_number_in_another_file_changes(shelf):
    use(shelf, "f4")
    (shelf / "offset.py").write_text("OFFSET = 1")
    assert use(shelf, "f4") == [(7, 0)]


def test_processes_that_compile_at_the_same_time_do_not_disturb_each_other(shelf):
    processes = [start(shelf, dtype) for dtype in ("i4", "f4", "f8", "f8")]
    assert [finish(process)[0][0] for process in processes] == [6, 6, 6, 6]
    assert use(shelf, "i4", "f4", "f8") == [(6, 1), (6, 2), (6, 3)]
    assert len(code_in(shelf)) == 3


def test_beside_a_read_only_package_code_is_kept_in_the_users_cache(shelf, tmp_path):
    block_in_tree(shelf)
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert use(shelf, "f4", **home) == [(6, 0)]
    assert use(shelf, "f4", **home) == [(6, 1)]


def test_with_no_place_for_it_code_is_compiled_in_memory(shelf):
    block_in_tree(shelf)
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/cache", "NUMBA_CACHE_DIR": "/dev/null/numba"}
    assert use(shelf, "f4", **nowhere) == [(6, 0)]
    assert use(shelf, "f4", **nowhere) == [(6, 0)]


def test_a_folder_that_can_no_longer_be_written_to_does_no_harm(shelf):
    program = (
        "import pathlib, shutil, sys\nfrom shelf.kernels import scale\n"
        "folder = pathlib.Path(sys.argv[1])\nshutil.rmtree(folder)\nfolder.touch()\nassert scale(3) == 6"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(shelf.parent), *sys.path])}
    subprocess.run([sys.executable, "-c", program, shelf / "__pycache__"], env=environment, check=True)


CHANGES = {
    "the cache has moved": "del numba.core.caching.FunctionCache",
    "the cache is made otherwise": "numba.core.caching.FunctionCache.__init__ = lambda self: None",
    "its parts are called otherwise": "numba.core.caching.FunctionCache._impl_class = lambda function: object()",
    "loading works otherwise": "del numba.core.caching.Cache._index_key",
}
NUMBA = "import numba.core.caching, numba.core.ccallback\n"  # the second uses the first, from the first kernel on


@pytest.mark.parametrize("change", CHANGES)
def test_with_a_numba_whose_private_parts_have_changed_kernels_are_compiled_in_memory(shelf, change):
    assert use(shelf, "f4", before=NUMBA + CHANGES[change]) == [(6, 0)]
    assert not code_in(shelf)


@pytest.mark.slow
def test_the_package_works_with_no_place_for_its_code():
    program = "import torch, point2node\nx = torch.rand(1, 40, 3)\npoint2node.dilated_k_nearest_neighbours(x, x, 4)"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "NUMBA_CACHE_DIR": "/dev/null/numba",
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator",
    }
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


ANNOUNCED = """
import numpy as np
from point2node.kernels.compiling import announce_compiling
from shelf.kernels import scale
with announce_compiling(lambda: print("compiling")):
    print(scale(3), scale(3.0), scale(np.float32(3)))
scale(np.int8(3))
"""


def test_the_first_kernel_that_has_to_be_compiled_is_announced_once(shelf):
    paths = os.pathsep.join([str(shelf.parent), *sys.path])
    command = [sys.executable, "-c", ANNOUNCED]
    environment = {**os.environ, "PYTHONPATH": paths}
    said = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert said == [["compiling", "6", "6.0", "6.0"], ["6", "6.0", "6.0"]]
