"""Every degenerate graph through six methods, without and with ImGCL: graph, pre-training, embedding, evaluation.

The product is held to the table of ``docs/reliability.md``, which ``scripts/degenerate_table.py`` writes.
"""

from __future__ import annotations

import random
import re
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from harden.degenerate_graphs import GRAPHS, ordinary
from harden.suites import Outcome, suite
from imgcl._core.errors import ImgclError
from imgcl.evaluation import evaluate
from imgcl.training import Trainer
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain

METHODS = ("gbt", "grace", "bgrl", "dgi", "mvgrl", "infograph")
BALANCES = {"plain": None, "ImGCL": "imgcl"}
EPOCHS = 4
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- degenerate: begin -->", "<!-- degenerate: end -->"
EMBEDS, REFUSES = "embeds", "refuses"

Try = tuple[str, str, str]  # graph, method, plain or ImGCL
ALL: list[Try] = list(product(GRAPHS, METHODS, BALANCES))


@dataclass(frozen=True)
class Found:
    """What one try gave: whether it embeds and is evaluated, what it refuses with, what went wrong."""

    embeds: str
    evaluates: str = ""
    refusals: tuple[str, ...] = ()
    problem: str | None = None


def attempt(graph_name: str, method: str, balance: str) -> Found:
    """From the raw arrays to the linear evaluation, as a user would go."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("error")  # an overflow that numpy warns of is a number that is wrong
        try:
            graph = GRAPHS[graph_name]()
            config = make_config(graph.name, method=method, balance=BALANCES[balance], overrides={"epochs": EPOCHS})
            z = pretrain(graph, config, Path(folder) / "run").embedding
        except ImgclError as error:
            return Found(REFUSES, refusals=(str(error),))
        except Exception as error:
            return Found("", problem=f"{type(error).__name__}: {error}")
        if z.shape != (graph.n_nodes, width(method)) or z.dtype != np.float32 or not np.isfinite(z).all():
            return Found("", problem=f"embedding of shape {z.shape}, finite: {np.isfinite(z).all()}")
        if graph.y is None:
            return Found(EMBEDS, "no labels")
        try:
            result = evaluate(z, graph.y, "natural", ("plain", "pbs"), splits=1, train_fraction=0.3)
        except ImgclError as error:
            return Found(EMBEDS, REFUSES, (str(error),))
        except Exception as error:
            return Found(EMBEDS, problem=f"evaluation: {type(error).__name__}: {error}")
        accuracy = result["plain", "accuracy"].mean
        return Found(EMBEDS, "evaluates", problem=None if 0 <= accuracy <= 1 else f"accuracy {accuracy}")


@cache
def width(method: str) -> int:
    """Width of the embedding of an ordinary graph."""
    graph = ordinary()
    return int(Trainer(make_config(graph.name, method=method, balance=None), graph).embed().shape[1])


@suite(
    "degenerate", f"{len(GRAPHS)} graphs x 6 methods, plain and with ImGCL, to the evaluation", full=len(ALL), part=120
)
def degenerate_graphs(n: int) -> Outcome:
    """Each gives what the table of the page says: finite embeddings of the right shape, or a clear refusal."""
    outcome, documented = Outcome(), read_table()
    for each in random.Random(0).sample(ALL, min(n, len(ALL))):
        graph_name, method, balance = each
        found = attempt(*each)
        problem = found.problem
        words = documented.get(graph_name, {})
        if problem is None and found.embeds != words.get(balance):
            problem = f"{found.embeds}, but {PAGE.name} says {words.get(balance)}"
        elif problem is None and found.evaluates not in ("", words.get("evaluation")):
            problem = f"{found.evaluates}, but {PAGE.name} says {words.get('evaluation')}"
        outcome.count(None if problem is None else f"{graph_name}, {method}, {balance}: {problem}")
    return outcome


def read_table() -> dict[str, dict[str, str]]:
    """What the page promises for each graph: plain, with ImGCL, and of the evaluation."""
    text = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    table = {}
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("| graph"):
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            words = (re.sub(r" \(\d+\)", "", cell) for cell in cells)
            table[name] = dict(zip((*BALANCES, "evaluation"), words, strict=True))
    return table
