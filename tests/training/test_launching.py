import pytest
import torch

from point2node.core.errors import InputError, LostProcessError
from point2node.training.launching import noticing_lost_processes, start_fabric
from tests.training.stores import quick


def test_a_cpu_is_one_device():
    fabric = start_fabric(quick("accelerator=cpu"))
    assert (fabric.device.type, fabric.world_size, fabric.is_global_zero) == ("cpu", 1, True)


@pytest.mark.parametrize(
    ("word", "where"),
    [
        ("accelerator=quantum", "accelerator, devices or strategy"),
        ("strategy=guesswork", "accelerator, devices or strategy"),
        ("precision=16-mixed", "precision"),
    ],
)
def test_what_the_machine_lacks_is_refused_in_one_line(word, where):
    with pytest.raises(InputError, match=f"^{where}: expected ") as caught:
        start_fabric(quick("accelerator=cpu", word))
    assert "\n" not in str(caught.value)


def test_mixed_precision_leaves_coordinates_alone():
    """Fabric would cast them to bfloat16, whose steps at 40 m are a quarter of a metre."""
    precision = start_fabric(quick("accelerator=cpu", "precision=bf16-mixed")).strategy.precision
    xyz = torch.tensor([39.99])
    assert precision.convert_input(((xyz,), {}))[0][0] is xyz
    with precision.forward_context():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16


def test_a_dead_process_that_built_batches_is_a_lost_process():
    message = "DataLoader worker (pid 3) is killed by signal: Killed."
    with (
        pytest.raises(LostProcessError, match="killed by signal"),
        noticing_lost_processes(start_fabric(quick("accelerator=cpu"))),
    ):
        raise RuntimeError(message)


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="shapes") as caught, noticing_lost_processes(start_fabric(quick())):
        raise RuntimeError("shapes do not match")
    assert not isinstance(caught.value, LostProcessError)
