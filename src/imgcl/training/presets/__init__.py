"""Settings of the methods, as data: one TOML file per method and graph.

A file has up to three tables. ``[auto]`` is ours for any graph: training stops when it has settled. ``[fast]`` is ours
for one graph: at most 500 epochs, chosen on validation accuracy only. ``[paper]`` is the published setting. Each says
where it comes from: ``origin`` is ``official`` (the method's own repository), ``family`` (the same authors, or the same
method on another graph) or ``ours``. ``default.toml`` serves every graph without a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Literal

from imgcl._core.documents import read_toml
from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.methods import Method, method_name, resolve_method
from imgcl.training.settings import RunConfig, TrainingSettings, validated

Kind = Literal["auto", "fast", "paper"]
KINDS: tuple[Kind, ...] = ("paper", "fast", "auto")
DEFAULT = "default"


@dataclass(frozen=True)
class Preset:
    """A named setting of a method on a graph."""

    method: str
    graph: str
    kind: Kind
    origin: str
    source: str
    method_settings: dict[str, Any]
    training: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.method}/{self.graph}/{self.kind}"

    def config(self) -> RunConfig:
        """A run with these settings; balance and seed are left as they are."""
        return RunConfig(
            method=self.method,
            method_settings=self.method_settings,
            training=validated(TrainingSettings, self.training),
            preset=self.name if self.origin else None,
        )


def find_preset(method: str | type[Method[Any]], graph: str, kind: str = "fast") -> Preset:
    """The preset of a method for a graph, or the method's default when the graph has none of this kind.

    A method without an ``auto`` setting has its ``fast`` ones instead.

    Methods of other packages have no presets: theirs leaves every setting at its default.

    Example:
        >>> find_preset("gbt", "amazon-photo", "paper").training["epochs"]
        4000
    """
    resolve_method(method)
    name = method_name(method)
    if kind not in KINDS:
        raise InputError(f"unknown preset {kind!r}{did_you_mean(kind, KINDS)}")
    found = {(preset.graph, preset.kind): preset for preset in list_presets(name)}
    for key in ((graph, kind), (DEFAULT, kind), (DEFAULT, "fast")):
        if key in found:
            return found[key]
    return Preset(name, DEFAULT, "fast", "", "the defaults of the method and of the training", {}, {})


def list_presets(method: str | None = None) -> list[Preset]:
    """All presets, or those of one method."""
    presets = []
    for folder in sorted(resources.files("imgcl.training.presets").iterdir(), key=lambda entry: entry.name):
        if not folder.is_dir() or folder.name.startswith("_") or method not in (None, folder.name):
            continue
        for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
            presets += _read(folder.name, file)
    return presets


def _read(method: str, file: Traversable) -> list[Preset]:
    """The presets of one file."""
    try:
        tables = read_toml(file)
        return [
            Preset(
                method,
                file.name.removesuffix(".toml"),
                kind,
                str(table["origin"]),
                str(table["source"]),
                dict(table.get("method", {})),
                dict(table.get("training", {})),
            )
            for kind in KINDS
            if (table := tables.get(kind)) is not None
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"preset {method}/{file.name} is damaged ({error}): install imgcl again") from None
