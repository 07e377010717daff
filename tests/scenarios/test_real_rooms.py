"""``python -m experiments real_rooms`` on a folder of generated rooms, in the layout of real ones."""

import json
import subprocess
import sys

import numpy as np
import pytest

import experiments.running
import point2node
from experiments import features, real_rooms
from point2node.core.classes import S3DIS
from point2node.core.point_cloud import PointCloud
from point2node.data.class_file import read_class_file
from point2node.inference.labeller import Options
from tests.inference.labellers import write_real_weights
from tests.training.stores import write_scenes

NAMES = [one.name for one in S3DIS]
KINDS = {"handheld": ("flat", "house"), "panoramic": ("office",)}
POINTS = 400


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Three rooms of two scanner kinds; only one has colours, and some points of each are not labelled."""
    folder = tmp_path_factory.mktemp("real")
    lines = [f"  - {{name: {one.name}, value: {one.value}}}" for one in reversed(S3DIS)]
    (folder / "classes.yaml").write_text("\n".join(["classes:", *lines, "ignore: [255]"]) + "\n")
    random = np.random.default_rng(0)
    for kind, names in KINDS.items():
        (folder / kind / "test").mkdir(parents=True)
        for name in names:
            labels = random.choice([0, 1, 2, 11, 12, 255], POINTS)
            rgb = random.integers(0, 256, (POINTS, 3)) if name == "flat" else None
            cloud = PointCloud(random.uniform(0, [3, 2, 2.5], (POINTS, 3)), rgb=rgb, labels=labels)
            point2node.write(folder / kind / "test" / f"{name}.npz", cloud)
    return folder


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_real_weights(tmp_path_factory.mktemp("weights") / "fresh.safetensors")


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments.running, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def test_figures_are_pooled_by_scanner_kind_and_rooms_are_drawn(real, weights, tmp_path, results):
    real_rooms.make_table(str(weights), real, tmp_path / "pictures")
    (found,) = json.loads((results / "real_rooms.json").read_text())["figures"]
    assert {kind: tuple(figures["rooms"]) for kind, figures in found["kinds"].items()} == KINDS
    for kind, figures in found["kinds"].items():
        labels = [np.load(real / kind / "test" / f"{name}.npz")["labels"] for name in KINDS[kind]]
        counts = np.bincount(np.concatenate(labels), minlength=256)[:13]
        confusion = np.array(figures["confusion"])
        assert confusion.sum(axis=1).tolist() == counts.tolist()
        assert figures["oa"] == pytest.approx(np.trace(confusion) / counts.sum())
        assert figures["iou"]["beam"] is None
    for key in ("oa", "macc", "miou", "miou_eleven", "ece"):
        assert found["mean"][key] == pytest.approx(np.mean([kind[key] for kind in found["kinds"].values()]))
    assert [one["coloured"] for kind in found["kinds"].values() for one in kind["rooms"].values()] == [
        True,
        False,
        False,
    ]
    pictures = sorted((tmp_path / "pictures").iterdir())
    assert [file.name for file in pictures] == ["handheld_flat.png", "handheld_house.png", "panoramic_office.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures)


def test_generated_rooms_are_scored_next_to_real_ones_and_groups_are_counted(real, weights, tmp_path, results):
    store = write_scenes(tmp_path / "store", {"test": ("a",)})
    for quality in ("best", "fast"):
        real_rooms.make_table(str(weights), real, tmp_path / "pictures", Options(quality=quality), store.path)
    best, fast = json.loads((results / "real_rooms.json").read_text())["figures"]
    assert [*best["kinds"]] == ["handheld", "panoramic", "generated"]
    assert best["mean"]["oa"] == pytest.approx(np.mean([best["kinds"][kind]["oa"] for kind in KINDS]))
    assert best["kinds"]["generated"]["points"] == len(store.load("a"))
    assert all(kind["groups"] > fast["kinds"][name]["groups"] > 0 for name, kind in best["kinds"].items())
    assert ", fast |" in (results / "real_rooms.md").read_text()


def test_rooms_can_be_labelled_as_scans_larger_than_memory_are(real, weights, tmp_path, results):
    for in_pieces in (False, True):
        real_rooms.make_table(str(weights), real, tmp_path / "pictures", Options(thin=0.1), in_pieces=in_pieces)
    whole, pieces = json.loads((results / "real_rooms.json").read_text())["figures"]
    assert pieces["protocol"]["cubes"] == 0.05
    for kind in KINDS:
        assert pieces["kinds"][kind]["points"] == whole["kinds"][kind]["points"]
    assert ", in pieces |" in (results / "real_rooms.md").read_text()


def test_labels_are_those_that_users_get(real, weights, tmp_path, results):
    real_rooms.make_table(str(weights), real, tmp_path / "pictures")
    (found,) = json.loads((results / "real_rooms.json").read_text())["figures"]
    cloud = point2node.read(real / "panoramic" / "test" / "office.npz")
    labels = point2node.load(str(weights))(cloud).labels
    known = cloud.labels != 255
    expected = (labels == cloud.labels)[known].mean()
    assert found["kinds"]["panoramic"]["oa"] == pytest.approx(expected)


def test_the_same_weights_have_one_entry_and_the_last_measured_tables_of_their_own(real, weights, tmp_path, results):
    others = write_real_weights(tmp_path / "others.safetensors", width=2)
    for file in (weights, others, weights):
        real_rooms.make_table(str(file), real, tmp_path / "pictures")
    figures = json.loads((results / "real_rooms.json").read_text())["figures"]
    assert [one["weights"] for one in figures] == ["others", "fresh"]
    table = (results / "real_rooms.md").read_text()
    (means,) = (part for part in table.split("\n\n") if part.startswith("| mean of the kinds"))
    assert [means.count(f"| {name} (") for name in ("others", "fresh")] == [1, 1]
    by_scanner = table[: table.index("| mean of the kinds")]
    assert by_scanner.count("| mean of the real kinds |") == 1
    assert all(by_scanner.count(f"\n| {name} |") == 1 for name in NAMES)
    assert "others" not in by_scanner


def test_eleven_classes_leave_out_true_boards_and_clutter_but_not_wrong_guesses_of_them():
    confusion = np.zeros((13, 13), np.int64)
    wall, door, board, clutter = map(NAMES.index, ("wall", "door", "board", "clutter"))
    confusion[wall, wall], confusion[wall, board], confusion[wall, door] = 6, 3, 1
    confusion[door, door] = 4
    confusion[board, wall], confusion[clutter, door] = 50, 70
    scores = real_rooms.score_without(confusion, NAMES)
    assert scores.iou["wall"] == pytest.approx(6 / 10)
    assert scores.iou["door"] == pytest.approx(4 / 5)
    assert np.isnan(scores.iou["board"])
    assert scores.miou == pytest.approx((6 / 10 + 4 / 5) / 2)


def test_true_labels_follow_the_names_of_the_class_file_whatever_its_order(real):
    classes, ignored = read_class_file(real / "classes.yaml")
    assert [one.name for one in classes] == NAMES[::-1]
    assert ignored == (255,)
    ((_, cloud, truth),) = real_rooms.read_rooms(real / "panoramic", real / "classes.yaml", "test", S3DIS)
    stored = np.load(real / "panoramic" / "test" / "office.npz")["labels"]
    assert np.array_equal(truth, np.where(stored == 255, -1, stored))
    assert cloud.labels is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "needs --real"),
        (("--real", "nowhere"), "expected folders of scanner kinds"),
        (("--real", "{tmp}"), "expected folders of scanner kinds"),
    ],
)
def test_a_folder_without_rooms_is_refused_in_one_line(tmp_path, arguments, told):
    words = [word.format(tmp=tmp_path) for word in arguments]
    command = [sys.executable, "-m", "experiments", "real_rooms", *words]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 2
    assert told in found.stderr
    assert "Traceback" not in found.stderr


def test_classes_that_the_weights_do_not_know_are_refused(real, tmp_path):
    file = tmp_path / "classes.yaml"
    file.write_text((real / "classes.yaml").read_text().replace("sofa", "piano"))
    with pytest.raises(point2node.InputError, match="found piano"):
        list(real_rooms.read_rooms(real / "panoramic", file, "test", S3DIS))


def test_features_of_single_points_are_compared_on_real_rooms(real, results, monkeypatch):
    for name, value in {"ROOMS": 2, "STEPS": 3, "SEEDS": (0,), "CELLS_EACH": 300}.items():
        monkeypatch.setattr(features, name, value)
    features.make_table(real)
    found = json.loads((results / "features.json").read_text())["figures"]
    assert [one["features"] for one in found] == [list(one) for one in features.SETS]
    assert all(0 <= kind["oa"] <= 1 for one in found for kind in one["kinds"].values())
