"""The grid of the study: graphs, rows, strategies, pre-trainings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl.baselines import own_features
from imgcl.evaluation import Blocks
from imgcl.graph import Graph
from imgcl.studies.cells import Cell, Context, GraphRef, PretrainCell
from imgcl.studies.grid import NONE, Graphs, Point, StudySpec, pretrain_cell
from imgcl.studies.packing import rounded
from imgcl.studies.study import Study
from imgcl.training.estimator import IMGCL
from imgcl_lab.labelling.report import report
from imgcl_lab.labelling.rounds import IN_ROUNDS, LOOKS, ONE_BATCH, PER_CLASS, Case, batches, positives, scores

LOOKED = (50, 100, 150, LOOKS)
EMBEDDING, OWN, BOTH = "embedding", "own", "both"
SOME = ("random", "margin", "cover", "auto")  # on own features, and on both
WITH_IMGCL = ("random", "cover", "auto")
SEARCHED = ("random", "search")
SELECTIONS = 5  # for each of the pre-trainings


class LabellingCell(Cell):
    """One strategy on the rows of one pre-training, with several seeds of the selection and every budget."""

    kind = "labelling"
    pretrain: PretrainCell
    rows: str
    strategy: str
    per_class: tuple[int, ...] = PER_CLASS
    selections: int = SELECTIONS

    def identity(self) -> dict[str, Any]:
        facts = self.model_dump(mode="json", exclude={"pretrain"})
        return {**facts, "pretrain": self.pretrain.key}

    @property
    def loads(self) -> GraphRef:
        return self.pretrain.graph

    @property
    def needs(self) -> PretrainCell:
        return self.pretrain

    def compute(self, context: Context) -> dict[str, Any]:
        graph = self.pretrain.unchanged(context.graph())
        rows = make_rows(graph, context.embedded().embedding, self.rows)
        first = self.pretrain.config.seed * 1000
        cases = [Case(graph, rows, np.asarray(graph.y), first + i) for i in range(self.selections)]
        return rounded({"curves": [self._curve(case) for case in cases]}, 4)  # type: ignore[no-any-return]

    def _curve(self, case: Case) -> dict[str, Any]:
        known = int((case.y >= 0).sum())
        budgets = [n * case.n_classes for n in self.per_class if n * case.n_classes <= known // 2]
        figures = [scores(case, chosen) for chosen in batches(case, self.strategy, budgets)]
        return {"labels": budgets, **{name: [each[name] for each in figures] for name in ("macro", "tail", "found")}}


class SearchCell(LabellingCell):
    """Nodes of the rarer of two classes found within numbers of looks."""

    kind = "labelling search"

    def _curve(self, case: Case) -> dict[str, Any]:
        return positives(case, self.strategy, LOOKED)


def make_rows(graph: Graph, embedding: NDArray[np.float32], kind: str) -> NDArray[np.float32]:
    """Rows to choose by and to classify by."""
    blocks = {EMBEDDING: embedding} if kind != OWN else {}
    if kind != EMBEDDING:
        blocks[OWN] = own_features(graph)
    return Blocks.of(blocks).rows


def points(spec: StudySpec, graphs: Graphs) -> list[Point]:
    """Every graph, pre-training and strategy; on own features and on both some of them."""
    found = []
    for seed in range(spec.seeds):
        for ref, graph in graphs.loaded.values():
            features = graph is None or bool(graph.n_features)
            for balance, rows, strategy in combinations(spec, features):
                cell = pretrain_cell(spec, ref, spec.methods[0], balance, seed)
                labels = {"dataset": ref.name, "balance": balance, "rows": rows, "strategy": strategy, "seed": seed}
                found.append(Point(labels, LabellingCell(pretrain=cell, rows=rows, strategy=strategy)))
            if ref.n_classes == 2:
                for rows in (EMBEDDING, BOTH) if features else (EMBEDDING,):
                    found += _searches(spec, ref, seed, rows)
    return found


def combinations(spec: StudySpec, features: bool) -> list[tuple[str, str, str]]:
    """Pre-training, rows and strategy of every point of a graph."""
    all_of_them = [(NONE, EMBEDDING, strategy) for strategy in (*ONE_BATCH, *IN_ROUNDS)]
    if features:
        all_of_them += [(NONE, rows, strategy) for rows in (OWN, BOTH) for strategy in SOME]
    all_of_them += [(IMGCL, EMBEDDING, strategy) for strategy in WITH_IMGCL]
    return [each for each in all_of_them if each[0] in spec.balances]


def _searches(spec: StudySpec, ref: GraphRef, seed: int, rows: str) -> list[Point]:
    cell = pretrain_cell(spec, ref, spec.methods[0], NONE, seed)
    return [
        Point(
            {"dataset": ref.name, "balance": NONE, "rows": rows, "strategy": name, "search": True, "seed": seed},
            SearchCell(pretrain=cell, rows=rows, strategy=name),
        )
        for name in SEARCHED
    ]


STUDY = Study(
    StudySpec(
        name="labelling",
        datasets=(
            *("amazon-photo", "cora", "tolokers"),
            *("amazon-computers", "dblp", "citeseer", "pubmed", "facebook-pages", "amazon-fraud", "uai2010"),
            *("johns-hopkins", "lastfm-asia", "wiki-cs-structure"),
        ),
        preset="auto",
        seeds=2,
    ),
    report,
    points,
    figures=True,
)
