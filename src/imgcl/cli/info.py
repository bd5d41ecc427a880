"""``imgcl info``: what a graph, a run, a scorer or a study is, how it was made, and what to do with it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imgcl.cli.completion import data_sets
from imgcl.cli.console import DataDir, facts_table, option_words, out, say

if TYPE_CHECKING:
    from imgcl.training import Run, RunConfig
    from imgcl.training.record import GraphRecord

SHOWN = 12  # classes that are named


def info(
    graph: Annotated[
        str,
        typer.Argument(
            help="Data set name, graph file or store; or a run, a scorer, a study.", autocompletion=data_sets
        ),
    ],
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what something is, how it was made and what to do next.

    Of a graph: sizes, classes, what was cleaned, fingerprint, how alike linked nodes are. Of a run directory: method,
    settings, epochs, blocks, classes. Of a scorer: classifier, prior, decision and what to expect. Of a study: how many
    cells are done.

    Examples:
      imgcl info digits
      imgcl info amazon-photo --json
      imgcl info my-graph.npz
      imgcl info runs/mine
      imgcl info scorers/mine
    """
    facts = describe(graph, data_dir)
    if as_json:
        print(json.dumps(facts, allow_nan=False))
        return
    following = facts.pop("next")
    title = f"{facts.pop('kind')} {facts.pop('path', None) or facts.pop('name')}"
    out.print(facts_table(title, {key.replace("_", " "): _in_words(key, value) for key, value in facts.items()}))
    for command in following:
        say(f"next: {command}")


def describe(thing: str, data_dir: Path | None = None) -> dict[str, Any]:
    """The facts about a thing, as plain values with stable names."""
    path = Path(thing).expanduser()
    if (path / "scorer.json").is_file():
        return _scorer(path)
    if (path / "journal.jsonl").is_file():
        return _study(path)
    if (path / "config.json").is_file():
        return _run(path)
    return _graph(thing, data_dir)


# ------------------------------------------------------------------ what there is


def _graph(source: str, data_dir: Path | None) -> dict[str, Any]:
    from imgcl.data import load_graph
    from imgcl.graph import linked_likeness

    graph = load_graph(source, features="own", data_dir=data_dir)
    facts = {_key(name): value for name, value in graph.summary().items()}
    if graph.y is not None:
        facts["class_sizes"] = _classes(graph.class_names, graph.class_sizes.tolist())
    made = _imported(Path(source).expanduser())
    likeness = {"linked_nodes": linked_likeness(graph).facts()}
    name = Path(source).name.partition(".")[0].partition(":")[0]
    following = [_command("pretrain", source, "--out", f"runs/{name}")]
    return {"kind": "graph", **facts, **likeness, **made, "next": following}


def _imported(path: Path) -> dict[str, Any]:
    """The tables and columns that a store was made from, where it says."""
    from imgcl.data.importing.recipe import FILE, Recipe

    if not (path / FILE).is_file():
        return {}
    settings = Recipe.read(path).settings.model_dump(mode="json", exclude_defaults=True)
    return {"imported_with": settings}


def _run(path: Path) -> dict[str, Any]:
    from imgcl.training import Run

    run = Run(path)
    config, facts, record = run.config, run.facts, run.record
    training, history = config.training, run.history if (path / "history.json").is_file() else {"loss": []}
    labels = record.labels
    known: dict[str, Any] = {} if labels is None else {"labelled_nodes": int((labels >= 0).sum())}
    if labels is not None:
        known["class_sizes"] = _classes(record.class_names, _sizes(labels, record.class_names))
    blocks = {name: block.shape[1] for name, block in run.blocks.items()} if run.finished else {}
    return {
        "kind": "run",
        "path": str(path),
        "finished": run.finished,
        "graph": _identity(record),
        "method": config.method,
        "balance": None if config.balance is None else config.balance.model_dump(mode="json"),
        "preset": config.preset,
        "seed": config.seed,
        "epochs": training.epochs,
        "settle": training.settle,
        "epochs_done": len(history["loss"]),
        "extended": [{"after": after, "of": of} for after, of in config.extended],
        "loss": history["loss"][-1] if history["loss"] else None,
        "nodes": len(run.embedding) if run.finished else None,
        "blocks": [{"name": name, "columns": width} for name, width in blocks.items()],
        **known,
        "versions": {name: facts["versions"].get(name) for name in ("imgcl", "python", "torch")},
        "next": after_run(run),
    }


def _identity(record: GraphRecord) -> dict[str, str]:
    return {"name": record.name, "source": record.source, "fingerprint": record.fingerprint}


def after_run(run: Run) -> list[str]:
    """Commands that may come next: without labels which nodes to label, else what the labels are good for."""
    path, name, labels = str(run.path), run.path.name, run.record.labels
    if not run.finished:
        return [_command("pretrain", run.record.source, *_options(run.config), "--out", path, "--resume")]
    if labels is None or not (labels >= 0).any():
        return [_command("suggest", path, "--out", "to_label.csv"), _command("embed", path, "--out", f"{name}.parquet")]
    return [
        _command("evaluate", path),
        _command("predict", path, "--out", f"{name}.csv"),
        _command("report", path, "--out", f"{name}.html"),
    ]


def _options(config: RunConfig) -> list[str]:
    """The options that most runs differ in; of the others ``--resume`` says which are missing."""
    kind = "auto" if config.preset is None else config.preset.rsplit("/", 1)[-1]
    words = option_words({"method": (config.method, "gbt"), "preset": (kind, "auto"), "seed": (config.seed, 0)})
    words += [] if config.training.settle else ["--epochs", str(config.training.epochs)]
    plain = kind == "auto"  # if nothing else is said
    if config.balance is None:
        return words + ([] if plain else ["--no-balance"])
    changed = ",".join(_changed(config.balance.model_dump(mode="json")))
    return words + (["--balance", changed or "imgcl"] if plain or changed else [])


