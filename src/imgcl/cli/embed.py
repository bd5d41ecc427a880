"""``imgcl embed``: the embedding of a run, or of another graph by its encoder, in the format of your choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imgcl._core.errors import InputError
from imgcl.cli.console import DataDir, NoOwnFeatures, SpreadsheetSafe, check_out, say
from imgcl.cli.tables import write_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
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
    no_own_features: NoOwnFeatures = False,
    spreadsheet_safe: SpreadsheetSafe = False,
) -> None:
    """Write the embeddings of a run: one row per node, with its name where the graph has names.

    Blocks have names: arrays learned, own and neighbours in .npz, columns learned_0, own_0, ... in .csv and .parquet.
    An .npy file holds one array, the learned block.

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
    stored, alone = Run(run), no_own_features or file.suffix.lower() == ".npy"
    if graph is not None:
        blocks, names = _embed_new(stored, graph, device or "auto", data_dir, file, alone)
    elif device is not None or data_dir is not None:
        raise InputError("--device and --data-dir are for another graph: give it with --graph, or leave them out")
    else:
        blocks, names = {"learned": stored.embedding} if alone else stored.blocks, stored.node_names
    write_blocks(blocks, names, file, spreadsheet_safe=spreadsheet_safe)
    counts = f"{len(blocks['learned']):,} nodes; {', '.join(blocks)}"
    say(f"{file} ({counts})", head="written")


def _embed_new(
    run: Run, graph: str, device: str, data_dir: Path | None, file: Path, alone: bool
) -> tuple[dict[str, NDArray[np.float32]], Sequence[str] | None]:
    """Blocks (or the learned one ``alone``) and node names of another graph.

    Hidden layers of a large one lie beside the output meanwhile.
    """
    from imgcl.cli.score import compare_rules
    from imgcl.data import load_graph
    from imgcl.graph.structure import is_structural
    from imgcl.training.loading import load_encoder

    compare_rules(run.record, graph)
    file.parent.mkdir(parents=True, exist_ok=True)
    encoder = load_encoder(run, device=device, scratch=file.parent)
    loaded = load_graph(graph, features="structure" if is_structural(run.feature_names) else "auto", data_dir=data_dir)
    blocks = {"learned": encoder.embed(loaded)} if alone else encoder.embed_blocks(loaded)
    return blocks, loaded.node_names


def write_blocks(
    blocks: Mapping[str, NDArray[np.float32]],
    names: Sequence[str] | None,
    file: Path,
    *,
    spreadsheet_safe: bool = False,
) -> None:
    """Write the blocks of an embedding with the names of its nodes; the file name's ending is the format.

    An ``.npy`` file holds one array, the learned block.
    """
    import numpy as np

    from imgcl._core.files import atomic_path, write_array

    kind = file.suffix.lower()
    if kind == ".npy":
        write_array(file, blocks["learned"])
        return
    if kind != ".npz":
        write_table(_frame(blocks, names), file, spreadsheet_safe=spreadsheet_safe)
        return
    arrays: dict[str, Any] = dict(blocks)
    if names is not None:
        arrays["node"] = np.array(list(names), dtype=np.str_)
    with atomic_path(file) as temporary:
        np.savez(temporary, **arrays)


def _frame(blocks: Mapping[str, NDArray[np.float32]], names: Sequence[str] | None) -> pd.DataFrame:
    """One row per node, with columns learned_0, learned_1, … own_0, and so on."""
    import pandas as pd

    parts = [pd.DataFrame(rows, columns=[f"{name}_{i}" for i in range(rows.shape[1])]) for name, rows in blocks.items()]
    frame = pd.concat(parts, axis=1)
    frame.insert(0, "node", pd.Series(range(len(frame)) if names is None else list(names)))
    return frame
