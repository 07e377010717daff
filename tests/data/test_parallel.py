import os
import subprocess
import sys
import textwrap

import pytest

from point2node.core.errors import InputError
from point2node.data.parallel import map_unordered


def double(number):
    return 2 * number


def refuse_three(number):
    if number == 3:
        raise InputError("three", expected="another number", found="3", remedy="Count on.")
    return number


def die(number):
    os._exit(9)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_item_comes_back_with_its_place(workers):
    assert dict(map_unordered(double, [5, 6, 7], workers)) == {0: 10, 1: 12, 2: 14}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_input_error_crosses_from_the_worker_whole(workers):
    with pytest.raises(InputError, match=r"three: expected another number, found 3\. Count on\."):
        list(map_unordered(refuse_three, range(6), workers))


def test_a_worker_that_the_system_ends_is_one_clear_error():
    with pytest.raises(InputError, match="Use a smaller --workers"):
        list(map_unordered(die, range(4), 2))


def test_no_items_need_no_workers():
    assert list(map_unordered(double, [])) == []


def run_script(folder, text):
    """A script as a person writes it, without a guard for spawned processes."""
    file = folder / "script.py"
    file.write_text(textwrap.dedent(text))
    return subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=100)


def test_a_script_needs_no_guard(tmp_path):
    found = run_script(
        tmp_path,
        """
        import operator
        from functools import partial
        from point2node.data.parallel import map_unordered
        print("started")
        print(sorted(map_unordered(partial(operator.mul, 2), [5, 6, 7], workers=2)), __file__ is not None)
        """,
    )
    assert found.stdout == "started\n[(0, 10), (1, 12), (2, 14)] True\n", found.stderr


def test_what_a_script_defines_reaches_the_workers_where_it_has_a_guard(tmp_path):
    found = run_script(
        tmp_path,
        """
        from point2node.data.parallel import map_unordered

        def double(number):
            return 2 * number

        if __name__ == "__main__":
            print(sorted(map_unordered(double, [5, 6], workers=2)))
        """,
    )
    assert found.stdout == "[(0, 10), (1, 12)]\n", found.stderr
