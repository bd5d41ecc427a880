"""``imgcl embed``: the embedding of a run, or of another graph by its encoder, in the format of your choice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from imgcl._core.errors import InputError
from imgcl.cli.console import DataDir, SpreadsheetSafe, check_out, err

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from imgcl.training import Run

FORMATS = (".npy", ".npz", ".parquet", ".csv")


def embed(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    file: Annotated[Path, typer.Option("--out", help="File to write: .npy, .npz, .parquet or .csv.")],
    graph: Annotated[
        str | None,
        typer.Option(help="Embed this graph (data set name or path) by the run's encoder, in place of the run's own."),
    ] = None,
    device: Annotated[str | None, typer.Option(help="For --graph: auto (the default), cpu, cuda or cuda:N.")] = None,
    data_dir: DataDir = None,
    spreadsheet_safe: SpreadsheetSafe = False,
) -> None:
    """Write the embeddings of a run: one row per node, with its name where the graph has names.

    With --graph a new graph is embedded by the trained encoder. Features are matched by name where both graphs have
    names, and normalised as in the training.

    Examples:
      imgcl embed runs/digits --out digits.npy
      imgcl embed runs/digits --out digits.parquet
      imgcl embed runs/photo --graph new-photos.npz --out new.parquet
    """
    from imgcl.training import Run

    check_out("--out", file, FORMATS)
    if spreadsheet_safe and file.suffix.lower() != ".csv":
        raise InputError(f"--spreadsheet-safe is for CSV files, and --out is {file}: leave one of them out")
    stored = Run(run)
    if graph is not None:
        z, names = _embed_new(stored, graph, device or "auto", data_dir, file)
    elif device is not None or data_dir is not None:
        raise InputError("--device and --data-dir are for another graph: give it with --graph, or leave them out")
    else:
        z, names = stored.embedding, stored.node_names
    write_embedding(z, names, file, spreadsheet_safe=spreadsheet_safe)
    err.print(f"[green]written[/green]: {escape(str(file))} ({len(z):,} nodes)")


def _embed_new(
    run: Run, graph: str, device: str, data_dir: Path | None, file: Path
) -> tuple[NDArray[np.float32], Sequence[str] | None]:
    """Embedding and node names of another graph; hidden layers of a large one lie beside the output meanwhile."""
    from imgcl.data import load_graph
    from imgcl.graph.structure import is_structural
    from imgcl.training.loading import load_encoder

    file.parent.mkdir(parents=True, exist_ok=True)
    encoder = load_encoder(run, device=device, scratch=file.parent)
    loaded = load_graph(graph, features="structure" if is_structural(run.feature_names) else "auto", data_dir=data_dir)
    return encoder.embed(loaded), loaded.node_names


def write_embedding(
    z: NDArray[np.float32], names: Sequence[str] | None, file: Path, *, spreadsheet_safe: bool = False
) -> None:
    """Write an embedding with the names of its nodes; the file name's ending is the format."""
    import numpy as np

    from imgcl._core.files import atomic_path, write_array
    from imgcl._core.spreadsheets import write_frame

    kind = file.suffix.lower()
    if kind == ".npy":
        write_array(file, z)
        return
    with atomic_path(file) as temporary:
        if kind == ".npz":
            arrays = (
                {"embedding": z} if names is None else {"embedding": z, "node": np.array(list(names), dtype=np.str_)}
            )
            np.savez(temporary, **arrays)
            return
        import duckdb
        import pandas as pd

        frame = pd.DataFrame(z, columns=[f"z{i}" for i in range(z.shape[1])])
        frame.insert(0, "node", pd.Series(range(len(z)) if names is None else list(names)))
        if kind == ".csv":
            write_frame(frame, temporary, spreadsheet_safe=spreadsheet_safe)
        else:
            # The file is a temporary one already; one more would be left behind by a crash.
            duckdb.from_df(frame).write_parquet(str(temporary), use_tmp_file=False)
