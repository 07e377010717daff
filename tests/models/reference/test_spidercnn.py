import torch

from point2node.models.catalogue import create_model
from point2node.models.reference.spidercnn import TERMS, SpiderConv, monomials, pool_largest
from tests.small_networks import leave_start


def test_the_monomials_are_those_up_to_the_third_degree():
    terms = monomials(torch.tensor([2.0, 3.0, 5.0]))
    by_hand = {2.0**a * 3.0**b * 5.0**c for a in range(4) for b in range(4) for c in range(4) if a + b + c <= 3}
    assert len(terms) == len(by_hand) == TERMS
    assert set(terms.tolist()) == by_hand


def test_a_filter_is_a_step_function_times_a_taylor_polynomial():
    torch.manual_seed(0)
    layer = leave_start(SpiderConv(2, 3, neighbours=4, polynomials=5))
    nodes, offsets = torch.randn(1, 6, 2).double(), torch.randn(1, 6, 4, 3).double()
    neighbours = torch.randint(6, (1, 6, 4))
    found = layer(nodes, monomials(offsets), neighbours)
    step = layer.step.linear.weight.view(3, 4, 5, 2)  # out, rank, polynomial, in
    for i in range(6):
        total = torch.zeros(3).double()
        for k in range(4):
            taylor = layer.taylor.weight @ monomials(offsets[0, i, k])
            g = torch.einsum("ots,t->os", step[:, k], taylor)
            total += g @ nodes[0, neighbours[0, i, k]]
        torch.testing.assert_close(found[0, i], layer.step.activate(total[None])[0])


def test_the_two_largest_values_are_kept_also_of_a_single_point():
    nodes = torch.tensor([[[1.0, 9.0], [4.0, 2.0], [3.0, 5.0]]])
    assert pool_largest(nodes).tolist() == [[4, 9, 3, 5]]
    assert pool_largest(nodes[:, :1]).tolist() == [[1, 9, 1, 9]]


def test_a_cloud_smaller_than_k_is_labelled_too():
    assert create_model("spidercnn", preset="modelnet40").run(torch.rand(7, 3)).shape == (40,)


def test_macs_match_a_count_written_out_by_hand():
    edges = 10 * 4
    assert SpiderConv(2, 3, 4, 5).macs(10) == edges * (20 * 5 + 5 * 2) + 10 * 4 * 5 * 2 * 3
