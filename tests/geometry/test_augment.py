import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.geometry.augment import Augmentation, smooth_noise, swap_part, transform_normals, transform_points

ALL_ANGLES = Augmentation(turn=math.pi, tilt=math.pi / 72, scale=0.05)

seeds = st.integers(0, 2**32)


def matrix_of(augmentation, seed):
    return augmentation.draw(np.random.default_rng(seed))


@given(seeds)
def test_without_scaling_distances_stay(seed):
    matrix = matrix_of(Augmentation(turn=math.pi, tilt=0.3), seed)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(matrix) > 0


@given(seeds)
def test_a_turn_about_the_vertical_keeps_heights(seed):
    xyz = np.random.default_rng(seed).normal(size=(20, 3))
    turned = transform_points(xyz, matrix_of(Augmentation(turn=math.pi), seed))
    np.testing.assert_allclose(turned[:, 2], xyz[:, 2])
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(xyz, axis=1))


@given(seeds)
def test_scales_stay_within_three_standard_deviations(seed):
    scales = np.diag(matrix_of(Augmentation(scale=0.1), seed))
    assert np.all(np.abs(scales - 1) <= 0.3 + 1e-12)


@given(seeds)
def test_a_turn_is_composed_with_the_scaling_not_multiplied_element_by_element(seed):
    matrix = matrix_of(Augmentation(turn=math.pi, scale=0.1), seed)
    scales = np.linalg.norm(matrix, axis=0)
    rotation = matrix / scales
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=1e-9)


@given(seeds)
def test_normals_stay_perpendicular_to_their_surface_and_of_unit_length(seed):
    random = np.random.default_rng(seed)
    tangents = random.normal(size=(2, 3))
    normal = np.cross(*tangents)
    normal /= np.linalg.norm(normal)
    matrix = matrix_of(ALL_ANGLES, seed)
    turned = transform_normals(normal[None], matrix)[0]
    np.testing.assert_allclose(transform_points(tangents, matrix) @ turned, 0, atol=1e-7 * np.abs(tangents).max())
    np.testing.assert_allclose(np.linalg.norm(turned), 1)


def test_a_missing_normal_stays_zero():
    assert not transform_normals(np.zeros((1, 3), np.float32), matrix_of(ALL_ANGLES, 0)).any()


def test_single_precision_stays_single_precision():
    assert transform_points(np.zeros((1, 3), np.float32), matrix_of(ALL_ANGLES, 0)).dtype == np.float32


def test_the_same_generator_draws_the_same_matrix():
    assert np.array_equal(matrix_of(ALL_ANGLES, 5), matrix_of(ALL_ANGLES, 5))
    assert not np.array_equal(matrix_of(ALL_ANGLES, 5), matrix_of(ALL_ANGLES, 6))


def test_a_mirrored_cloud_is_the_other_hand():
    mirrored = Augmentation(turn=1.0, mirror=1.0).draw(np.random.default_rng(0))
    assert np.linalg.det(mirrored) == pytest.approx(-1)
    assert np.linalg.det(Augmentation(turn=1.0).draw(np.random.default_rng(0))) == pytest.approx(1)


def test_noise_is_bounded_and_has_the_asked_deviation():
    xyz = np.zeros((20000, 3), np.float32)
    shaken = Augmentation(jitter=0.01).shake(xyz, np.random.default_rng(0))
    assert shaken.dtype == np.float32
    assert shaken.std() == pytest.approx(0.01, rel=0.05)
    assert np.abs(shaken).max() <= 0.0300001
    assert Augmentation().shake(xyz, np.random.default_rng(0)) is xyz


