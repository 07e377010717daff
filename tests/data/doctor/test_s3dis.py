import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.data.doctor.s3dis import examine_s3dis
from tests.data.layouts import KNOWN_DAMAGE, write_damaged_s3dis, write_room, write_s3dis, write_whole_s3dis


def said(diagnosis):
    return [str(finding) for finding in diagnosis.findings]


def test_a_whole_copy_has_no_findings(tmp_path):
    diagnosis = examine_s3dis(write_whole_s3dis(tmp_path))
    assert said(diagnosis) == []
    assert sum(diagnosis.counts.values()) == 272


def test_missing_rooms_are_counted_by_area(tmp_path):
    write_s3dis(tmp_path)
    assert "Area_1: 2 rooms, expected 44" in said(examine_s3dis(tmp_path, workers=1))
    assert "Area_6: 0 rooms, expected 48" in said(examine_s3dis(tmp_path, workers=1))


@pytest.mark.parametrize("path", KNOWN_DAMAGE)
def test_every_known_damage_is_named_by_path_line_and_bytes(tmp_path, path):
    write_damaged_s3dis(tmp_path)
    damaged, original = (repr(line)[2:-1] for line in KNOWN_DAMAGE[path])
    expected = f"{path}, line 2: expected six numbers x y z r g b, found '{damaged}'; repairable as '{original}'"
    assert expected in said(examine_s3dis(tmp_path, workers=1))


def test_repairing_writes_only_the_corrected_files_and_leaves_the_originals(tmp_path):
    root, repairs = write_damaged_s3dis(tmp_path / "root"), tmp_path / "repairs"
    before = {path: path.read_bytes() for path in root.rglob("*.txt")}
    diagnosis = examine_s3dis(root, repairs, workers=1)
    written = sorted(path.relative_to(repairs).as_posix() for path in repairs.rglob("*") if path.is_file())
    assert written == sorted(KNOWN_DAMAGE) == sorted(diagnosis.repaired)
    for path, (damaged, original) in KNOWN_DAMAGE.items():
        assert (repairs / path).read_bytes() == before[root / path].replace(damaged, original)
    assert {path: path.read_bytes() for path in root.rglob("*.txt")} == before


def test_what_cannot_be_repaired_is_said_and_left(tmp_path):
    write_room(
        tmp_path / "root" / "Area_1", "office_1", {"wall_1": [b"1 2 3 4 5 6", b"1 2 3 O 5 6", b"1 2\x003 4 5 6"]}
    )
    findings = said(examine_s3dis(tmp_path / "root", tmp_path / "repairs", workers=1))
    assert any("line 2" in one and one.endswith("not repairable without guessing") for one in findings)
    corrected = (tmp_path / "repairs/Area_1/office_1/Annotations/wall_1.txt").read_bytes()
    assert corrected.splitlines() == [b"1 2 3 4 5 6", b"1 2 3 O 5 6", b"1 2 3 4 5 6"]


def test_wrong_names_unknown_classes_missing_files_and_empty_rooms_are_named(tmp_path):
    write_damaged_s3dis(tmp_path)
    room = write_room(tmp_path / "Area_1", "office_9", {"lamp_1": 2, "stairs_1": 2, "wall_1": []})
    (room / "office_9.txt").unlink()
    (room / "Annotations" / ".DS_Store").write_bytes(b"\x00")
    (tmp_path / "Area_1" / "storage_1" / "Annotations").mkdir(parents=True)
    findings = said(examine_s3dis(tmp_path, workers=1))
    assert "Area_6/copyRoom_1/copy_Room_1.txt: wrong name: expected copyRoom_1.txt" in findings
    assert "Area_1/office_9/Annotations/lamp_1.txt: unknown class 'lamp', counted as clutter" in findings
    assert "Area_1/office_9/Annotations/wall_1.txt: no points" in findings
    assert "Area_1/office_9/office_9.txt: missing file" in findings
    assert "Area_1/storage_1/Annotations: empty room: no <class>_<number>.txt" in findings
    assert not any("stairs" in one or "DS_Store" in one for one in findings)


def test_preprocessed_rooms_that_cannot_be_read_are_named(tmp_path):
    np.save(tmp_path / "Area_1_office_1.npy", np.zeros((3, 7)))
    np.save(tmp_path / "Area_1_office_2.npy", np.zeros((3, 6)))
    np.save(tmp_path / "office_3.npy", np.zeros((3, 7)))
    diagnosis = examine_s3dis(tmp_path, workers=1)
    assert diagnosis.counts == {"Area_1": 1}
    assert said(diagnosis)[0].startswith("Area_1_office_2.npy: expected an array of shape (N, 7)")
    assert "office_3.npy: not named Area_k_<room>.npy, left out" in said(diagnosis)


def test_something_else_is_unreadable(tmp_path):
    with pytest.raises(InputError):
        examine_s3dis(tmp_path, workers=1)
