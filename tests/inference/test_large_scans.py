"""Scans that are larger than memory: cubes, and labels that reach every point."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import Pieces, read, write
from point2node.inference import large_scans
from point2node.inference.labeller import Options
from point2node.inference.large_scans import LargeScan, pieces_if_large, sample_pieces, survey
from tests.inference.labellers import height_labeller, write_real_weights


def in_parts(cloud, size):
    def parts():
        for start in range(0, len(cloud), size):
            yield cloud[start : start + size]

    return Pieces(len(cloud), 24, parts)


def random_cloud(points, seed=0, extent=1.0):
    random = np.random.default_rng(seed)
    return PointCloud(random.uniform(-extent, extent, (points, 3)), rgb=random.integers(0, 256, (points, 3)))


@given(st.integers(1, 200), st.integers(1, 60), st.floats(0.05, 3.0), st.integers(0, 1000))
def test_cubes_are_those_of_a_dictionary(points, size, side, seed):
    cloud = random_cloud(points, seed)
    cubes = survey(in_parts(cloud, size), side, "cloud", None)
    members = {}
    for number, place in enumerate(np.floor((cloud.xyz - cloud.xyz[0]) / side).astype(int).tolist()):
        members.setdefault(tuple(place), []).append(number)
    wanted = [members[place] for place in sorted(members)]
    assert cubes.counts.tolist() == [len(numbers) for numbers in wanted]
    stands = [sorted(members).index(stands_for(place, members)) for place in sorted(members)]
    shown = [wanted[place] for place in sorted(set(stands))]
    np.testing.assert_allclose(cubes.cloud.xyz, [cloud.xyz[numbers].mean(axis=0) for numbers in shown], atol=1e-12)
    np.testing.assert_array_equal(cubes.cloud.rgb, [np.rint(cloud.rgb[numbers].mean(axis=0)) for numbers in shown])
    found = cubes.find(cloud.xyz)
    for place, numbers in zip(stands, wanted, strict=True):
        assert (found[numbers] == sorted(set(stands)).index(place)).all()


def stands_for(place, members):
    """The cube itself, unless one next to it has more than twenty times as many points."""
    fullest = place
    for offset in product((-1, 0, 1), repeat=3):
        other = tuple(np.add(place, offset).tolist())
        if len(members.get(other, ())) > len(members[fullest]):
            fullest = other
    return place if len(members[place]) >= 0.05 * len(members[fullest]) else stands_for(fullest, members)


def test_cubes_with_few_points_next_to_full_ones_are_not_shown():
    random = np.random.default_rng(0)
    surface = np.column_stack([random.uniform(0, 1, (40_000, 2)), np.full(40_000, 0.05)])
    noise = np.column_stack([random.uniform(0.2, 0.8, (60, 2)), random.choice([-0.05, 0.15], 60)])
    farther = noise[:5] + np.array([0, 0, 0.3])  # nothing else is near: furniture, for all we know
    cloud = PointCloud(np.concatenate([[[0, 0, 0]], surface, noise, farther]))
    cubes = survey(in_parts(cloud, 7000), 0.1, "cloud", None)
    heights = cubes.cloud.xyz[:, 2]
    assert len(heights) == 100 + len(np.unique(cubes.find(farther)))
    assert (np.abs(heights[heights < 0.2] - 0.05) < 1e-3).all()
    near = cubes.cloud.xyz[cubes.find(noise)]
    assert (np.abs(near - noise).max(axis=1) < 0.2).all()
    assert cubes.counts.sum() == len(cloud)


def test_points_without_a_cube_have_no_number():
    cloud = random_cloud(50)
    cubes = survey(in_parts(cloud, 20), 0.2, "cloud", None)
    elsewhere = np.array([[np.nan, 0, 0], [1e9, 0, 0], [np.inf, 0, 0], [70.0, 0, 0], [-1e308, 0, 0]])
    assert (cubes.find(elsewhere) == -1).all()


def test_a_scan_without_positions_is_refused():
    cloud = PointCloud(np.full((5, 3), np.nan))
    with pytest.raises(InputError, match="at least one point with a position"):
        survey(in_parts(cloud, 2), 0.1, "cloud", None)


def test_a_scan_whose_cubes_do_not_fit_is_refused():
    with pytest.raises(InputError, match="cubes before its end"):
        survey(in_parts(random_cloud(1000), 100), 1e-5, "cloud", 1000)


def test_every_point_has_the_label_of_its_cube_and_those_without_position_none():
    labeller = height_labeller()
    random = np.random.default_rng(1)
    xyz = random.uniform(0, [3.0, 3.0, 2.4], (20_000, 3))
    xyz[[3, 8_000]] = np.nan
    cloud = PointCloud(xyz)
    pieces = in_parts(cloud, 3000)
    cubes = survey(pieces, 0.03, "cloud", None)
    large = LargeScan(pieces, cubes)
    labelled = large.describe(labeller.label(cubes.cloud, Options(thin=0.06)))
    assert labelled.protocol["points_without_position"] == 2
    assert labelled.protocol["cubes"] == 0.03
    parts = list(large.spread(labelled, None))
    labels = np.concatenate([part.labels for part in parts])
    confidence = np.concatenate([part.confidence for part in parts])
    assert (labels[[3, 8_000]] == labelled.unlabelled).all()
    assert (confidence[[3, 8_000]] == 0).all()
    heights = xyz[:, 2] - np.nanmin(xyz[:, 2])
    clear = np.abs(heights / 0.5 - np.rint(heights / 0.5)) > 0.2  # 10 cm from where the class changes
    assert (labels[clear] == np.floor(heights[clear] / 0.5)).all()


def test_only_what_does_not_fit_is_read_in_pieces(tmp_path):
    write(tmp_path / "cloud.ply", random_cloud(1000))
    assert pieces_if_large(tmp_path / "cloud.ply", 0.03, None) is None
    found = pieces_if_large(tmp_path / "cloud.ply", 0.03, 1)
    assert found is not None
    assert found.points == 1000
    assert pieces_if_large(tmp_path / "cloud.ply", 0.0, 1) is None  # every point goes to the network
    write(tmp_path / "cloud.npz", random_cloud(1000))
    assert pieces_if_large(tmp_path / "cloud.npz", 0.03, 1) is None


def test_a_sample_is_of_the_whole_scan(monkeypatch):
    monkeypatch.setattr(large_scans, "SAMPLE", 10)
    cloud = PointCloud(np.arange(300.0).reshape(100, 3))
    sample = sample_pieces(in_parts(cloud, 30))
    assert len(sample) == 10
    assert sample.xyz[-1].tolist() == cloud.xyz[90].tolist()


def test_the_command_labels_a_large_scan_and_keeps_what_the_file_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(large_scans, "KEPT", 10**12)  # no scan is small enough
    weights = write_real_weights(tmp_path / "fresh.safetensors")
    random = np.random.default_rng(0)
    cloud = PointCloud(
        random.uniform(0, [3.0, 2.5, 2.4], (4000, 3)),
        rgb=random.integers(0, 256, (4000, 3)),
        labels=random.integers(0, 5, 4000),
        fields={"gps_time": np.arange(4000.0)},
    )
    for suffix in (".ply", ".laz"):
        write(Path(f"scan{suffix}"), cloud)
        words = ["predict", f"scan{suffix}", "--weights", str(weights), "--thin", "0.06", "--out", f"out{suffix}"]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        assert "4,000 points do not fit into memory: they are read in pieces" in result.stderr
        assert "4,000 points in" in result.stdout
        target = Path(f"out{suffix}", f"scan_labelled{suffix}")
        labelled, given = read(target), read(Path(f"scan{suffix}"))
        np.testing.assert_array_equal(labelled.xyz, given.xyz)
        np.testing.assert_array_equal(labelled.rgb, given.rgb)
        np.testing.assert_array_equal(labelled.fields["gps_time"], given.fields["gps_time"])
        kept = "label_input" if suffix == ".ply" else "classification_input"
        np.testing.assert_array_equal(labelled.fields[kept], given.labels)
        note = json.loads(target.with_name(target.name + ".classes.json").read_text())
        assert note["points"] == sum(note["counts"].values()) == 4000
        assert note["counts"] == {one["name"]: int((labelled.labels == one["value"]).sum()) for one in note["classes"]}
        assert target.with_suffix(".html").is_file()
        again = CliRunner().invoke(app, words)
        assert "labelled before" in again.stdout


def test_rules_that_need_the_labels_of_every_point_are_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(large_scans, "KEPT", 10**12)
    weights = write_real_weights(tmp_path / "fresh.safetensors")
    write(Path("scan.ply"), random_cloud(500).with_(labels=np.zeros(500, np.int32)))
    words = ["predict", "scan.ply", "--weights", str(weights), "--thin", "0.06", "--protect", "0"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "expected a scan that fits into memory, for --protect" in result.stderr
    assert "read in pieces\n" not in result.stderr  # before any work
