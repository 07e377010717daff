"""Lemmas 1-2 (Eqs. 17-20) and the propositions of appendices B and C, as properties in double precision."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node import VARIANTS
from point2node.models.layers import gather_nodes
from point2node.models.point2node.method import (
    AdaptiveFeatureAggregation,
    LocalCorrelation,
    NonLocalCorrelation,
    SelfCorrelation,
)
from tests.small_networks import leave_start, random_input, renumber, small_network

permutations = st.integers(2, 24).flatmap(lambda n: st.permutations(range(n)))
seeds = st.integers(0, 2**31)
C, R, K = 12, 3, 4


def nodes_for(order, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, len(order), C, generator=generator, dtype=torch.float64)


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


@given(permutations, seeds)
def test_lemma_1_a_permutation_matrix_renumbers_rows_and_columns(order, seed):
    A = torch.rand(len(order), len(order), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    p = torch.tensor(order)
    P = torch.zeros_like(A)
    P[p, torch.arange(len(order))] = 1.0  # row p(i) of P·A is row i of A
    close(A, (P @ A)[p])
    close(A, (A @ P.T)[:, p])
    close(A, (P @ A @ P.T)[p][:, p])


@given(permutations, seeds)
def test_lemma_2_softmax_commutes_with_permutations(order, seed):
    A = torch.randn(len(order), len(order), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    P = torch.eye(len(order), dtype=torch.float64)[list(order)]
    close((P @ A @ P.T).softmax(-1), P @ A.softmax(-1) @ P.T)  # Eq. 18
    close((P @ A).softmax(-1), P @ A.softmax(-1))  # Eq. 19
    close((A @ P.T).softmax(-1), A.softmax(-1) @ P.T)  # Eq. 20


@given(permutations, seeds)
@settings(max_examples=25)
def test_proposition_b1_self_correlation_is_permutation_equivariant(order, seed):
    X, p, sc = nodes_for(order, seed), torch.tensor(order), leave_start(SelfCorrelation(C), by=0.5)
    close(sc(X[:, p]), sc(X)[:, p])


@given(permutations, seeds)
@settings(max_examples=25)
def test_proposition_b2_local_correlation_is_permutation_equivariant(order, seed):
    X, p, lc = nodes_for(order, seed), torch.tensor(order), leave_start(LocalCorrelation(C, R), by=0.5)
    neighbours = torch.randint(len(order), (2, len(order), K), generator=torch.Generator().manual_seed(seed))
    renumbered = torch.argsort(p)[neighbours[:, p]]
    close(lc(X[:, p], renumbered), lc(X, neighbours)[:, p])


@given(permutations, seeds)
@settings(max_examples=25)
def test_local_max_pooling_ignores_the_order_of_neighbours(order, seed):
    X, lc = nodes_for(order, seed), leave_start(LocalCorrelation(C, R), by=0.5)
    neighbours = torch.randint(len(order), (2, len(order), K), generator=torch.Generator().manual_seed(seed))
    close(lc(X, neighbours.flip(-1)), lc(X, neighbours))


@given(permutations, seeds)
@settings(max_examples=25)
def test_proposition_b3_non_local_correlation_is_permutation_equivariant(order, seed):
    X, p, nlc = nodes_for(order, seed), torch.tensor(order), leave_start(NonLocalCorrelation(C, R), by=0.5)
    close(nlc(X[:, p]), nlc(X)[:, p])


@pytest.mark.parametrize("reduction", [None, R])
@given(permutations, seeds)
@settings(max_examples=25)
def test_proposition_c1_adaptive_feature_aggregation_is_permutation_equivariant(reduction, order, seed):
    X, Y, p = nodes_for(order, seed), nodes_for(order, seed + 1), torch.tensor(order)
    afa = leave_start(AdaptiveFeatureAggregation(C, reduction), by=0.5)
    close(afa(X[:, p], [Y[:, p]]), afa(X, [Y])[:, p])


@pytest.mark.parametrize("variant", VARIANTS)
@given(seeds)
@settings(max_examples=5)
def test_renumbering_the_points_only_renumbers_the_labels(variant, seed):
    model = small_network("segmentation", variant)
    features, pyramid = random_input(model, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    orders = [torch.randperm(level.shape[1], generator=generator) for level in pyramid.levels]
    close(
        model(features[:, orders[0]], renumber(pyramid, model.plan, orders)),
        model(features, pyramid)[:, orders[0]],
    )


@pytest.mark.parametrize("variant", VARIANTS)
@given(seeds)
@settings(max_examples=5)
def test_renumbering_the_points_does_not_change_the_class(variant, seed):
    model = small_network("classification", variant)
    features, pyramid = random_input(model, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    orders = [torch.randperm(level.shape[1], generator=generator) for level in pyramid.levels]
    close(model(features, renumber(pyramid, model.plan, orders)), model(features, pyramid))


@given(permutations, seeds)
@settings(max_examples=25)
def test_rows_of_every_matrix_sum_to_1_and_gates_sum_to_1_over_branches(order, seed):
    X, Y = nodes_for(order, seed), nodes_for(order, seed + 1)
    N = len(order)
    generator = torch.Generator().manual_seed(seed)
    neighbours = torch.randint(N, (2, N, K), generator=generator)
    every_node = torch.arange(N).expand(2, -1)
    sums = [
        leave_start(SelfCorrelation(C), by=0.5).channel_weights(X).sum(-1),
        leave_start(LocalCorrelation(C, R), by=0.5).adjacency(X, neighbours).sum(-1),
        leave_start(NonLocalCorrelation(C, R), by=0.5).adjacency_rows(X, every_node).sum(-1),
        leave_start(AdaptiveFeatureAggregation(C, R, updates=2), by=0.5)
        .gates(X, [Y, gather_nodes(X, every_node)])
        .sum(1),
    ]
    for total in sums:
        close(total, torch.ones_like(total))
