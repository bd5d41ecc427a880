"""A method, an encoder and views of the user's, through the estimator and the command line."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn
from torch_geometric import nn as gnn
from typer.testing import CliRunner

import imgcl
from imgcl.cli import app
from imgcl.encoders import GCN, encoder_name
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.losses import barlow_twins
from imgcl.methods import GRACE, METHODS, Method, TwoViews, resolve_method
from imgcl.training import Run, RunConfig
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain
from imgcl.views import EdgeRemoving, FeatureMasking, make_views, views_name

TWO_VIEWS = ("gbt", "grace", "bgrl", "cca-ssg", "vicreg")


class Mine(Method):
    """Without settings, views or a preset."""

    def __init__(self, n_features: int, settings: Any) -> None:
        super().__init__(n_features, settings)
        self.encoder, self.view = GCN(n_features, [6]), EdgeRemoving(0.3)

    def loss(self, block: Block, rows: Any, generator: torch.Generator) -> torch.Tensor:
        u, v = self.encoder([block, self.view(block, generator)], rows)
        return barlow_twins(u, v)


class MineWithViews(TwoViews):
    def __init__(self, n_features: int, settings: Any) -> None:
        super().__init__(n_features, settings)
        self.encoder = settings.build_encoder(n_features)

    def loss(self, block: Block, rows: Any, generator: torch.Generator) -> torch.Tensor:
        return barlow_twins(*self.encoder(self.draw(block, generator), rows))


class Doubles(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.double()


def two_layers(in_features: int, out_features: int) -> nn.Module:
    return gnn.GraphSAGE(in_features, 8, num_layers=2, out_channels=out_features, dropout=0.2)


def half_the_edges(block: Block, generator: torch.Generator) -> Block:
    return EdgeRemoving(0.5)(block, generator)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return imgcl.load_graph("synthetic", class_sizes=[50, 20], n_features=12, seed=0)


def local_method() -> type[Method]:
    class Local(Mine):
        pass

    return Local


SAGE = gnn.GraphSAGE(12, 8, num_layers=2, out_channels=5)
CASES: dict[str, dict[str, Any]] = {
    "class": {"method": Mine},
    "text": {"method": f"{__name__}:MineWithViews", "settings": {"dim": 4}},
    "local class": {"method": local_method()},
    "module": {"method": "grace", "encoder": SAGE},
    "two copies of a module": {"method": "bgrl", "encoder": SAGE},
    "factory": {"method": "dgi", "encoder": two_layers, "settings": {"dim": 4}},
    "class of a module": {"method": "mvgrl", "encoder": gnn.SAGEConv, "settings": {"dim": 4}},
    "views": {"method": "gbt", "views": "edge-drop:0.4,feature-mask:0.1,node-drop:0.1", "settings": {"dim": 4}},
    "view objects": {"method": "vicreg", "views": (EdgeRemoving(0.3), FeatureMasking(0.2)), "settings": {"dim": 4}},
    "own view": {"method": "cca-ssg", "views": half_the_edges, "settings": {"dim": 4}},
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def config_of(case: dict[str, Any], graph: Graph) -> Any:
    overrides = {**case.get("settings", {}), **{key: case[key] for key in ("encoder", "views") if key in case}}
    return make_config(graph.name, method=case["method"], overrides={**overrides, "epochs": 4, "checkpoint_every": 1})


class StopHereError(Exception):
    pass


@each_case
def test_a_run_is_resumed_with_the_same_bits(case, graph, tmp_path):
    config = config_of(case, graph)
    whole = pretrain(graph, config, tmp_path / "whole")

    def stop(report: Any) -> None:
        if report.epoch == 3:
            raise StopHereError

    with pytest.raises(StopHereError):
        pretrain(graph, config, tmp_path / "run", on_epoch=stop)
    assert Run(tmp_path / "run").checkpoint().values["epoch"] == 2
    run = pretrain(graph, config_of(case, graph), tmp_path / "run", resume=True)
    assert np.array_equal(run.embedding, whole.embedding)
    assert run.history["loss"] == whole.history["loss"]


@each_case
def test_an_estimator_is_saved_loaded_and_cloned(case, graph, tmp_path):
    model = imgcl.ImGCL(**case, n_clusters=2, epochs=2)
    twin = clone(model)
    assert clone(twin).get_params().keys() == model.get_params().keys()
    z = model.fit_transform(graph)
    assert np.array_equal(twin.fit_transform(graph), z)
    model.save(tmp_path / "run")
    objects = {key: case[key] for key in ("method", "encoder", "views") if not isinstance(case.get(key, ""), str)}
    loaded = imgcl.ImGCL.load(tmp_path / "run", **objects)
    assert np.array_equal(loaded.transform(graph), z)
    assert np.array_equal(loaded.fit_transform(graph), z)


def test_a_module_stays_as_it_is(graph):
    module = gnn.GCN(12, 4, num_layers=1)
    before = copy.deepcopy(module.state_dict())
    model = imgcl.ImGCL("bgrl", encoder=module, n_clusters=2, epochs=2).fit(graph)
    assert all(torch.equal(before[name], weight) for name, weight in module.state_dict().items())
    online, target = (dict(getattr(model._encoder.method, part).named_parameters()) for part in ("encoder", "target"))
    assert not torch.equal(*(part["module.convs.0.lin.weight"] for part in (online, target)))


def test_classes_of_ours_keep_their_names_and_presets(graph):
    config = make_config("cora", method=GRACE, preset="paper", overrides={"encoder": GCN})
    assert (config.method, config.preset, config.method_settings["encoder"]) == ("grace", "grace/cora/paper", "gcn")
    assert make_config("cora", method=Mine).preset is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "grase"}, "unknown method 'grase': did you mean 'grace'"),
        ({"method": "no.such:Method"}, "cannot import"),
        ({"method": "collections:OrderedDict"}, "expected a subclass of imgcl.methods.Method"),
        ({"method": dict}, "expected a subclass of imgcl.methods.Method"),
        ({"encoder": "sagee"}, "unknown encoder 'sagee': did you mean 'sage'"),
        ({"encoder": nn.Sequential(nn.Linear(12, 3), Doubles())}, "numbers of torch.float64: training is in float32"),
        ({"encoder": gnn.GCNConv(7, 3)}, "cannot read a graph with 12 features .*: it is called as"),
        ({"method": None}, r"^method is None: expected a subclass of imgcl.methods.Method"),
        ({"encoder": 3}, r"^encoder is 3: expected a module, or a function"),
        ({"encoder": lambda a, b: None}, r"made None: expected a torch.nn.Module"),
        ({"encoder": lambda: None}, r"cannot be made by a call with \(12, "),
        ({"encoder": gnn.GCNConv(12, 3), "settings": {"dim": 4}}, "setting 'dim' has no effect here"),
        ({"encoder": gnn.GCNConv(12, 3), "settings": {"batch_size": 16}}, "mini-batches need an encoder of imgcl"),
        ({"views": "edge-dorp:0.4"}, "unknown view 'edge-dorp': did you mean 'edge-drop'"),
        ({"views": "edge-drop:2"}, "a probability lies between 0 and 1"),
        ({"views": "edge-drop:0.2", "settings": {"edge_drop": 0.3}}, "views replaces it"),
        ({"views": "node-drop:0.2", "settings": {"batch_size": 16}}, "in mini-batches views may"),
        ({"views": "ppr", "settings": {"batch_size": 16}}, "in mini-batches views may"),
        ({"method": Mine, "encoder": "sage"}, "unknown setting 'encoder'"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(graph, parameters, message):
    with pytest.raises(imgcl.InputError, match=message) as caught:
        imgcl.ImGCL(**parameters, n_clusters=2, epochs=2).fit(graph)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_methods_with_views_of_their_own_refuse_others(method):
    if method in TWO_VIEWS:
        assert make_config("cora", method=method, overrides={"views": "edge-drop:0.2"}).method_settings["views"]
        return
    with pytest.raises(imgcl.InputError, match=f"method '{method}' makes its own views"):
        make_config("cora", method=method, overrides={"views": "edge-drop:0.2"})


def test_a_run_of_an_object_says_what_to_pass(graph, tmp_path):
    kind = local_method()
    imgcl.ImGCL(kind, n_clusters=2, epochs=2).fit(graph).save(tmp_path / "method")
    with pytest.raises(imgcl.RunError, match=r"known only to the program that made it: pass the object, method="):
        imgcl.ImGCL.load(tmp_path / "method")
    imgcl.ImGCL("gbt", encoder=SAGE, n_clusters=2, epochs=2).fit(graph).save(tmp_path / "encoder")
    with pytest.raises(imgcl.RunError, match="pass the object, encoder="):
        imgcl.ImGCL.load(tmp_path / "encoder")
    with pytest.raises(imgcl.InputError, match="but the run was trained with"):
        imgcl.ImGCL.load(tmp_path / "encoder", encoder=gnn.SAGEConv(12, 5))


def test_a_run_with_views_of_an_object_embeds_but_does_not_train(graph, tmp_path):
    model = imgcl.ImGCL("gbt", views=half_the_edges, n_clusters=2, epochs=2, settings={"dim": 4}).fit(graph)
    model.save(tmp_path / "run")
    loaded = imgcl.ImGCL.load(tmp_path / "run")
    assert np.array_equal(loaded.transform(graph), model.embedding_)
    with pytest.raises(imgcl.InputError, match="known only to the program that made them"):
        loaded.fit(graph)


def test_views_are_written_as_they_are_read():
    text = "adaptive-edge-drop:0.3:pagerank:0.7,feature-mask:0.1|subgraph:0.1:10"
    assert views_name(make_views(text)) == text
    assert views_name(EdgeRemoving(0.4)) == "edge-drop:0.4"


def test_plain_modules_and_lazy_ones_are_encoders(graph):
    for module in (nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3)), gnn.SAGEConv(-1, 3)):
        assert imgcl.ImGCL(encoder=module, n_clusters=2, epochs=2).fit_transform(graph).shape == (70, 3)
    assert encoder_name(two_layers) == f"{__name__}:two_layers"


def own_gcn(in_features: int, out_features: int) -> nn.Module:
    return GCN(in_features, [8, out_features])


@pytest.mark.parametrize("parameters", [{"method": Mine}, {"method": "grace", "encoder": own_gcn}])
def test_mini_batches_read_encoders_made_of_our_layers(graph, parameters):
    model = imgcl.ImGCL(**parameters, n_clusters=2, epochs=3, settings={"batch_size": 16}).fit(graph)
    assert np.isfinite(model.embedding_).all()


def test_a_fit_with_a_module_is_pickled(graph):
    model = imgcl.ImGCL("gbt", encoder=SAGE, views=half_the_edges, n_clusters=2, epochs=2).fit(graph)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(again.transform(graph), model.embedding_)
    assert np.array_equal(again.fit(graph).embedding_, model.embedding_)


def test_a_config_keeps_names_of_objects(graph):
    config = RunConfig(method=Mine, method_settings={"encoder": SAGE, "views": EdgeRemoving(0.2)})
    assert RunConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.slow
def test_a_script_finds_its_own_class_again(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    for _ in range(2):
        done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=os.environ)
        assert done.returncode == 0, done.stderr
    assert Run(tmp_path / "run").config.method == "__main__:Mine"
    with pytest.raises(imgcl.RunError, match="known only to the program that made it"):
        imgcl.ImGCL.load(tmp_path / "run")


def test_entry_points_add_methods(monkeypatch):
    from importlib import metadata

    point = metadata.EntryPoint("theirs", f"{__name__}:Mine", "imgcl.methods")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point] if group == "imgcl.methods" else [])
    assert resolve_method("theirs") is Mine


PARTS = """
from torch_geometric.nn import GCNConv
from imgcl.methods import TwoViews
from imgcl.losses import barlow_twins

