import contextlib
import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.data.pickles import load_pickles


class Attack:
    """Runs a command when it is unpickled."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", ["<f4", ">f8", "i4", "u1", "i8", "?"])
def test_arrays_of_numbers_come_back_by_every_protocol(tmp_path, protocol, dtype):
    array = np.arange(12).reshape(4, 3).astype(dtype)
    with (tmp_path / "a.pickle").open("wb") as file:
        pickle.dump([array, array.T, (1, "ä", {"x": array[:0]})], file, protocol)
        pickle.dump({"second": True}, file, protocol)
    first, second = load_pickles(tmp_path / "a.pickle", 2)
    np.testing.assert_array_equal(first[0], array)
    np.testing.assert_array_equal(first[1], array.T)
    assert first[0].dtype == array.dtype
    assert len(first[2][2]["x"]) == 0
    assert list(second.values()) == [True]


def test_a_pickle_that_python_2_wrote_is_read(tmp_path):
    written = (
        b"\x80\x02]q\x00cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b\x87Rq\x03"
        b"(K\x01K\x02K\x03\x86cnumpy\ndtype\nq\x04U\x02i1K\x00K\x01\x87Rq\x05(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff"
        b"\xff\xffK\x00tb\x89U\x06\x01\x02\x03\x04\x05\xfftba."
    )
    (tmp_path / "a.pickle").write_bytes(written)
    ((array,),) = load_pickles(tmp_path / "a.pickle", 1)
    np.testing.assert_array_equal(array, [[1, 2, 3], [4, 5, -1]])


def test_what_stands_in_many_places_is_made_once(tmp_path):
    value = [np.zeros(3)]
    for _ in range(100):  # 2^100 arrays, were each a copy of its own
        value = [value, value]
    (tmp_path / "a.pickle").write_bytes(pickle.dumps(value))
    (found,) = load_pickles(tmp_path / "a.pickle", 1)
    assert found[0] is found[1]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    ("function", "arguments"), [(os.system, ("touch {}",)), (eval, ("open('{}', 'w')",)), (np.save, ("{}", 1))]
)
def test_a_pickle_with_code_in_it_is_refused_and_the_code_never_runs(tmp_path, protocol, function, arguments):
    trace = tmp_path / "trace.npy"
    attack = Attack(function, *(str(one).format(trace) for one in arguments))
    (tmp_path / "a.pickle").write_bytes(pickle.dumps([np.zeros(3), attack], protocol))
    with pytest.raises(InputError, match=r"a\.pickle.*which is refused"):
        load_pickles(tmp_path / "a.pickle", 1)
    assert not trace.exists()


@pytest.mark.parametrize("array", [np.array([object()]), np.array(["text"]), np.zeros(2, [("a", "i4")])])
def test_arrays_of_anything_but_numbers_are_refused(tmp_path, array):
    (tmp_path / "a.pickle").write_bytes(pickle.dumps(array))
    with pytest.raises(InputError, match=r"a\.pickle"):
        load_pickles(tmp_path / "a.pickle", 1)


def test_an_array_that_claims_more_than_it_has_is_refused_without_the_memory(tmp_path):
    honest = pickle.dumps(np.zeros((3, 3)), 2)
    claimed = honest.replace(b"K\x03K\x03\x86", b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86")
    assert claimed != honest
    (tmp_path / "a.pickle").write_bytes(claimed)
    with pytest.raises(InputError, match=r"a\.pickle.*with 9 numbers"):
        load_pickles(tmp_path / "a.pickle", 1)


@given(st.integers(0, 400), st.binary(max_size=4), st.booleans())
def test_a_mutated_or_truncated_pickle_is_read_or_refused(tmp_path_factory, place, noise, cut):
    whole = pickle.dumps([np.arange(6.0).reshape(2, 3), [1, "a"]], 2)
    place %= len(whole)
    mutated = whole[:place] + noise + (b"" if cut else whole[place + len(noise) :])
    path = tmp_path_factory.mktemp("pickles") / "a.pickle"
    path.write_bytes(mutated)
    with contextlib.suppress(InputError):  # any other exception fails the test
        load_pickles(path, 1)
