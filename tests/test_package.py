import os
import subprocess
import sys

import pytest

import point2node


def test_every_public_name_can_be_imported():
    for name in point2node.__all__:
        assert getattr(point2node, name) is not None
    assert dir(point2node) == sorted(point2node.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = point2node.nothing


def test_importing_the_package_imports_neither_torch_nor_numba():
    program = "import sys, point2node; sys.exit('torch' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_example_in_the_docstring_runs():
    lines = point2node.__doc__.splitlines()
    example = "\n".join(line[4:] for line in lines if line.startswith("    "))
    namespace = {}
    exec(example, namespace)
    assert namespace["logits"].shape == (1000, 4)


@pytest.mark.parametrize(("before", "after"), [(None, "10000"), ("0", "0")])
def test_idle_threads_spin_briefly_unless_the_user_decided(before, after):
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    if before is not None:
        environment["GOMP_SPINCOUNT"] = before
    program = "import os, point2node; print(os.environ['GOMP_SPINCOUNT'])"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{after}\n"
