from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from imgcl._core.errors import InputError
from imgcl.cli import app
from imgcl.training.hardware import device_name, resolve_device


@pytest.mark.parametrize("device", [None, "auto"])
def test_no_device_is_the_default(device):
    assert device_name(device) == "auto"
    assert resolve_device(device).type in ("cpu", "cuda")


@pytest.mark.parametrize("device", ["cpu", "cpu:1", torch.device("cpu")])
def test_the_processor(device):
    assert resolve_device(device) == torch.device("cpu")


@pytest.mark.parametrize("device", ["mps", "mps:0", torch.device("mps")])
def test_apples_processor_is_refused_with_the_reason(device):
    expected = r"cannot be used \(it has no double precision, which losses and views need\): choose auto, cpu"
    with pytest.raises(InputError, match=expected):
        resolve_device(device)


def test_the_command_line_says_so_in_one_line():
    done = CliRunner().invoke(app, ["pretrain", "synthetic", "--device", "mps", "--out", "runs/never"])
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith("device 'mps' cannot be used (it has no double precision")
    assert "\n" not in str(done.exception)
    assert not Path("runs/never").exists()


@pytest.mark.parametrize("device", ["meta", "nonsense", "", "cuda:x", 0, 1.5, ["cpu"]])
def test_what_cannot_be_computed_on_is_refused(device):
    with pytest.raises(InputError, match="cannot be used: choose auto, cpu, cuda or cuda:N"):
        resolve_device(device)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(InputError, match="torch sees no GPU: use `device='auto'`"):
        resolve_device("cuda")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert resolve_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(InputError, match="'cuda:2' is not available: torch sees 2 GPU"):
        resolve_device("cuda:2")
