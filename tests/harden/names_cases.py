"""Random names of nodes, classes and columns: of other alphabets, of SQL, of missing values, and twice the same."""

from __future__ import annotations

import random
from dataclasses import dataclass

ODD = [
    "0", "1", "00", "1.0", "1.10", "1.1", "1e3", "-2", "True", "yes", "None", "none", "x", "X", "é", "e\u0301",
    "id", "name", "node", "label", "class", "Node", "select", "from", "NULLS", "rowid", "value", "code", "#", "c0", "t",
    "a,b", 'a"b', "a'b", "a;b", "a\tb", "a b", "a\nb", "=1+1", "@x", "<b>", "{0}", "%s", "$x$", "a/b", "..", "--",
    "Größe", "größe", "名前", "🙂", "\u200bx", "ﬁ", "İ", "ß", "x" * 200, "\u0661", "\\n",
]  # fmt: skip
MISSING = ("", " ", "-1", "-1.0", "nan", "NaN", "NaT", "<NA>")  # everywhere
MISSING_IN_FILES = (*MISSING, "NA", "N/A", "NULL", "null")
LETTERS = "abcXYZ019_-.:äßλж中ع🙂"


@dataclass(frozen=True)
class Case:
    """One graph with its names.

    Attributes:
        names: of the nodes; two are equal where ``twice`` says so.
        twice: the name that two nodes have, or ``None``.
        truth: class name of every node.
        labels: the same, ``None`` for nodes without a label.
        columns: of the node table: id, label, number, text; then source and target of the edge table.
        texts: of a feature column.
        edges: pairs of node numbers.
        seed: of what else is random.
    """

    names: tuple[str, ...]
    twice: str | None
    truth: tuple[str, ...]
    labels: tuple[str | None, ...]
    columns: tuple[str, ...]
    texts: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    seed: int

    @property
    def classes(self) -> list[str]:
        return sorted(set(self.truth))

    def random(self, purpose: str) -> random.Random:
        return random.Random(f"{self.seed} {purpose}")


def draw(seed: int) -> Case:
    """The case of this number."""
    rng = random.Random(seed)
    classes = _distinct(rng, rng.randint(2, 4))
    truth = [name for name in classes for _ in range(rng.randint(6, 9))]
    rng.shuffle(truth)
    n = len(truth)
    names, twice = _distinct(rng, n), None
    if rng.random() < 0.2:
        first, second = rng.sample(range(n), 2)
        names[second] = twice = names[first]
    unlabelled = {node for k in classes for node in [i for i in range(n) if truth[i] == k][5:]}
    columns = (*_distinct(rng, 4), *_distinct(rng, 2))
    texts = tuple(rng.choice(_distinct(rng, 3)) for _ in range(n))
    edges = tuple((rng.randrange(n), rng.randrange(n)) for _ in range(3 * n))
    labels = tuple(None if i in unlabelled else k for i, k in enumerate(truth))
    return Case(tuple(names), twice, tuple(truth), labels, columns, texts, edges, seed)


def _distinct(rng: random.Random, n: int) -> list[str]:
    """So many different names that are no words for a missing value."""
    found: dict[str, None] = {}
    while len(found) < n:
        made = "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 4)))
        name = rng.choice(ODD) if rng.random() < 0.6 else made
        if name.strip() not in (*MISSING_IN_FILES, "inf", "-inf"):
            found[name] = None
    return list(found)
