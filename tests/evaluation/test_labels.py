import numpy as np
import pandas as pd
import pytest

from imgcl._core.errors import InputError
from imgcl.evaluation.labels import check_embedding, encode_labels, normalise_rows


@pytest.mark.parametrize(
    ("given", "codes", "names"),
    [
        ([3, 1, -1, 3], [1, 0, -1, 1], ("1", "3")),
        (["b", "a", "", None], [1, 0, -1, -1], ("a", "b")),
        (np.array([1.0, np.nan, 0.0]), [1, -1, 0], ("0", "1")),
        (pd.Series(["x", np.nan, "y"]), [0, -1, 1], ("x", "y")),
        (np.array([True, False]), [1, 0], ("0", "1")),
        (["10", "9"], [0, 1], ("10", "9")),
        (np.array(["tea", "-1", "salt", np.nan]), [1, -1, 0, -1], ("salt", "tea")),
        (["EU", "NA"], [0, 1], ("EU", "NA")),
    ],
)
def test_labels_as_people_have_them(given: object, codes: list[int], names: tuple[str, ...]) -> None:
    labels = encode_labels(given)
    assert labels.codes.tolist() == codes
    assert labels.names == names


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([-1, -1], "no node has a label"),
        (["a", "a"], "every label is 'a'"),
        ([0, 1, -3], r"labels\[2\] is -3"),
        ([0.5, 1.0], r"labels\[0\] is 0.5"),
        ([[0, 1]], "shape"),
        (np.array([0, 1], dtype="datetime64[D]"), "dtype"),
    ],
)
def test_labels_that_cannot_be_used(given: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        encode_labels(given)


def test_embedding_must_be_finite_and_as_long_as_the_labels() -> None:
    Z = np.ones((3, 2))
    with pytest.raises(InputError, match="3 rows but there are 4 labels"):
        check_embedding(Z, 4)
    Z[1, 1] = np.nan
    with pytest.raises(InputError, match=r"Z\[1, 1\] is nan \(1 rows"):
        check_embedding(Z, 3)
    with pytest.raises(InputError, match="shape"):
        check_embedding(np.ones(3), 3)
    with pytest.raises(InputError, match="dtype"):
        check_embedding(np.array([["a"]]), 1)


def test_rows_of_zeros_stay_zero() -> None:
    rows = normalise_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32))
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
