import numpy as np
import pytest
import torch

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.inference.explainer import Explainer
from point2node.inference.labeller import Options, SceneLabeller
from point2node.weights.trained import Trained
from tests.inference.labellers import card, real_labeller


def small_room(points, seed=0):
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, [0.7, 0.6, 2.0], (points, 3))
    return PointCloud(xyz + np.array([400_000, 5_000_000, 30]), rgb=random.integers(0, 256, (points, 3)))


@pytest.fixture(scope="module")
def labeller():
    return real_labeller()


def test_the_row_is_the_softmax_row_computed_directly(labeller):
    cloud = small_room(192)
    explainer = Explainer(labeller, cloud)
    found = explainer.explain(17)
    batch, group = explainer.block_around(17)
    network = labeller.network
    with torch.no_grad():
        V = network.feature_extraction(batch.features, batch.pyramid)
        for stage in network.correlation.stages[:2]:
            V = stage(V, batch.pyramid.correlation)
        (non_local,) = network.correlation.stages[2].correlations
        row = (non_local.theta(V) @ non_local.phi(V).mT).softmax(dim=-1)[0, 0]
    direct = np.zeros(len(cloud))
    np.add.at(direct, group, row.numpy())
    painted = np.zeros(len(cloud))
    painted[found.block] = found.non_local
    np.testing.assert_allclose(painted, direct, atol=1e-6)
    assert found.non_local.sum() == pytest.approx(1, abs=1e-5)


def test_a_point_is_first_in_its_block_and_in_its_graph(labeller):
    found = Explainer(labeller, small_room(700)).explain(500)
    assert found.point == found.block[0] == found.neighbours[0] == 500
    assert len(found.block) == 192
    assert len(np.unique(found.block)) == 192
    assert found.edges.sum() == pytest.approx(1, abs=1e-5)
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-5)
    assert found.channel_weights.sum() == pytest.approx(1, abs=1e-4)
    by_hand = -(found.non_local * np.log(found.non_local)).sum() / np.log(192)
    assert found.non_local_entropy == pytest.approx(by_hand, abs=1e-4)
    assert 0 < found.local_entropy <= 1
    assert [branches for branches, _ in found.gates] == [("nodes", "local"), ("nodes", "non_local")]
    for _, shares in found.gates:
        np.testing.assert_allclose(shares.sum(axis=0), 1, atol=1e-5)


def test_only_the_block_around_the_point_counts(labeller):
    near = small_room(300)
    far = small_room(300, seed=1)
    both = PointCloud(
        np.concatenate([near.xyz, far.xyz + np.array([40, 0, 0])]), rgb=np.concatenate([near.rgb, far.rgb])
    )
    found = Explainer(labeller, both).explain(10)
    assert found.block.max() < 300
    assert (np.abs(both.xyz[found.block, :2] - both.xyz[10, :2]) <= 0.75 + 1e-4).all()


def test_small_clouds_and_lost_points_are_explained_too(labeller):
    cloud = small_room(5)
    xyz = cloud.xyz.copy()
    xyz[1] = np.nan
    explainer = Explainer(labeller, cloud.with_(xyz=xyz), Options(color=False))
    assert sorted(explainer.explain(3).block) == [0, 2, 3, 4]
    assert Explainer(labeller, small_room(1)).explain(0).block.tolist() == [0]
    with pytest.raises(InputError, match="1, which has none"):
        explainer.explain(1)
    with pytest.raises(InputError, match="found 99"):
        explainer.explain(99)


def test_weights_without_the_correlations_cannot_explain():
    described = card(variant="baseline", points=192)
    labeller = SceneLabeller(Trained("plain", described.build(), described, "best"))
    with pytest.raises(InputError, match="variant 'point2node', found point2node baseline"):
        Explainer(labeller, small_room(10))