def _scorer(path: Path) -> dict[str, Any]:
    from imgcl.evaluation import FittedScorer
    from imgcl.training import Run

    scorer, run = FittedScorer.load(path), Run(path / "run")
    config = run.config
    return {
        "kind": "scorer",
        "path": str(path),
        "graph": _identity(run.record),
        "features": run.record.n_features,
        "method": config.method,
        "seed": config.seed,
        "blocks": [{"name": name or "learned", "columns": width} for name, width in scorer.widths.items()],
        **scorer_facts(scorer),
        "card": str(path / "MODEL_CARD.md"),
        "next": [_command("score", str(path), "GRAPH", "--out", "scores.csv")],
    }


def scorer_facts(scorer: Any) -> dict[str, Any]:
    """Classifier, classes, prior, decision and quality of a scorer; ``imgcl predict --json`` gives them as well."""
    triples = zip(scorer.class_names, scorer.labels, scorer.prior.shares, strict=True)
    expected = {name: dict(rates) for name, rates in scorer.decision.expected.items()}
    measured = scorer.quality.get("classes", {})
    metrics = ("auroc", "auprc", "recall_at_k", "lift", "brier")
    return {
        "classifier": scorer.classifier,
        "classes": [
            {"name": name, "labels": int(labels), "prior": float(share)}
            | {metric: measured[name][metric] for metric in metrics if name in measured}
            | ({"expected": expected[name]} if name in expected else {})
            for name, labels, share in triples
        ],
        "prior": scorer.prior.source,
        "decision": scorer.decision.rule,
        "target": scorer.class_names[scorer.target],
    }


def _study(path: Path) -> dict[str, Any]:
    from imgcl.studies import Results
    from imgcl.studies.journal import Journal

    name = path.resolve().name
    results = Results(name, Journal(path / "journal.jsonl"))
    facts = {_key(key): value for key, value in results.facts().items()}
    root = ["--root", str(path.parent)]
    following = [_command("study", "status", name, *root), _command("report", str(path), "--out", f"{name}.html")]
    return {"kind": "study", "name": name, "path": str(path), "cells": results.counts(), **facts, "next": following}


# ------------------------------------------------------------------ in other words


def _key(name: str) -> str:
    """A name that other programs can rely on: no spaces, no hyphens."""
    return name.replace(" ", "_").replace("-", "_")


def _sizes(labels: Any, names: Sequence[str] | None) -> list[int]:
    import numpy as np

    return [int(size) for size in np.bincount(labels[labels >= 0], minlength=len(names or ()))]


def _classes(names: Sequence[str] | None, sizes: Sequence[int]) -> list[dict[str, Any]]:
    return [{"name": str(k) if names is None else names[k], "nodes": int(size)} for k, size in enumerate(sizes)]


def _command(*words: str) -> str:
    return shlex.join(["imgcl", *words])


def _in_words(key: str, value: Any) -> Any:
    """A fact for people."""
    if key == "class_sizes":
        most = sorted(value, key=lambda each: -each["nodes"])
        named = ", ".join(f"{each['name']} {each['nodes']:,}" for each in most[:SHOWN])
        return named + (f" and {len(most) - SHOWN} more" if len(most) > SHOWN else "")
    if key == "linked_nodes":
        return _likeness(value)
    if key == "graph":
        return f"{value['name']} ({value['source']}, fingerprint {value['fingerprint'][:12]})"
    if key == "balance":
        return _balance(value)
    if key == "classes" and isinstance(value, list):
        return "\n".join(_class_in_words(each) for each in value)
    if key == "blocks":
        return ", ".join(f"{each['name']} {each['columns']}" for each in value) or "none yet"
    if key == "nodes" and value is None:
        return "not embedded yet"
    if key == "extended":
        return ", ".join(f"after epoch {each['after']} of {each['of']}" for each in value) or "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_short(each)}" for name, each in value.items()) or "defaults"
    return _short(value)


def _balance(settings: Mapping[str, Any] | None) -> str:
    """ImGCL with what is not its default, or without it."""
    if settings is None:
        return "none: the plain method"
    changed = ", ".join(_changed(settings))
    return f"ImGCL ({changed})" if changed else "ImGCL"


def _changed(settings: Mapping[str, Any]) -> list[str]:
    from imgcl.balance import BalanceSettings

    usual = BalanceSettings().model_dump(mode="json")
    return [f"{name}={value}" for name, value in settings.items() if value != usual.get(name)]


def _short(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "none" if value is None else value


def _class_in_words(each: Mapping[str, Any]) -> str:
    said = f"{each['name']}: {each['labels']:,} labels, {100 * each['prior']:.1f} % of the nodes to score"
    if each.get("auprc") is not None:
        said += f", AUPRC {100 * each['auprc']:.1f} %"
    if "expected" in each:
        rates = {name: rate["value"] for name, rate in each["expected"].items() if rate["value"] is not None}
        said += "; expected " + ", ".join(f"{name.replace('_', ' ')} {100 * v:.1f} %" for name, v in rates.items())
    return said


def _likeness(values: Mapping[str, Any]) -> str:
    lines = []
    if "linked_cosine" in values:
        lines.append(f"features: cosine {values['linked_cosine']:.2f}, of random pairs {values['random_cosine']:.2f}")
    if "same_label" in values:
        lines.append(f"labels: {100 * values['same_label']:.0f} % the same, {100 * values['chance']:.0f} % by chance")
    return "\n".join([*lines, values["meaning"]])
