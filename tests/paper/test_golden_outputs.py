"""The paper's networks give the outputs that they always gave: whatever is made faster or settable, they stay."""

import pytest
import torch

from point2node import create_model

EXPECTED = {
    ("modelnet40", "baseline"): (1.5209488192910845, -1.7666738963521993, 1.267673528067891, -0.5862836756651872),
    ("modelnet40", "point2node"): (3.187880446099452, -7.446565143636329, 7.829481567856245, -5.329981735932134),
    ("tiny", "baseline"): (1.0982708642631707, -1.6022049994835739, 0.6328864573842742, -0.1432428136187552),
    ("tiny", "point2node"): (1.1295146371888525, -1.5130390095858917, 1.2683344351344221, -0.28982256157379965),
}
"""Logits of the first four classes (of the first point), in double precision."""


def filled(preset, variant):
    """A network whose parameters and statistics follow from a formula."""
    model = create_model(preset=preset, variant=variant).double()
    with torch.no_grad():
        for number, (name, values) in enumerate(sorted(model.state_dict().items())):
            if values.is_floating_point():
                wave = torch.sin(0.7 * torch.arange(values.numel(), dtype=torch.float64) + number).view_as(values)
                around_1 = values.ndim == 1 and name.endswith(("weight", "running_var", "alpha", "depthwise"))
                values.copy_(1 + wave / 4 if around_1 else wave * (2 / max(values.shape[-1], 4)) ** 0.5)
    return model


def cloud(points):
    steps = torch.arange(points, dtype=torch.float64)
    xyz = torch.stack([torch.sin(1.3 * steps), torch.cos(2.1 * steps), torch.sin(0.37 * steps + 1)], dim=1)
    return xyz, torch.stack([torch.sin(steps), torch.cos(steps), torch.sin(2 * steps)], dim=1) / 2


@pytest.mark.parametrize(("preset", "variant"), EXPECTED)
def test_the_same_weights_give_the_same_outputs(preset, variant):
    model = filled(preset, variant)
    xyz, features = cloud(1024 if preset == "modelnet40" else 512)
    logits = model.run(xyz, features if model.in_features else None)
    found = logits.reshape(-1, logits.shape[-1])[0, :4]
    torch.testing.assert_close(found, torch.tensor(EXPECTED[preset, variant], dtype=torch.float64), rtol=1e-8, atol=0)
