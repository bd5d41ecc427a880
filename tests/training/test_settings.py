import pytest

from imgcl._core.errors import InputError
from imgcl.training.settings import RunConfig, apply_overrides


def test_overrides_find_their_home():
    config = apply_overrides(RunConfig(), {"lr": "0.01", "dim": "32"})
    assert config.training.lr == 0.01
    assert config.build_settings().dim == 32


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"ephocs": 3}, "unknown setting 'ephocs' of method 'gbt': did you mean 'epochs'?"),
        ({"epochs": "many"}, "setting epochs = 'many': Input should be a valid integer"),
        ({"edge_drop": 1.5}, "setting edge_drop = 1.5: Input should be less than 1"),
        ({"lr": -1}, "setting lr = -1: Input should be greater than 0"),
        ({"lr": float("inf")}, "setting lr = inf: Input should be a finite number"),
    ],
)
def test_bad_settings_say_which_and_why(overrides, message):
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        apply_overrides(RunConfig(), overrides)


def test_unknown_method_names_the_nearest_one():
    with pytest.raises(InputError, match=r"unknown method 'gpt': did you mean 'gbt'"):
        RunConfig(method="gpt").build_settings()


@pytest.mark.parametrize("name", ["epochs", "lr", "warm_up", "patience", "batch_size", "dim"])
def test_true_is_not_a_number(name):
    with pytest.raises(InputError, match=f"setting {name} = True: it must be a number"):
        apply_overrides(RunConfig(), {name: True})
