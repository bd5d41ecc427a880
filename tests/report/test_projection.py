"""Maps keep neighbours together, can be compared, and are the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.report import PROJECTIONS, project


@pytest.fixture(scope="module")
def clouds() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 40)
    return np.eye(8)[y] + 0.05 * rng.standard_normal((120, 8)), y


# umap announces that a seed makes it use one thread, and numba that it is compiled without a cache
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["pca", "tsne", pytest.param("umap", marks=pytest.mark.slow)])
def test_groups_stay_apart_and_two_calls_agree(name: str, clouds: tuple[np.ndarray, np.ndarray]) -> None:
    Z, y = clouds
    (points,), (again,) = project([Z], name), project([Z], name)
    np.testing.assert_array_equal(points, again)
    assert np.abs(points).max() == 1
    centres = np.stack([points[y == k].mean(axis=0) for k in range(3)])
    nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == y).all()


def test_the_second_map_is_turned_onto_the_first(clouds: tuple[np.ndarray, np.ndarray]) -> None:
    Z, _ = clouds
    rotation = np.linalg.qr(np.random.default_rng(2).standard_normal((8, 8)))[0]
    first, second = project([Z, Z @ rotation], "pca")
    np.testing.assert_allclose(first, second, atol=1e-3)


def test_an_embedding_of_width_one_has_a_map() -> None:
    (points,) = project([np.array([[1.0], [-1.0], [1.0], [-1.0]])], "pca")
    assert points.shape == (4, 2)
    assert np.isfinite(points).all()


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="unknown map 'globe'"):
        project([np.eye(3)], "globe")
    with pytest.raises(InputError, match="different numbers of rows"):
        project([np.eye(3), np.eye(4)], "pca")
    with pytest.raises(InputError, match="at least 3"):
        project([np.eye(2)], "pca")
    assert set(PROJECTIONS) == {"tsne", "pca", "umap"}
