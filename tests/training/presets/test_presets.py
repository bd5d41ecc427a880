"""The stored presets against the published settings, written out here from the public repositories."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from imgcl._core.errors import InputError
from imgcl.encoders import LayeredEncoder
from imgcl.methods import METHODS
from imgcl.training import presets
from imgcl.training.presets import Preset, find_preset, list_presets
from imgcl.training.settings import RunConfig

PRESETS = list_presets()

# h, p, activation, pe1, pe2, pf1, pf2, tau, lr, epochs
GRACE = {
    "dblp": ("official", 256, 256, "relu", 0.1, 0.4, 0.1, 0.0, 0.7, 1e-3, 1000),
    "amazon-computers": ("family", 128, 128, "rrelu", 0.6, 0.3, 0.2, 0.3, 0.2, 1e-2, 2000),
    "amazon-photo": ("family", 256, 64, "relu", 0.3, 0.5, 0.1, 0.1, 0.3, 1e-1, 2000),
    "wiki-cs": ("family", 256, 256, "prelu", 0.2, 0.3, 0.1, 0.1, 0.4, 1e-2, 3000),
    "cora": ("official", 128, 128, "relu", 0.2, 0.4, 0.3, 0.4, 0.4, 5e-4, 200),
}
# layers, pe1, pe2, pf1, pf2, lr, normalisation
BGRL = {
    "amazon-computers": ([256, 128], 0.5, 0.4, 0.2, 0.1, 5e-4, "row"),
    "amazon-photo": ([256, 128], 0.4, 0.1, 0.1, 0.2, 1e-4, "row"),
    "wiki-cs": ([512, 256], 0.2, 0.3, 0.2, 0.1, 5e-4, "column"),
}
# d, lr, p_x, p_e
GBT = {
    "amazon-computers": (128, 5e-4, 0.1, 0.4),
    "amazon-photo": (256, 1e-4, 0.3, 0.1),
    "wiki-cs": (256, 5e-4, 0.1, 0.5),
}


def paper(method: str, graph: str) -> tuple[Preset, RunConfig, dict[str, Any]]:
    preset = find_preset(method, graph, "paper")
    config = preset.config()
    return preset, config, config.build_settings().model_dump()


def layer_widths(method: str, settings: dict[str, Any]) -> list[list[int]]:
    """Output widths of the layers of every encoder that the method builds from its settings."""
    built = METHODS[method](16, METHODS[method].Settings(**settings))
    encoders = [module for module in built.modules() if isinstance(module, LayeredEncoder)]
    return [[layer.out_features for layer in encoder.layers] for encoder in encoders]


@pytest.mark.parametrize("graph", GRACE)
def test_grace(graph: str) -> None:
    origin, h, p, activation, pe1, pe2, pf1, pf2, tau, lr, epochs = GRACE[graph]
    preset, config, settings = paper("grace", graph)
    assert preset.origin == origin
    assert ("GRACE" if origin == "official" else "GCA") in preset.source
    assert layer_widths("grace", settings) == [[2 * h, h]]
    assert settings["projection"] == p
    assert (settings["activation"], settings["norm"], settings["drop"]) == (activation, "none", "uniform")
    assert (settings["edge_drop_1"], settings["edge_drop_2"]) == (pe1, pe2)
    assert (settings["feature_mask_1"], settings["feature_mask_2"]) == (pf1, pf2)
    assert settings["tau"] == tau
    training = config.training
    assert (training.lr, training.epochs, training.weight_decay) == (lr, epochs, 1e-5)
    assert (training.optimiser, training.schedule, training.warm_up) == ("adam", "constant", 0)
    assert training.normalise == "row"


@pytest.mark.parametrize("graph", BGRL)
def test_bgrl(graph: str) -> None:
    layers, pe1, pe2, pf1, pf2, lr, normalise = BGRL[graph]
    preset, config, settings = paper("bgrl", graph)
    assert preset.origin == "official"
    assert preset.source.startswith("nerdslab/bgrl")
    assert layer_widths("bgrl", settings) == [layers, layers]  # online and target
    assert (settings["activation"], settings["norm"], settings["predictor"]) == ("prelu", "batch", 512)
    assert (settings["edge_drop_1"], settings["edge_drop_2"]) == (pe1, pe2)
    assert (settings["feature_mask_1"], settings["feature_mask_2"]) == (pf1, pf2)
    assert settings["momentum"] == 0.99
    training = config.training
    assert (training.lr, training.epochs, training.weight_decay) == (lr, 10000, 1e-5)
    assert (training.optimiser, training.schedule, training.warm_up) == ("adamw", "cosine", 1000)
    assert training.normalise == normalise


@pytest.mark.parametrize("graph", GBT)
def test_gbt(graph: str) -> None:
    d, lr, p_x, p_e = GBT[graph]
    preset, config, settings = paper("gbt", graph)
    assert preset.origin == "official"
    assert preset.source.startswith("pbielak/graph-barlow-twins")
    assert layer_widths("gbt", settings) == [[2 * d, d]]
    assert (settings["activation"], settings["norm"], settings["momentum"]) == ("prelu", "batch", 0.01)
    assert (settings["feature_mask"], settings["edge_drop"], settings["eps"]) == (p_x, p_e, 1e-15)
    training = config.training
    assert (training.lr, training.epochs, training.weight_decay) == (lr, 4000, 1e-5)
    assert (training.optimiser, training.schedule, training.warm_up) == ("adamw", "cosine", 0.1)


@pytest.mark.parametrize(("method", "origin_repository"), [("dgi", "PetarV-/DGI"), ("mvgrl", "kavehhassani/mvgrl")])
@pytest.mark.parametrize(("graph", "origin"), [("cora", "official"), ("dblp", "family")])
def test_dgi_and_mvgrl(method: str, origin_repository: str, graph: str, origin: str) -> None:
    preset, config, settings = paper(method, graph)
    assert preset.origin == origin
    assert preset.source.startswith(origin_repository)
    assert layer_widths(method, settings) == [[512]] * (2 if method == "mvgrl" else 1)
    assert (settings["activation"], settings["norm"]) == ("prelu", "none")
    if method == "mvgrl":
        assert settings["alpha"] == 0.2
    training = config.training
    assert (training.lr, training.patience, training.weight_decay) == (1e-3, 20, 0)
    assert (training.optimiser, training.schedule, training.warm_up) == ("adam", "constant", 0)


@pytest.mark.parametrize("method", ["gbt", "bgrl"])
def test_no_setting_is_invented_for_dblp(method: str) -> None:
    assert ("dblp", "paper") not in {(preset.graph, preset.kind) for preset in list_presets(method)}
    assert find_preset(method, "dblp", "paper").origin == "ours"


def test_every_published_setting_is_tested_here() -> None:
    tested = {(method, graph) for method, table in (("grace", GRACE), ("bgrl", BGRL), ("gbt", GBT)) for graph in table}
    tested |= {(method, graph) for method in ("dgi", "mvgrl", "infograph") for graph in ("cora", "default")}
    found = {(preset.method, preset.graph) for preset in PRESETS if preset.kind == "paper"}
    assert found <= tested
    assert all(preset.origin in ("official", "family") for preset in PRESETS if preset.kind == "paper")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_is_valid(preset: Preset) -> None:
    config = preset.config()
    config.build_settings()
    assert preset.origin in ("official", "family", "ours")
    assert preset.source
    if preset.kind == "fast":
        assert preset.origin == "ours"
        assert config.training.epochs <= 500


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_default(method: str) -> None:
    preset = find_preset(method, "a graph nobody has seen", "fast")
    assert (preset.graph, preset.kind) == ("default", "fast")


def test_files_have_no_other_tables() -> None:
    for folder in resources.files("imgcl.training.presets").iterdir():
        if folder.is_dir() and not folder.name.startswith("_"):
            for file in folder.iterdir():
                tables = tomllib.loads(file.read_text(encoding="utf-8"))
                assert set(tables) <= {"paper", "fast", "auto"}
                for table in tables.values():
                    assert set(table) <= {"origin", "source", "method", "training"}


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="unknown preset 'slow': choose from paper, fast"):
        find_preset("gbt", "cora", "slow")


@pytest.mark.parametrize(
    "text", ["[fast]", "fast = 3", "[fast", "fast = " + "[" * 3000, 'fast = {origin = "o"}', "\udcff"]
)
def test_a_damaged_preset_is_named(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gbt").mkdir()
    (tmp_path / "gbt" / "cora.toml").write_bytes(text.encode(errors="surrogateescape"))
    monkeypatch.setattr(presets.resources, "files", lambda package: tmp_path)
    with pytest.raises(InputError, match=r"preset gbt/cora\.toml is damaged"):
        list_presets()
