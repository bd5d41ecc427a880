"""``imgcl presets``: the settings that come with the package."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.cli.console import facts_table, out, put


def presets(
    name: Annotated[str | None, typer.Argument(help="A method, or method/graph/kind to see one in full.")] = None,
) -> None:
    """List the presets, or show one with everything it sets and where it comes from.

    Examples:
      imgcl presets
      imgcl presets gbt
      imgcl presets gbt/amazon-photo/paper
    """
    from imgcl.methods import METHODS, resolve_method
    from imgcl.training.presets import list_presets

    found = list_presets()
    if name is not None and "/" in name:
        chosen = next((preset for preset in found if preset.name == name), None)
        if chosen is None:
            hint = did_you_mean(name, [preset.name for preset in found], "`imgcl presets` lists them")
            raise InputError(f"unknown preset {name!r}{hint}")
        facts = {"origin": chosen.origin, "source": chosen.source, **chosen.config().training.model_dump()}
        out.print(facts_table(chosen.name, facts | chosen.config().build_settings().model_dump()))
        return
    if name is not None and resolve_method(name) not in METHODS.values():
        put(f"{name} has no presets: it starts from its own defaults")
        return
    table = Table()
    for column in ("preset", "origin", "epochs", "lr", "source"):
        # A preset's name is what the next command takes: never shortened; sources are folded instead.
        table.add_column(column, no_wrap=column == "preset", overflow="fold")
    for preset in sorted(found, key=lambda preset: (list(METHODS).index(preset.method), preset.graph, preset.kind)):
        if name in (None, preset.method):
            training = preset.config().training
            table.add_row(preset.name, preset.origin, str(training.epochs), f"{training.lr:g}", escape(preset.source))
    out.print(table)