class Mine(TwoViews):
    def __init__(self, n_features, settings):
        super().__init__(n_features, settings)
        self.encoder = settings.build_encoder(n_features)

    def loss(self, block, rows, generator):
        return barlow_twins(*self.encoder(self.draw(block, generator), rows))

def factory(in_features, out_features):
    return GCNConv(in_features, out_features)
"""

SCRIPT = (
    PARTS
    + """
import pathlib
import imgcl
graph = imgcl.load_graph("synthetic", class_sizes=[50, 20], n_features=12, seed=0)
if not pathlib.Path("run").exists():
    imgcl.ImGCL(Mine, n_clusters=2, epochs=2).fit(graph).save("run")
assert imgcl.ImGCL.load("run").transform(graph).shape == (70, 256)
"""
)


def test_the_command_line_takes_all_three(tmp_path: Path):
    (tmp_path / "my_parts.py").write_text(PARTS, encoding="utf-8")
    own = ["--method", "my_parts:Mine", "--encoder", "my_parts:factory", "--views", "edge-drop:0.4,feature-mask:0.1"]
    command = "import sys; from imgcl.cli import main; sys.path.remove(''); main()"  # as the script `imgcl` has it
    arguments = [
        "pretrain",
        "digits",
        *own,
        "--set",
        "dim=4",
        "--epochs",
        "2",
        "--no-balance",
        "--out",
        "run",
        "--quiet",
    ]
    done = subprocess.run(
        [sys.executable, "-c", command, *arguments], cwd=tmp_path, capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    config = Run(tmp_path / "run").config
    assert (config.method, config.method_settings["encoder"]) == ("my_parts:Mine", "my_parts:factory")
    assert Run(tmp_path / "run").embedding.shape[1] == 4


def test_the_command_line_says_what_it_does_not_know(tmp_path):
    for option, message in (("--method=gtb", "unknown method 'gtb'"), ("--views=edge", "unknown view 'edge'")):
        result = CliRunner().invoke(app, ["pretrain", "digits", option, "--out", str(tmp_path / "run")])
        assert message in str(result.exception)
