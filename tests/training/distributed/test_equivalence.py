"""Two ranks with half of the batch each compute what one process with the whole batch does."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist

from imgcl.balance import BalanceSettings
from imgcl.data import synthetic_graph
from imgcl.methods import METHODS
from imgcl.training import RunConfig, Trainer, TrainingSettings
from imgcl.training.checkpoint import Checkpoint
from imgcl.training.distributed.group import ALONE, ProcessGroup

pytestmark = [pytest.mark.distributed, pytest.mark.filterwarnings("ignore")]
STEPS = 20
MODES = {"whole graph": 0, "mini-batches": 48}
# A column that both views mask has a gradient of rounding errors, which Adam's first steps blow up: mask in one view.
ONE = {"feature_mask_1": 0.2, "feature_mask_2": 0.0}
SETTINGS = {
    "gbt": {"dim": 16, "feature_mask": 0.0},
    "grace": {"dim": 16, "projection": 16, **ONE},
    "bgrl": {"dim": 16, "predictor": 16, **ONE},
    "dgi": {"dim": 16},
    "mvgrl": {"dim": 16},
    # After a batch norm the mean of the rows is 0 at first: what the global net does with it is rounding errors too.
    "infograph": {"dim": 8, "layers": 2, "norm": "layer"},
    "cca-ssg": {"dim": 16, **ONE},
    "vicreg": {"dim": 16, **ONE},
    "graphmae": {"dim": 16},
}

UNUSED = {"gbt", "cca-ssg", "vicreg"}  # their losses centre the columns: the last bias has no effect and no gradient


def trainer(method: str, mode: str, group: ProcessGroup) -> Trainer:
    graph = synthetic_graph(class_sizes=[90, 60, 51], n_features=16, mean_degree=10, homophily=0.9, seed=3)
    training = TrainingSettings(epochs=STEPS, lr=1e-3, batch_size=MODES[mode], fanout=(4,))
    config = RunConfig(
        method=method,
        method_settings=SETTINGS[method],
        training=training,
        balance=BalanceSettings(fraction=0.5, labellings=2),
        device="cpu",
    )
    return Trainer(config, graph, group=group)


def train_all(rank: int, size: int, folder: Path) -> None:
    """What one worker does; everything in one group of processes, for starting one takes longer than all steps."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=size)
    for method in METHODS:
        for mode in MODES:
            run = trainer(method, mode, ProcessGroup(rank, size))
            run.train()
            tensors = dict(run.method.state_dict())
            Checkpoint(tensors, {"losses": run.losses}).save(folder / f"{method}-{mode}-{rank}.safetensors")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workers")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=train_all, args=(rank, 2, folder)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=900)
    assert [process.exitcode for process in processes] == [0, 0]
    return folder


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", METHODS)
def test_two_ranks_equal_one(method: str, mode: str, together: Path) -> None:
    alone = trainer(method, mode, ALONE)
    alone.train()
    first, second = (Checkpoint.load(together / f"{method}-{mode}-{rank}.safetensors") for rank in range(2))
    assert first.values["losses"] == second.values["losses"]
    np.testing.assert_allclose(first.values["losses"], alone.losses, rtol=1e-4, atol=1e-4)
    start = trainer(method, mode, ALONE).method.state_dict()
    moved = False
    for name, expected in alone.method.state_dict().items():
        torch.testing.assert_close(first.tensors[name], second.tensors[name], rtol=0, atol=0, msg=f"{name} differs")
        if method in UNUSED and name == "encoder.finishes.1.bias":
            continue
        torch.testing.assert_close(
            first.tensors[name], expected, rtol=1e-4, atol=1e-4, msg=lambda text, name=name: f"{name}: {text}"
        )
        moved |= bool((expected - start[name]).abs().max() > 5e-3)
    assert moved  # training moved the parameters by far more than the tolerance