def test_colours_are_dropped_as_often_as_asked_and_stay_in_their_range():
    rgb = np.random.default_rng(1).uniform(-0.5, 0.5, (50, 3)).astype(np.float32)
    light = Augmentation(colour_drop=0.25, colour_jitter=0.3)
    drawn = [light.recolour(rgb, np.random.default_rng(seed)) for seed in range(400)]
    assert np.mean([not colours.any() for colours in drawn]) == pytest.approx(0.25, abs=0.06)
    assert max(np.abs(colours).max() for colours in drawn) <= 0.5
    assert not np.array_equal(drawn[0], drawn[1])
    assert Augmentation().recolour(rgb, np.random.default_rng(0)) is rgb


def test_a_cloud_is_raised_as_a_whole():
    xyz = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    moved = [Augmentation(height_shift=0.1).shake(xyz, np.random.default_rng(seed)) - xyz for seed in range(300)]
    assert all(np.ptp(shift, axis=0).max() < 1e-6 and not shift[:, :2].any() for shift in moved)
    assert np.std([shift[0, 2] for shift in moved]) == pytest.approx(0.1, rel=0.15)


@given(seeds, st.floats(-1, 5))
def test_what_is_left_of_a_scan_without_its_top_is_all_below_some_height_and_never_nothing(seed, top):
    heights = np.random.default_rng(seed).uniform(top - 1, top, 40)
    kept = Augmentation(top_drop=1.0).below_top(heights, np.random.default_rng(seed))
    assert kept.any()
    assert heights[kept].max() <= heights[~kept].min(initial=np.inf)
    assert kept[heights <= 1.6].all()


def test_tops_are_dropped_as_often_as_asked():
    heights = np.linspace(0, 3, 500)
    kept = [Augmentation(top_drop=0.25).below_top(heights, np.random.default_rng(seed)).all() for seed in range(400)]
    assert np.mean(kept) == pytest.approx(0.75, abs=0.07)


@given(seeds, st.integers(1, 200))
def test_a_thinned_cloud_holds_at_least_the_asked_share_and_nothing_new(seed, count):
    numbers = np.random.default_rng(seed).permutation(1000)[:count]
    thinned = Augmentation(point_drop=0.5).thin(numbers, np.random.default_rng(seed))
    assert len(thinned) == count
    assert set(thinned) <= set(numbers)
    assert len(set(thinned)) >= max(1, count // 2)
    assert Augmentation().thin(numbers, np.random.default_rng(seed)) is numbers


@given(seed=seeds)
def test_a_scale_range_bounds_each_axis(seed):
    scales = np.diag(matrix_of(Augmentation(scale_range=(0.667, 1.5)), seed))
    assert (scales >= 0.667).all()
    assert (scales <= 1.5).all()
    assert len(set(scales)) == 3


def test_multiplied_element_by_element_only_the_diagonal_of_the_rotation_is_left():
    composed, elementwise = (
        Augmentation(turn=1.0, scale=0.1, transform=transform).draw(np.random.default_rng(0))
        for transform in ("composed", "elementwise")
    )
    assert np.count_nonzero(composed) > 3
    assert np.array_equal(elementwise, np.diag(np.diag(elementwise)))
    np.testing.assert_allclose(np.diag(elementwise), np.diag(composed))


def test_a_shift_moves_all_points_alike_and_by_no_more_than_it_says():
    xyz = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    for seed in range(20):
        moved = Augmentation(translate=0.2).shake(xyz, np.random.default_rng(seed)) - xyz
        np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-6)
        assert 0 < np.abs(moved[0]).max() <= 0.2 + 1e-6


@given(seed=seeds, share=st.floats(0, 0.5))
def test_a_compact_part_takes_the_place_of_a_compact_part(seed, share):
    random = np.random.default_rng(seed)
    ours, theirs = random.normal(size=(2, 60, 3))
    replaced, taken, shift = swap_part(ours, theirs, share, random)
    assert len(replaced) == len(taken) == round(share * 60)
    if not len(taken):
        return
    place = ours[replaced[0]]  # the place itself is nearest to itself
    np.testing.assert_allclose(theirs[taken[0]] + shift, place)
    for cloud, part in ((ours, replaced), (theirs, taken)):
        distances = np.linalg.norm(cloud - cloud[part[0]], axis=1)
        assert distances[part].max() <= np.delete(distances, part).min()


