import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud

XYZ = np.arange(15.0).reshape(5, 3)


def test_arrays_get_their_types_and_coordinates_stay_double():
    cloud = PointCloud(XYZ.astype(np.float32), rgb=np.full((5, 3), 255.0), labels=np.arange(5), normals=XYZ)
    assert (cloud.xyz.dtype, cloud.rgb.dtype, cloud.labels.dtype) == (np.float64, np.uint8, np.int32)
    assert cloud.normals.dtype == np.float32
    assert len(cloud) == 5


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"rgb": np.zeros((4, 3))}, r"rgb: expected an array of shape \(5, 3\), found \(4, 3\)"),
        ({"rgb": np.full((5, 3), 256)}, "values from 0 to 255, found 256 to 256"),
        ({"labels": np.full(5, 0.5)}, "labels: expected whole numbers"),
        ({"labels": np.zeros((5, 1))}, r"labels: expected an array of shape \(5\)"),
        ({"fields": {"time": np.zeros(4)}}, r"time: expected an array of shape \(5, …\)"),
        ({"faces": np.zeros((2, 4))}, "faces"),
    ],
)
def test_what_does_not_fit_is_refused_once_and_clearly(parts, message):
    with pytest.raises(InputError, match=message):
        PointCloud(XYZ, **parts)


@pytest.mark.parametrize("chosen", [slice(1, 3), np.array([True, False, True, False, False]), np.array([4, 0])])
def test_a_choice_of_points_takes_everything_known_of_them(chosen):
    cloud = PointCloud(XYZ, labels=np.arange(5), fields={"time": np.arange(5) * 0.5}, faces=np.zeros((1, 3)))
    part = cloud[chosen]
    assert np.array_equal(part.xyz, XYZ[chosen])
    assert np.array_equal(part.labels, np.arange(5)[chosen])
    assert np.array_equal(part.fields["time"], np.arange(5)[chosen] * 0.5)
    assert part.faces is None


def test_replacing_a_part_keeps_the_others_and_the_original():
    cloud = PointCloud(XYZ, fields={"time": np.arange(5)})
    labelled = cloud.with_(labels=np.ones(5))
    assert cloud.labels is None
    assert np.array_equal(labelled.labels, np.ones(5))
    assert "time" in labelled.fields


def test_local_coordinates_keep_millimetres_of_map_coordinates():
    millimetres = np.arange(15).reshape(5, 3) / 1000
    local, shift = PointCloud(millimetres + np.array([412_345.0, 5_312_000.0, 512.0])).local()
    assert local.dtype == np.float32
    np.testing.assert_allclose(local[:, 2], millimetres[:, 2] - millimetres[0, 2], atol=1e-6)
    np.testing.assert_allclose(local + shift, millimetres + np.array([412_345.0, 5_312_000.0, 512.0]), atol=1e-6)
    np.testing.assert_allclose(local[:, :2].min(0), -local[:, :2].max(0), atol=1e-6)


def test_a_cloud_without_points_is_a_cloud():
    local, shift = PointCloud(np.empty((0, 3))).local()
    assert local.shape == (0, 3)
    assert not shift.any()
