"""From embeddings to points in the plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import orthogonal_procrustes

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl._core.seeding import derive
from imgcl._core.words import did_you_mean
from imgcl.evaluation.labels import check_embedding, normalise_rows

Points = NDArray[np.float32]

PRINCIPAL = 50  # t-SNE sees this many principal components: as good as all of them, and much faster


def pca(rows: NDArray[np.float32], seed: int) -> Points:
    """The first two principal components."""
    return _principal(rows, 2, seed)


def tsne(rows: NDArray[np.float32], seed: int) -> Points:
    """t-SNE from the principal components: neighbours stay neighbours; distances between groups mean little."""
    from imgcl.report.tsne import tsne as neighbour_map

    reduced = _principal(rows, PRINCIPAL, seed)
    spread = reduced[:, :2].std()
    return neighbour_map(reduced, (reduced[:, :2] / (spread if spread > 0 else 1) * 1e-4).astype(np.float32))


def umap(rows: NDArray[np.float32], seed: int) -> Points:
    """UMAP; needs ``imgcl[umap]``."""
    need("umap", "the map umap")
    from umap import UMAP

    model = UMAP(n_components=2, n_neighbors=min(15, len(rows) - 1), random_state=_state(seed), n_jobs=1)
    return np.asarray(model.fit_transform(_principal(rows, PRINCIPAL, seed)), dtype=np.float32)


def project(embeddings: Sequence[ArrayLike], name: str = "tsne", *, seed: int = 0) -> list[Points]:
    """Maps of several embeddings of the same nodes; each is turned onto the first, so that they can be compared.

    Args:
        embeddings: (n, d) arrays, rows in the same order; they are L2-normalised first, as the classifiers see them.
        name: a name of :data:`PROJECTIONS`.
        seed: of whatever is random in the map.

    Returns:
        Points (n, 2) of each embedding, the largest coordinate 1.

    Example:
        >>> square = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
        >>> first, turned = project([square, -square], "pca")
        >>> bool(np.allclose(first, turned, atol=1e-6)), float(np.abs(first).max())
        (True, 1.0)
    """
    rows = [check_embedding(Z) for Z in embeddings]
    if len({len(Z) for Z in rows}) > 1:
        raise InputError("the embeddings have different numbers of rows: maps are compared node by node")
    check_map(name, len(rows[0]) if rows else 3)
    maps: list[Points] = []
    for Z in rows:
        points = _unit(PROJECTIONS[name](normalise_rows(Z), seed))
        if maps:
            turn, _ = orthogonal_procrustes(points, maps[0])
            points = _unit(points @ turn)
        maps.append(points)
    return maps


def check_map(name: str, n_nodes: int) -> None:
    """Refuse an unknown map, and one of too few nodes."""
    if name not in PROJECTIONS:
        raise InputError(f"unknown map {name!r}{did_you_mean(name, PROJECTIONS)}")
    if n_nodes < 3:
        raise InputError(f"there are {n_nodes} nodes: a map needs at least 3")


def _principal(rows: NDArray[np.float32], width: int, seed: int) -> Points:
    from sklearn.decomposition import PCA

    width = min(width, *rows.shape)
    found = PCA(width, svd_solver="randomized" if width < min(rows.shape) else "full", random_state=_state(seed))
    components = found.fit_transform(rows).astype(np.float32)
    return np.pad(components, ((0, 0), (0, max(0, 2 - width))))  # an embedding of width 1 still has a plane


def _unit(points: NDArray[np.float32]) -> Points:
    centred = points - points.mean(axis=0)
    largest = np.abs(centred).max()
    return np.asarray(centred / (largest if largest > 0 else 1), dtype=np.float32)


def _state(seed: int) -> int:
    return derive(seed, "map") % 2**32


PROJECTIONS: dict[str, Callable[[NDArray[np.float32], int], Points]] = {"tsne": tsne, "pca": pca, "umap": umap}