@given(seeds)
def test_what_is_not_asked_for_changes_nothing_and_draws_nothing(seed):
    plain = Augmentation()
    xyz = np.random.default_rng(seed).normal(size=(30, 3)).astype(np.float32)
    random = np.random.default_rng(seed)
    state = random.bit_generator.state
    assert plain.scanned(xyz, random).all()
    assert plain.bend(xyz, random) is xyz
    assert random.bit_generator.state == state
    assert np.array_equal(matrix_of(ALL_ANGLES, seed), matrix_of(Augmentation(**vars(ALL_ANGLES)), seed))


@given(seeds)
def test_an_affine_change_is_a_matrix_near_the_unit_matrix(seed):
    matrix = matrix_of(Augmentation(affine=0.1), seed)
    assert np.abs(matrix - np.eye(3)).max() <= 0.3 + 1e-12
    assert not np.allclose(matrix, np.diag(np.diag(matrix)))


@given(seeds)
def test_holes_are_round_few_and_never_take_everything(seed):
    xyz = np.random.default_rng(seed).uniform(0, [3, 3, 2], (2000, 3))
    there = Augmentation(holes=3).scanned(xyz, np.random.default_rng(seed))
    assert there.any()
    lost = xyz[~there]
    if len(lost):  # each lost point lies within 0.5 m of the middle of one of three holes, and the middles are points
        assert len(lost) < len(xyz) * 3 * (4 / 3 * np.pi * 0.5**3) / 18 * 1.5
    crowd = np.zeros((50, 3))
    assert Augmentation(holes=5).scanned(crowd, np.random.default_rng(seed)).all()


def test_points_thin_out_with_the_square_of_the_distance():
    xyz = np.random.default_rng(0).uniform(-4, 4, (200_000, 3))
    augmentation = Augmentation(density=1.0)

    class Scripted:
        """A scanner in the middle, dense within 1 m."""

        def uniform(self, low, high):
            return np.zeros(3) if np.ndim(low) else 1.0

        def random(self, size=None):
            return 0.0 if size is None else np.random.default_rng(1).random(size)

    there = augmentation.scanned(xyz, Scripted())
    distance = np.linalg.norm(xyz, axis=1)
    assert there[distance < 1].all()
    for near, far in ((1.4, 1.6), (2.9, 3.1)):
        shell = (distance > near) & (distance < far)
        assert there[shell].mean() == pytest.approx(1 / ((near + far) / 2) ** 2, rel=0.1)


@given(seeds)
def test_smooth_noise_has_the_deviation_it_promises_and_is_smooth(seed):
    random = np.random.default_rng(seed)
    nodes = np.stack(np.meshgrid(*[np.arange(24.0)] * 3), axis=-1).reshape(-1, 3) * 0.4
    noise = smooth_noise(nodes, 0.4, np.random.default_rng(seed))
    assert noise.std() == pytest.approx(1, abs=0.15)
    near = random.uniform(0, 9, (500, 3))
    moved = smooth_noise(np.concatenate([nodes[[0, -1]], near, near + 0.01]), 0.4, np.random.default_rng(seed))[2:]
    assert np.abs(moved[:500] - moved[500:]).max() < 0.25


def test_an_elastic_distortion_moves_points_by_about_its_strength():
    xyz = np.random.default_rng(0).uniform(0, 6, (4000, 3)).astype(np.float32)
    moved = Augmentation(elastic=0.2).bend(xyz, np.random.default_rng(1))
    assert moved.dtype == np.float32
    assert (moved - xyz).std() == pytest.approx(
        0.2, rel=0.35
    )  # less than at the nodes in between, more by the finer one
    assert np.array_equal(moved, Augmentation(elastic=0.2).bend(xyz, np.random.default_rng(1)))
