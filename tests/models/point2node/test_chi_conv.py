"""χ-conv against its twin: the seven steps of the layer, point by point, in plain loops."""

import pytest
import torch
from torch.nn import functional as F

from point2node.kernels.calling import torch_only
from point2node.models.point2node.chi_conv import ChiConv

K, P, M = 5, 7, 11


def dense(layer, x):
    y = F.elu(x @ layer.linear.weight.T)
    return normalise(layer.norm, y)


def normalise(norm, y):
    return (y - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias


def naive_chi_conv(layer, queries, points, features, neighbours):
    """One representative point after the other, as the layer is described."""
    out = []
    for q, near in zip(queries, neighbours, strict=True):
        local = points[near] - q  # step 2
        fts = dense(layer.lift[1], dense(layer.lift[0], local))  # step 3
        if features is not None:
            fts = torch.cat([fts, features[near]], dim=-1)
        X = dense(layer.x_transformation.over_all, local.flatten()).view(K, K)  # step 4
        for part in (layer.x_transformation.first, layer.x_transformation.second):
            Y = torch.stack([X[:, c] @ part.weight[:, c] for c in range(K)])
            X = normalise(part.norm, (F.elu(Y) if part.activation else Y).flatten()).view(K, K)
        fts = X @ fts  # step 5
        columns = [fts[:, c] @ layer.depthwise[:, c] for c in range(fts.shape[1])]
        y = dense(layer.pointwise, torch.cat(columns))  # step 6
        if layer.global_lift is not None:
            y = torch.cat([y, dense(layer.global_lift[1], dense(layer.global_lift[0], q))])  # step 7
        out.append(y)
    return torch.stack(out)


def layer_and_input(in_channels, multiplier, with_global):
    torch.manual_seed(0)
    layer = ChiConv(K, in_channels, 6, 8, multiplier, with_global=with_global).double().eval()
    for norm in layer.modules():
        if isinstance(norm, torch.nn.BatchNorm1d):
            norm.running_mean.normal_(std=0.1)
            norm.running_var.uniform_(0.5, 1.5)
    points = torch.randn(2, M, 3, dtype=torch.float64)
    features = torch.randn(2, M, in_channels, dtype=torch.float64, requires_grad=True) if in_channels else None
    return layer, points[:, :P], points, features, torch.randint(M, (2, P, K))


@pytest.mark.parametrize(("in_channels", "multiplier", "with_global"), [(0, 4, False), (9, 2, False), (4, 1, True)])
@pytest.mark.parametrize("kernels", [True, False])
def test_the_layer_equals_its_description_in_values_and_gradients(in_channels, multiplier, with_global, kernels):
    layer, queries, points, features, neighbours = layer_and_input(in_channels, multiplier, with_global)
    parameters = [*layer.parameters(), *([] if features is None else [features])]
    naive = torch.stack(
        [
            naive_chi_conv(layer, queries[b], points[b], None if features is None else features[b], neighbours[b])
            for b in range(2)
        ]
    )
    weights = torch.randn_like(naive)
    expected = torch.autograd.grad((naive * weights).sum(), parameters)
    if kernels:
        out = layer(queries, points, features, neighbours)
    else:
        with torch_only():
            out = layer(queries, points, features, neighbours)
    torch.testing.assert_close(out, naive, rtol=1e-10, atol=1e-12)
    for found, gradient in zip(torch.autograd.grad((out * weights).sum(), parameters), expected, strict=True):
        torch.testing.assert_close(found, gradient, rtol=1e-9, atol=1e-11)


def test_the_layer_moves_with_the_cloud_unless_it_has_a_global_branch():
    layer, queries, points, features, neighbours = layer_and_input(4, 1, False)
    moved = layer(queries + 5, points + 5, features, neighbours)
    torch.testing.assert_close(moved, layer(queries, points, features, neighbours))


def test_its_width_grows_by_a_quarter_with_the_global_branch():
    assert ChiConv(K, 4, 6, 8, 1, with_global=True).out_channels == 10
