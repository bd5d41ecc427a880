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
        ([2**53, 2**53 + 1, None], [0, 1, -1], (str(2**53), str(2**53 + 1))),
        (np.array([2**63, 2**63 + 1], dtype=np.uint64), [0, 1], (str(2**63), str(2**63 + 1))),
        ([2**70, 5, 2**70 + 1], [1, 0, 2], ("5", str(2**70), str(2**70 + 1))),
        (pd.Series(pd.Categorical([2**53, 2**53 + 1, None])), [0, 1, -1], (str(2**53), str(2**53 + 1))),
        (pd.Series([True, None, False], dtype="boolean"), [1, -1, 0], ("0", "1")),
        (pd.Series(["x", None, "y"], dtype="category"), [0, -1, 1], ("x", "y")),
        (np.array([b"tea", b"", b"salt"]), [1, -1, 0], ("salt", "tea")),
        (
            np.array(["2020-01-01", "NaT", "2019-05-01"], dtype="datetime64[D]"),
            [1, -1, 0],
            ("2019-05-01", "2020-01-01"),
        ),
        (np.ma.MaskedArray([3, 9, 4], mask=[0, 1, 0]), [0, -1, 1], ("3", "4")),
        ([1, 1.0, "a"], [0, 0, 1], ("1", "a")),
        (["a", "a\0"], [0, 1], ("a", "a\0")),
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
        (np.array([0, 1j]), "dtype"),
        ([0.0, 1.0, np.inf], r"labels\[2\] is inf, which is no class"),
        (np.array([0, 1, -np.inf]), r"labels\[2\] is -inf, which is no class"),
        (np.array([0, 2.0**53]), r"labels\[1\] is the float 9\d+.*: above 2\^53 floats merge neighbouring integers"),
        ([0, 1, 2.0**60], r"labels\[2\] is the float 1\.15.*: above 2\^53"),
        ([1, "1", "a"], "labels 1 and '1' are both called '1'"),
        ([b"tea", "tea", "salt"], "labels b'tea' and 'tea' are both called 'tea'"),
        ([[1], "a", "b"], r"labels\[0\] is \[1\]: give one label per node"),
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
