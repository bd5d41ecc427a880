"""``imgcl baseline``: what to compare with, through the same evaluation."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from imgcl._core.words import number_or_text
from imgcl.cli.console import DataDir, Law, ProtocolName, TestNodes, chosen_protocol, key_values, put
from imgcl.cli.progress import shown_progress


def baseline(
    name: Annotated[str, typer.Argument(help="Baseline, for example features, node2vec, gcn, trees.")],
    graph: Annotated[str, typer.Argument(help="A labelled graph: data set name or path.")],
    imbalance: Law = "natural",
    test: TestNodes = None,
    protocol: ProtocolName = None,
    classifier: Annotated[str | None, typer.Option(help="Classifiers, separated by commas.")] = None,
    splits: Annotated[int, typer.Option(min=1, help="Number of splits.")] = 20,
    options: Annotated[list[str] | None, typer.Option("--set", help="An option of the baseline, key=value.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the splits and of the baseline.")] = 0,
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, fractions in 0..1.")] = False,
) -> None:
    """Evaluate a baseline: features, random walks, label propagation, trees, supervised networks made for imbalance.

    Examples:
      imgcl baseline features digits
      imgcl baseline node2vec amazon-photo --set p=0.5 --set q=2
      imgcl baseline gcn dblp --classifier plain,pbs --json
      imgcl baseline trees-neighbours amazon-photo --splits 5
      imgcl baseline renode cora --protocol step:10 --classifier balanced-softmax --set tam=1
    """
    from imgcl.baselines import resolve_baseline, run_baseline
    from imgcl.baselines.running import check_options
    from imgcl.data import load_graph

    given: dict[str, Any] = {key: number_or_text(value) for key, value in key_values(options or []).items()}
    check_options(name, given)  # also what run_baseline takes by itself, such as graph
    loaded = load_graph(graph, features="auto" if resolve_baseline(name).reads_features else "own", data_dir=data_dir)
    how = chosen_protocol(protocol, imbalance, test)
    with shown_progress(f"baseline {name}"):
        result = run_baseline(name, loaded, classifier=classifier, splits=splits, random_state=seed, **how, **given)
    if as_json:
        print(result.to_json())
    else:
        put(str(result))
