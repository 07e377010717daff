import numpy as np
import pytest
import torch

from point2node.core.errors import InputError
from point2node.inference.labeller import Options, SceneLabeller
from point2node.models.catalogue import create_model
from point2node.teaching.observing import TaughtScan, label_observed, observe, tail_of, without_tail
from point2node.weights.trained import Trained
from tests.teaching.lessons import fresh_labeller, taught_room


@pytest.fixture(scope="module")
def labeller(tmp_path_factory):
    return fresh_labeller(tmp_path_factory.mktemp("weights"))


@pytest.mark.parametrize("model", ["point2node", "pointnet", "dgcnn"])
def test_the_last_layers_behind_what_was_observed_give_the_networks_own_logits(model):
    torch.manual_seed(0)
    network = create_model(model, preset="tiny" if model == "point2node" else "rooms", in_features=0, num_classes=5)
    network.eval()
    xyz = torch.rand(1, 512, 3)
    with torch.inference_mode():
        known = without_tail(network)(xyz)
        assert torch.allclose(tail_of(network).eval()(known), network(xyz), atol=1e-4)


@pytest.mark.parametrize("thin", [0.0, 0.08])
def test_labels_of_what_was_observed_are_those_of_predict(labeller, thin):
    scan = taught_room(labeller)
    scan = TaughtScan(scan.name, scan.cloud, scan.corrections, Options(thin=thin, votes=1))
    observed = observe(labeller, scan)
    assert observed.complete
    places, entropy = label_observed(observed, tail_of(labeller.network), len(labeller.classes))
    labelled = labeller.label(scan.cloud, scan.options)
    numbers = observed.placement.numbers
    at = observed.chosen if thin else np.arange(len(places))  # predict interpolates the others
    assert (places[at] == labelled.places[numbers[at]]).mean() > (0.999 if not thin else 0.9)  # ties between cubes
    if not thin:
        assert np.allclose(entropy, labelled.entropy[numbers], atol=1e-3)


def test_a_large_scan_is_observed_in_part_and_first_where_it_was_corrected(labeller):
    scan = taught_room(labeller)
    part = observe(labeller, scan, most=4)
    assert not part.complete
    assert len(part.inputs) == 4 * labeller.trained.card.points
    rows = part.spread(scan.corrections.class_indices())
    share = (scan.corrections.class_indices() >= 0).mean()
    assert (rows >= 0).mean() > share
    with pytest.raises(InputError, match="observed completely"):
        label_observed(part, tail_of(labeller.network), len(labeller.classes))


def test_a_correction_of_one_point_reaches_the_one_that_stands_for_it(labeller):
    scan = taught_room(labeller)
    scan = TaughtScan(scan.name, scan.cloud, scan.corrections, Options(thin=0.3))
    observed = observe(labeller, scan)
    places = np.full(len(scan.cloud), -1)
    places[1234] = 3
    assert (observed.spread(places) == 3).any()


def test_progress_rises_to_the_end(labeller):
    shares = []
    observe(labeller, taught_room(labeller), shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_network_that_works_on_its_logits_is_refused(labeller):
    class Shifted(type(labeller.network)):
        def _label(self, nodes, features, pyramid):
            return super()._label(nodes, features, pyramid) + 1

    card = labeller.trained.card
    network = card.build()
    network.__class__ = Shifted
    shifted = SceneLabeller(Trained("shifted", network, card, "saved"))
    with pytest.raises(InputError, match="expected weights of a network that can be taught by clicks"):
        observe(shifted, taught_room(labeller))
