"""``imgcl evaluate``: from a run directory to a tail-aware table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imgcl._core.errors import InputError
from imgcl._core.progress import stage
from imgcl._core.words import listed
from imgcl.cli.completion import classifiers
from imgcl.cli.console import (
    DataDir,
    Law,
    NoOwnFeatures,
    ProtocolName,
    TestNodes,
    chosen_blocks,
    chosen_protocol,
    put,
    resolved_test,
    say,
    warn,
)
from imgcl.cli.flags import in_flags
from imgcl.cli.progress import shown_progress

if TYPE_CHECKING:
    from imgcl.graph.time import NodeTime
    from imgcl.imbalance import Period
    from imgcl.training import Run


def evaluate(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    imbalance: Law = "natural",
    test: TestNodes = None,
    protocol: ProtocolName = None,
    classifier: Annotated[
        str, typer.Option(help="Classifiers, separated by commas.", autocompletion=classifiers)
    ] = "plain,pbs,ensemble",
    splits: Annotated[int, typer.Option(min=1, help="Number of splits.")] = 20,
    probe: Annotated[str, typer.Option(help="How classifiers are fitted: batched, sklearn, pygcl.")] = "batched",
    split: Annotated[
        str | None,
        typer.Option(help="time:COLUMN: train on earlier nodes, test on later ones, per period (5, or time:COLUMN:3)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the splits.")] = 0,
    no_own_features: NoOwnFeatures = False,
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, fractions in 0..1.")] = False,
) -> None:
    """Train classifiers on 10 % of the labelled nodes and test them on others.

    Labels and test nodes are as common as in the graph; a law such as exp:100 thins the labels and balances the test.
    All blocks of the run are used; each classifier chooses a weight for each on the validation nodes, 0 included.
    Two rows below cost no training, own and propagated features alone; a sentence says when they are not beaten, and
    when trees on own features, without the graph, are better.

    Examples:
      imgcl evaluate runs/digits
      imgcl evaluate runs/photo --imbalance exp:100 --classifier plain,reweight,pbs,logit-adjust
      imgcl evaluate runs/photo --imbalance pareto:1 --test natural --splits 5 --json
      imgcl evaluate runs/photo --no-own-features
      imgcl evaluate runs/cora --protocol step:10 --classifier best,pooled
      imgcl evaluate runs/users --split time:joined
    """
    from imgcl.evaluation import evaluate as run_evaluation
    from imgcl.evaluation.by_period import period_rows, period_table
    from imgcl.evaluation.labels import encode_labels, without_few
    from imgcl.evaluation.references import evaluate_references
    from imgcl.evaluation.transductive import TRANSDUCTIVE
    from imgcl.training import Run
    from imgcl.training.source import embedded_graph, reference_blocks

    stored = Run(run)
    fixed = stored.split
    if fixed is not None:
        scope = stored.config.scope
        said = f"{run} was pre-trained with scope {scope.scope}: evaluating its own split ({scope.imbalance})"
        say(said)
    names = tuple(listed(classifier))
    if not names:
        raise InputError("--classifier is empty: name at least one, for example --classifier plain,pbs")
    given, class_names = stored.labels, stored.class_names
    if fixed is None and split is None:
        kept, remark = without_few(encode_labels(given, class_names))
        if remark is not None:
            warn(remark)
            given, class_names = kept.codes, list(kept.names)
    blocks = chosen_blocks(stored, no_own_features)
    if fixed is not None and protocol is not None:
        raise InputError(f"--protocol {protocol}: {run} was pre-trained for one split, which cannot be changed")
    own = {"imbalance": imbalance, "splits": [fixed], "test": resolved_test(test, "")}
    options: dict[str, Any] = {
        **({"splits": splits, **chosen_protocol(protocol, imbalance, test)} if fixed is None else own),
        "classifier": names,
        "random_state": seed,
        "probe": probe,
        "class_names": class_names,
    }
    if TRANSDUCTIVE.keys() & set(names):
        options["graph"] = embedded_graph(stored, data_dir=data_dir)
    periods, time = (None, None) if split is None else _periods(split, stored, protocol or imbalance, seed, data_dir)
    if periods is not None:
        options |= {"splits": [period.split for period in periods], "test": "balanced"}
    with shown_progress("evaluation", 3):
        with stage("embedding", weight=2):
            result = run_evaluation(blocks, given, **options)
        asked = {"blocks": " + ".join(blocks)} if split is None else {"blocks": " + ".join(blocks), "split": split}
        result = replace(result, protocol={**result.protocol, **asked})
        features, note = reference_blocks(stored, data_dir=data_dir)
        references = evaluate_references(features, given, note=note, **options)
    verdict = references.verdict(result)
    by_period = [] if periods is None or time is None else period_rows(result, periods, time)
    if as_json:
        rows = {**references.to_dict(), "verdict": verdict}
        more = {"periods": by_period} if by_period else {}
        print(json.dumps({**result.to_dict(), "references": rows, **more}, allow_nan=False))
        return
    table = period_table(by_period) if by_period else ""
    for part in filter(None, (str(result), in_flags(table), str(references), verdict)):
        put(f"{part}\n")
    if fixed is None and split is None and protocol is None and imbalance == "natural":
        say("classifiers learn from 10 % of the labels here; `imgcl predict` learns from all, and says what to expect")


def _periods(
    split: str, stored: Run, imbalance: str, seed: int, data_dir: Path | None
) -> tuple[list[Period], NodeTime | None]:
    """The periods of --split time:COLUMN, and the times of the nodes."""
    from imgcl.evaluation.by_period import periods_of
    from imgcl.training.source import embedded_graph

    if stored.split is not None or imbalance != "natural":
        other = "--imbalance or --protocol" if stored.split is None else "the scope of the run"
        raise InputError(f"--split and {other} both say which nodes are trained on: leave one of them out")
    time = embedded_graph(stored, data_dir=data_dir).node_time
    return periods_of(split, time, stored.labels, seed), time
