"""The front door: what a person types first works, and what cannot work says why in one line."""

from typing import get_args, get_overloads, get_type_hints

import numpy as np
import pytest

import point2node
from point2node import InputError, Labelled, Labeller, PointCloud, ShapeClassifier
from point2node.geometry.blocks import BlockRules
from point2node.inference.explainer import Explainer
from point2node.inference.labeller import Options
from point2node.models.pretrained import pretrained_names
from point2node.weights.trained import load_trained
from tests.inference.labellers import write_real_weights
from tests.training.stores import random_cloud, write_scenes, write_shapes


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_real_weights(tmp_path_factory.mktemp("weights") / "fresh.safetensors")


@pytest.fixture(scope="module")
def labeller(weights):
    return Labeller.from_pretrained(weights, device="cpu")


@pytest.fixture(scope="module")
def cloud():
    return random_cloud(600).with_(labels=None)


@pytest.fixture(scope="module")
def labelled(labeller, cloud):
    return labeller(cloud)


def test_a_file_an_array_and_a_cloud_get_the_same_labels(labeller, labelled, cloud, tmp_path):
    point2node.write(tmp_path / "scan.ply", cloud)
    array = np.column_stack([cloud.xyz, cloud.rgb])
    for given in (tmp_path / "scan.ply", str(tmp_path / "scan.ply"), array):
        assert np.array_equal(labeller(given).labels, labelled.labels)
    assert labeller(str(tmp_path / "scan.ply")).name == str(tmp_path / "scan.ply")
    assert (labeller(array).name, labelled.name) == ("array", "cloud")


def test_the_labels_are_those_of_the_engine(labeller, labelled, cloud):
    plain = labeller.label(cloud, Options(scale=1.0))
    assert np.array_equal(plain.labels, labelled.labels)
    assert np.array_equal(plain.confidence, labelled.confidence)
    assert plain.protocol == labelled.protocol


def test_every_option_arrives(labeller, cloud):
    told = []
    lying = cloud.with_(xyz=cloud.xyz[:, [0, 2, 1]] * [1000, 1000, -1000])
    given = {"scale": 0.001, "up": "y", "color": False, "votes": 2, "thin": 0.2, "smooth": True, "memory": 4e9}
    given |= {"norm_share": 0.5}
    labelled = labeller(lying, **given, progress=lambda *state: told.append(state))
    assert {name: getattr(labelled.options, name) for name in given} == given
    assert labelled.protocol["colour"] == "none"
    assert labelled.protocol["votes"] == 2
    done, total, name = told[-1]
    assert (done == total < len(cloud), name) == (True, "cloud")


def test_quality_arrives_and_is_refused_next_to_votes(labeller, cloud):
    fast = labeller(cloud, quality="fast")
    assert (fast.options.quality, fast.protocol["quality"], fast.protocol["looks"]) == ("fast", "fast", 1)
    with pytest.raises(InputError, match="votes: expected no quality"):
        labeller(cloud, quality="best", votes=2)


def test_a_scan_in_millimetres_is_taken_as_one(labeller, labelled, cloud):
    large = labeller(cloud.with_(xyz=1000 * cloud.xyz))
    assert large.options.scale == 0.001
    assert (large.labels == labelled.labels).mean() > 0.99


def test_doubts_about_a_scan_come_with_its_labels(labeller, labelled, cloud):
    assert not any("colour" in doubt for doubt in labelled.doubts)
    assert any("no colour" in doubt for doubt in labeller(cloud.xyz).doubts)


def test_a_labelled_scan_is_saved_and_becomes_a_page(labelled, tmp_path):
    path = labelled.save(tmp_path / "out.ply")
    assert np.array_equal(point2node.read(path).labels, labelled.labels)
    page = labelled.page(tmp_path / "out.html").read_text()
    assert "600 points" in page
    assert "fresh" in page
    with pytest.raises(InputError, match="expected a file that can be written"):
        labelled.page(tmp_path / "nowhere/out.html")


def test_a_point_is_explained_as_the_scan_was_labelled(labeller, labelled, cloud):
    why, expected = labelled.explain(7), Explainer(labeller, cloud, labelled.options).explain(7)
    assert why.point == 7
    assert np.array_equal(why.non_local, expected.non_local)
    with pytest.raises(InputError, match="point: expected the number of a point with a position, found 600"):
        labelled.explain(600)


