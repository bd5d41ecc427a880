"""``imgcl report``: one HTML file that shows what was learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl._core.words import listed
from imgcl.cli.completion import classifiers
from imgcl.cli.console import DataDir, Law, NoOwnFeatures, TestNodes, check_out, put, resolved_test, warn
from imgcl.cli.flags import in_flags
from imgcl.cli.progress import shown_progress


def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Run directories of one graph, several are compared; or one study.")
    ],
    file: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("report.html"),
    imbalance: Law = "natural",
    test: TestNodes = None,
    classifier: Annotated[
        str, typer.Option(help="Classifiers, separated by commas.", autocompletion=classifiers)
    ] = "plain,pbs",
    splits: Annotated[int, typer.Option(min=1, help="Number of splits.")] = 10,
    projection: Annotated[str, typer.Option("--map", help="How embeddings are drawn: tsne, pca, umap.")] = "tsne",
    points: Annotated[int, typer.Option(min=3, help="Maximum number of nodes on a map; more are sampled.")] = 20_000,
    graph: Annotated[str | None, typer.Option(help="Where the graph is now (default: where the run found it).")] = None,
    labels: Annotated[Path | None, typer.Option(help="CSV file node,label (default: labels of the graph).")] = None,
    decide: Annotated[
        str,
        typer.Option(
            help="argmax, balanced, cost:CLASS=10,OTHER=1, flag-rate:2%, min-precision:0.8 or min-recall:0.9."
        ),
    ] = "argmax",
    no_own_features: NoOwnFeatures = False,
    seed: Annotated[int, typer.Option(help="Seed of the splits and of the map.")] = 0,
    data_dir: DataDir = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the file in the browser.")] = False,
) -> None:
    """Write an interactive report: a ranking with a threshold to move, recall and precision, maps, training, settings.

    Examples:
      imgcl report runs/photo --out photo.html --open
      imgcl report runs/photo-plain runs/photo --out compare.html
      imgcl report studies/main --out main.html
      imgcl report runs/photo --imbalance exp:100 --classifier plain,reweight
      imgcl report runs/mine --labels labels.csv --decide min-precision:0.8 --map pca
    """
    from imgcl.report import build_content, is_study, read_nodes, read_runs, study_content, write_report

    check_out("--out", file, [".html", ".htm"])
    if projection == "umap":
        need("umap", "--map umap")
    if is_study(runs[0]):
        if len(runs) > 1:
            raise InputError(f"{runs[0]} is a study: report it alone")
        content = study_content(runs[0])
    else:
        found = read_runs(runs, own_features=not no_own_features)
        nodes, remark = read_nodes(runs[0], graph=graph, labels=labels, data_dir=data_dir)
        if remark is not None:
            warn(in_flags(remark))
        with shown_progress("report"):
            content = build_content(
                found,
                nodes,
                imbalance=imbalance,
                test=resolved_test(test, imbalance),
                classifiers=tuple(listed(classifier)),
                splits=splits,
                random_state=seed,
                projection=projection,
                points=points,
                decision=decide,
            )
        for note in content.get("protocol", {}).get("notes", []):
            warn(note)
    written = write_report(content, file)
    put(str(written))
    if open_browser:
        typer.launch(written.resolve().as_uri())
