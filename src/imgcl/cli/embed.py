"""``imgcl embed``: the embedding of a run in the format of your choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from imgcl._core.errors import InputError
from imgcl.cli.console import SpreadsheetSafe, check_out, err

if TYPE_CHECKING:
    from imgcl.training import Run

FORMATS = (".npy", ".npz", ".parquet", ".csv")


def embed(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    file: Annotated[Path, typer.Option("--out", help="File to write: .npy, .npz, .parquet or .csv.")],
    spreadsheet_safe: SpreadsheetSafe = False,
) -> None:
    """Write the embeddings of a run: one row per node, with its name where the graph has names.

    Examples:
      imgcl embed runs/digits --out digits.npy
      imgcl embed runs/digits --out digits.parquet
    """
    from imgcl.training import Run

    check_out("--out", file, FORMATS)
    if spreadsheet_safe and file.suffix.lower() != ".csv":
        raise InputError(f"--spreadsheet-safe is for CSV files, and --out is {file}: leave one of them out")
    write_embedding(Run(run), file, spreadsheet_safe=spreadsheet_safe)
    err.print(f"[green]written[/green]: {escape(str(file))}")


def write_embedding(run: Run, file: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write a run's embedding; the file name's ending is the format."""
    import numpy as np

    from imgcl._core.files import atomic_path, write_array
    from imgcl._core.spreadsheets import write_frame

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
            write_frame(frame, temporary, spreadsheet_safe=spreadsheet_safe)
        else:
            # The file is a temporary one already; one more would be left behind by a crash.
            duckdb.from_df(frame).write_parquet(str(temporary), use_tmp_file=False)