def test_what_is_no_scan_is_refused_in_one_line(labeller, tmp_path):
    (tmp_path / "empty.ply").touch()
    for given, match in (
        (tmp_path / "none.laz", "no such file"),
        (tmp_path / "empty.ply", "an empty file"),
        ("scan.docx", "suffix: expected one of"),
        (np.zeros((5, 4)), r"array: expected an array of shape \(N, 3\), .* found shape \(5, 4\)"),
        (np.array(["a"]), "expected an array of shape"),
        (np.full((5, 3), np.nan), "array: expected at least one point with a position"),
        (PointCloud(np.empty((0, 3))), "cloud: expected at least one point"),
        ([[1, 2, 3]], "scan: expected a file, an array .* or a PointCloud, found a list"),
        (None, "found a NoneType"),
    ):
        with pytest.raises(InputError, match=match) as caught:
            labeller(given)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"scale": 0}, {"up": "w"}, {"votes": 0}, {"thin": -1}, {"memory": 1}, {"scale": float("nan")}]
)
def test_options_that_mean_nothing_are_refused(labeller, cloud, options):
    with pytest.raises(InputError):
        labeller(cloud, **options)


def test_representations_say_what_there_is(labeller, labelled, cloud):
    assert repr(cloud) == "<PointCloud: 600 points, 2.994 × 1.983 × 2.498 with rgb>"
    assert repr(PointCloud(np.full((1, 3), np.nan))) == "<PointCloud: 1 points, no positions>"
    assert repr(labeller).startswith("<Labeller: weights 'fresh', 13 classes, point2node with ")
    assert repr(labeller).endswith(" million parameters on cpu>")
    assert repr(labelled).startswith("<Labelled: 600 points by 'fresh': ")


def test_the_types_of_load_are_those_of_the_shipped_weights():
    kinds = {}
    for form in get_overloads(point2node.load):
        hints = get_type_hints(form)
        kinds |= dict.fromkeys(get_args(hints["name"]), hints["return"])
    for name in pretrained_names():
        assert isinstance(point2node.load(name), kinds[name])


def test_weights_that_were_saved_label_alike(labeller, labelled, cloud, tmp_path):
    folder = labeller.save_pretrained(tmp_path / "mine")
    again = point2node.load(folder)
    assert again.name == "mine"
    assert np.array_equal(again(cloud).labels, labelled.labels)
    assert load_trained(folder).card == labeller.trained.card


def test_weights_for_the_other_task_are_refused(weights):
    with pytest.raises(InputError, match="expected weights that classify whole shapes, found weights that label"):
        ShapeClassifier.from_pretrained(weights)
    with pytest.raises(InputError, match="expected weights that label points"):
        Labeller.from_pretrained("modelnet10")


def test_a_device_that_is_not_there_is_refused(weights):
    for device in ("gpu", "cuda:99"):
        with pytest.raises(InputError, match=f"device: expected a device that is available to torch.*found '{device}'"):
            Labeller.from_pretrained(weights, device=device)


def test_a_result_is_of_the_public_type(labelled):
    assert type(labelled) is Labelled


def test_a_network_of_a_plain_loop_labels_scans(cloud, tmp_path):
    store = write_scenes(tmp_path / "store", {"train": ("a",)})
    rules = BlockRules(1.0, 0.05, 128)
    blocks = point2node.RoomBlocks(store, store.scenes("train"), 192, ("rgb", "height"), rules=rules, frame="block")
    model = point2node.create_model(preset="tiny", in_features=4)
    labeller = Labeller.from_pretrained(model.save_pretrained(tmp_path / "mine", trained_on=blocks.card))
    card = labeller.trained.card
    assert (card.features, card.points, card.block_rules, card.frame) == (("rgb", "height"), 192, rules, "block")
    assert labeller.classes == store.classes
    assert len(labeller(cloud)) == len(cloud)


def test_a_network_of_a_plain_loop_names_shapes(tmp_path):
    store = write_shapes(tmp_path / "store", points=64)
    shapes = point2node.ShapeClouds(store, "train", 64)
    model = point2node.create_model("pointnet", preset="modelnet10", num_classes=3)
    classifier = ShapeClassifier.from_pretrained(model.save_pretrained(tmp_path / "mine", trained_on=shapes.card))
    assert {guess.name for guess in classifier(np.asarray(shapes[0].xyz))} == {"bed", "chair", "desk"}
