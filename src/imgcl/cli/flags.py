"""Messages of the library in the words of the command line: a parameter in backticks becomes its option."""

from __future__ import annotations

import re
import shlex

PARAMETER = re.compile(r"`(\w+)(?:=(?:'([^']*)'|(\w+)))?`")
SPECIAL = re.compile(r"[^\w.,:=%/+…-]")  # what a shell may take for something else
OPTIONS = {  # parameters that messages of the library name, and have an option of the same name
    *("balance", "batch_size", "blocks", "budget", "data_dir", "device", "directed_as", "dst", "dtype", "edges"),
    *(
        "epochs",
        "features",
        "graph",
        "id_column",
        "label",
        "label_column",
        "labels",
        "like",
        "log",
        "memory_limit",
        "missing",
        "most_values",
        "nodes",
    ),
    *("numeric_label", "on_dangling", "out", "prior", "resume", "show", "src", "standardise", "strategy", "threads"),
    *("as_of", "protocol", "node_time", "relation", "relations", "split", "time", "weight", "workers"),
}
OTHERS = {"decision": "--decide", "target": "--sort-by", "balance=None": "--no-balance", "layers=1": "--set layers=1"}


def in_flags(message: str) -> str:
    """A message with options of the command line in place of parameters.

    Example:
        >>> in_flags("use another directory (`out`), or continue with `resume=True`")
        'use another directory (--out), or continue with --resume'
        >>> in_flags("fill them with `missing='mean'`")
        'fill them with --missing mean'
    """
    return PARAMETER.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    written, name, value = found[0].strip("`"), found[1], found[2] or found[3]
    if written in OTHERS:
        return OTHERS[written]
    if name not in OPTIONS:
        return found[0]
    option = f"--{name.replace('_', '-')}"
    return option if value in (None, "True") else f"{option} {shlex.quote(value) if SPECIAL.search(value) else value}"
