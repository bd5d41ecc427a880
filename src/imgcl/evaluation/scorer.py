"""A fitted classifier with all that turns an embedding into probabilities and decisions; saved without pickle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from imgcl._core.checksums import check_files, file_checksums, read_checked_json, write_checked_json
from imgcl._core.errors import InputError, RunError
from imgcl._core.files import new_directory
from imgcl.evaluation.alignment import names_of
from imgcl.evaluation.blocks import Blocks
from imgcl.evaluation.calibration import Calibration
from imgcl.evaluation.decisions import Decision
from imgcl.evaluation.model_files import read_model, write_model
from imgcl.evaluation.priors import Prior, shift_prior
from imgcl.evaluation.tasks import Model

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
FORMAT = "imgcl-scorer-4"
DAMAGED = "fit the scorer again"
FILE = "scorer.json"
CHUNK = 65_536  # rows that are scored at once: embeddings of large graphs stay on disk


@dataclass(frozen=True, eq=False)
class FittedScorer:
    """A classifier fitted to labelled nodes: scores, probabilities and decisions for any nodes with the same blocks.

    Made by :func:`imgcl.evaluation.fit_scorer`.

    Attributes:
        model: the classifier.
        classifier: what it is called.
        widths: of the embedding's blocks, by name.
        class_names: what the classes are called.
        labels: how many labels of each class it was fitted to.
        calibration: from the model's logits to probabilities at the labels' class shares.
        prior: class shares of the nodes that are scored.
        decision: from probabilities to classes.
        quality: metrics on the labelled nodes, each by a model that had not seen it; plain values.
        scales: of the blocks that are scaled as a whole, see :class:`imgcl.evaluation.Blocks`.
    """

    model: Model
    classifier: str
    widths: Mapping[str, int]
    class_names: tuple[str, ...]
    labels: tuple[int, ...]
    calibration: Calibration
    prior: Prior
    decision: Decision
    quality: Mapping[str, Any] = field(default_factory=dict)
    scales: Mapping[str, float] = field(default_factory=dict)

    @property
    def target(self) -> int:
        """The class that ranks are about: the one that the decision flags, else the one with the fewest labels."""
        return int(np.argmin(self.labels)) if self.decision.target is None else self.decision.target

    def logits(self, Z: ArrayLike | Mapping[str, ArrayLike]) -> Floats:
        """The model's logits (n, K), before calibration."""
        return np.concatenate([model_logits(self.model, rows) for rows in self._rows(Z)])

    def predict_proba(self, Z: ArrayLike | Mapping[str, ArrayLike]) -> Floats:
        """Class probabilities (n, K) at the scorer's prior."""
        return self.probabilities(self.logits(Z))

    def predict(self, Z: ArrayLike | Mapping[str, ArrayLike]) -> NDArray[np.object_]:
        """The class of every node, by the decision rule."""
        return self._names(self.assigned(Z, self.logits(Z)))

    def probabilities(self, logits: Floats) -> Floats:
        """Class probabilities from logits; NaN where the classifier has none."""
        if np.isnan(logits).any():
            return np.full(logits.shape, np.nan)
        shares = np.array(self.labels) / sum(self.labels)
        return shift_prior(self.calibration.probabilities(logits), shares, self.prior.shares)

    def assigned(self, Z: ArrayLike | Mapping[str, ArrayLike], logits: Floats) -> NDArray[np.int64]:
        """Class numbers from logits; from the embedding where the classifier gives classes alone."""
        if np.isnan(logits).any():
            return np.concatenate([self.model.classify(torch.from_numpy(rows)).classes for rows in self._rows(Z)])
        return self.decision.classes(self.probabilities(logits), log_odds(logits))

    def frame(
        self,
        Z: ArrayLike | Mapping[str, ArrayLike],
        *,
        node_names: Sequence[str] | None = None,
        given: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Score nodes: one row each, as :func:`imgcl.evaluation.predict` gives them.

        Args:
            Z: embedding, or blocks of the same names and widths as the scorer was fitted to.
            node_names: names of the nodes; by default the index of an embedding that is a pandas ``DataFrame``.
            given: whether the label of each node was given; by default of none.
        """
        logits = self.logits(Z)
        return self.table(logits, self.assigned(Z, logits), names_of(Z, node_names), given)

    def table(
        self,
        logits: Floats,
        classes: NDArray[np.int64],
        node_names: Sequence[str] | None = None,
        given: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """The table of :meth:`frame` from logits and class numbers."""
        import pandas as pd

        n, probabilities = len(logits), self.probabilities(logits)
        if node_names is not None and len(node_names) != n:
            raise InputError(f"there are {len(node_names)} node names but the embedding has {n} rows")
        columns: dict[str, Any] = {"node": np.arange(n) if node_names is None else list(node_names)}
        columns["class"] = self._names(classes)
        columns |= {f"p_{name}": probabilities[:, k] for k, name in enumerate(self.class_names)}
        columns["rank"] = ranks(log_odds(logits)[:, self.target])
        columns["given"] = np.zeros(n, dtype=np.bool_) if given is None else np.asarray(given, dtype=np.bool_)
        if columns["given"].shape != (n,):
            raise InputError(f"given has shape {columns['given'].shape} but there are {n} nodes: give one each")
        return pd.DataFrame(columns)

    def _names(self, classes: NDArray[np.int64]) -> NDArray[np.object_]:
        return np.array(self.class_names, dtype=object)[classes]  # text of numpy loses what a name ends with: \0

    def ordered(self, Z: ArrayLike | Mapping[str, ArrayLike]) -> dict[str, Any]:
        """The blocks of an embedding by name, in the order in which the model has their columns.

        Raises:
            InputError: when they are not the scorer's.
        """
        blocks = {str(name): block for name, block in Z.items()} if isinstance(Z, Mapping) else {"": Z}
        found = {name: np.shape(block)[-1] if np.ndim(block) == 2 else None for name, block in blocks.items()}
        if found != dict(self.widths):
            raise InputError(f"the embedding has blocks {found} (name: width), the scorer knows {dict(self.widths)}")
        return {name: blocks[name] for name in self.widths}

    def _rows(self, Z: ArrayLike | Mapping[str, ArrayLike]) -> Iterator[NDArray[np.float32]]:
        """Normalised rows, some at a time."""
        blocks = self.ordered(Z)
        n = max(len(block) for block in blocks.values())
        for start in range(0, max(n, 1), CHUNK):
            part = {name: block[start : start + CHUNK] for name, block in blocks.items()}
            yield Blocks.of(part, scales=self.scales).rows

    # ------------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Write the scorer as a directory of plain JSON and arrays.

        Raises:
            InputError: when the directory is there and not empty, or the classifier is not one of ours: scikit-learn's
                can only be pickled, and a pickle runs code when it is read.
        """
        with new_directory(Path(path)) as folder:
            self.write_into(folder)

    def write_into(self, folder: Path) -> None:
        """Write the files of the scorer into a directory; what is there already belongs to it."""
        content = {
            "classifier": self.classifier,
            "model": write_model(self.model, self.classifier, folder),
            "blocks": [[name, width] for name, width in self.widths.items()],
            "scales": dict(self.scales),
            "classes": list(self.class_names),
            "labels": list(self.labels),
            "calibration": self.calibration.to_dict(),
            "prior": asdict(self.prior),
            "decision": self.decision.to_dict(),
            "quality": dict(self.quality),
        }
        write_checked_json(folder / FILE, {**content, "files": file_checksums(folder)}, FORMAT)

    @classmethod
    def load(cls, path: str | Path) -> FittedScorer:
        """Read what :meth:`save` wrote.

        Raises:
            RunError: when there is no scorer, or it is damaged.
        """
        folder = Path(path)
        try:
            content = read_checked_json(folder / FILE, FORMAT, DAMAGED)
            found = cls._read(content, folder)
            check_files(folder, dict(content["files"]), DAMAGED)  # files of two scorers fit, and score wrongly
            return found
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise RunError(f"{folder} is not a scorer: it has no {Path(error.filename).name}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(f"{folder / FILE} is damaged ({error!r}): {DAMAGED}") from None

    @classmethod
    def _read(cls, content: Mapping[str, Any], folder: Path) -> FittedScorer:
        widths = {str(name): int(width) for name, width in content["blocks"]}
        names = tuple(map(str, content["classes"]))
        prior = Prior(tuple(map(float, content["prior"]["shares"])), str(content["prior"]["source"]))
        found = cls(
            model=read_model(content["model"], folder, len(names), sum(widths.values()), DAMAGED),
            classifier=str(content["classifier"]),
            widths=widths,
            class_names=names,
            labels=tuple(map(int, content["labels"])),
            calibration=Calibration.from_dict(content["calibration"]),
            prior=prior,
            decision=Decision.from_dict(content["decision"]),
            quality=dict(content["quality"]),
            scales={str(name): float(scale) for name, scale in content["scales"].items()},
        )
        floor = found.calibration.floor or names
        parts = found.labels, prior.shares, found.calibration.bias, floor, found.decision.weights
        if any(len(part) != len(names) for part in parts):
            raise ValueError("its parts are not those of its classes")
        return found


def model_logits(model: Model, rows: NDArray[np.float32]) -> Floats:
    """Logits (n, K) of scaled rows; NaN from a classifier without probabilities."""
    return model.logits(torch.from_numpy(rows)).numpy().astype(np.float64)


def log_odds(logits: Floats) -> Floats:
    """Scores of every class against all others (n, K).

    Example:
        >>> log_odds(np.array([[0.0, 2.0]])).tolist()
        [[-2.0, 2.0]]
    """
    others = [logsumexp(np.delete(logits, k, axis=1), axis=1) for k in range(logits.shape[1])]
    return np.asarray(logits - np.stack(others, axis=1))


def ranks(scores: Floats) -> NDArray[Any]:
    """1 for the largest score, 2 for the next; of equals the first comes first. NaN for all where there are no scores.

    Example:
        >>> ranks(np.array([0.1, 0.9, 0.1])).tolist()
        [2, 1, 3]
    """
    if np.isnan(scores).any():
        return np.full(len(scores), np.nan)
    found = np.empty(len(scores), dtype=np.int64)
    found[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return found
