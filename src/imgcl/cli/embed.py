"""``imgcl embed``: the embedding of a run in the format of your choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from imgcl._core.errors import InputError
from imgcl.cli.console import err

if TYPE_CHECKING:
    from imgcl.training import Run

FORMATS = (".npy", ".npz", ".parquet", ".csv")


def embed(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    file: Annotated[Path, typer.Option("--out", help="File to write: .npy, .npz, .parquet or .csv.")],
) -> None:
    """Write the embeddings of a run: one row per node, with its name where the graph has names.

    Examples:
      imgcl embed runs/digits --out digits.npy
      imgcl embed runs/digits --out digits.parquet
    """
    from imgcl.training import Run

    if file.suffix.lower() not in FORMATS:
        raise InputError(f"--out {file}: the name must end in {', '.join(FORMATS)}")
    write_embedding(Run(run), file)
    err.print(f"[green]written[/green]: {escape(str(file))}")


def write_embedding(run: Run, file: Path) -> None:
    """Write a run's embedding; the file name's ending is the format."""
    import numpy as np

    from imgcl._core.files import atomic_path, write_array

    z, names = run.embedding, run.node_names
    kind = file.suffix.lower()
    if kind == ".npy":
        write_array(file, z)
        return
    with atomic_path(file) as temporary:
        if kind == ".npz":
            arrays = {"embedding": z} if names is None else {"embedding": z, "node": np.array(names, dtype=np.str_)}
            np.savez(temporary, **arrays)
            return
        import duckdb
        import pandas as pd

        frame = pd.DataFrame(z, columns=[f"z{i}" for i in range(z.shape[1])])
        frame.insert(0, "node", pd.Series(range(len(z)) if names is None else names))
        if kind == ".csv":
            frame.to_csv(temporary, index=False)
        else:
            duckdb.from_df(frame).write_parquet(str(temporary))
