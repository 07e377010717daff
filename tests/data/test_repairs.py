import pytest

from point2node.data.number_lines import XYZ_RGB
from point2node.data.repairs import repair_file, repair_line, repaired_copy
from tests.data.layouts import KNOWN_DAMAGE


@pytest.mark.parametrize(("damaged", "original"), KNOWN_DAMAGE.values())
def test_every_known_damage_is_undone_by_setting_the_cleared_bit(damaged, original):
    assert repair_line(damaged, XYZ_RGB) == original


@pytest.mark.parametrize(
    ("damaged", "repaired"),
    [
        (b"1 2 3 185\x01187 5", b"1 2 3 185 187 5"),
        (b"1\x01.5 2 3 4 5 6", b"1.5 2 3 4 5 6"),
        (b"1 2 3 \x01 4 5 6", b"1 2 3   4 5 6"),
    ],
)
def test_other_control_bytes_are_replaced_or_removed_if_that_gives_a_sound_line(damaged, repaired):
    assert repair_line(damaged, XYZ_RGB) == repaired


@pytest.mark.parametrize(
    "line",
    [
        b"1 2 3 4 5",
        b"1 2 3 O 5 6",
        b"1 2 3 4 5 6\r7 8 9 1 2 3",
        b"1\x01.5 2 3 185\x01187 5",  # one byte would have to go and the other to separate
        b"1 2 3 999\x004 5",
    ],
)
def test_what_is_ambiguous_or_not_a_control_byte_is_refused(line):
    assert repair_line(line, XYZ_RGB) is None


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_sound_lines_and_line_ends_keep_every_byte(end):
    lines = [b" 1 2 3\t4 5 6 ", b"1 2 3 185\x00187 5", b"", b"1 2", b"1 2 3 4 5 6"]
    corrected, repaired = repair_file(end.join(lines), XYZ_RGB)
    assert repaired == {2: b"1 2 3 185 187 5", 4: None}
    assert corrected == end.join([lines[0], b"1 2 3 185 187 5", *lines[2:]])


def test_a_corrected_copy_is_used_only_where_there_is_one(tmp_path):
    root, repairs = tmp_path / "root", tmp_path / "repairs"
    file = root / "Area_1" / "a.txt"
    assert repaired_copy(file, root, None) == file
    assert repaired_copy(file, root, repairs) == file
    (repairs / "Area_1").mkdir(parents=True)
    (repairs / "Area_1" / "a.txt").touch()
    assert repaired_copy(file, root, repairs) == repairs / "Area_1" / "a.txt"
