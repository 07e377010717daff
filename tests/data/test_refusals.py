import errno
from pathlib import Path

import pytest

from point2node.core.errors import InputError
from point2node.data.refusals import refusals_named


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "a/b.txt"), "a/b.txt: .*found permission denied"),
        (OSError(errno.ENOSPC, "No space left on device"), "store: .*found no space left on device"),
        (OSError("10 requested and 3 written"), "store: .*found 10 requested and 3 written"),
    ],
)
def test_what_the_system_refuses_is_named(error, message):
    with pytest.raises(InputError, match=message), refusals_named(Path("store")):
        raise error


def test_a_closed_pipe_is_no_refusal():
    with pytest.raises(BrokenPipeError), refusals_named(Path("store")):
        raise BrokenPipeError
