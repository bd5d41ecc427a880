import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

from imgcl.labelling.expected import expect


def test_many_classes_and_few_labels_are_nothing_to_warn_of():
    codes = np.arange(30) % 20  # scikit-learn would ask whether this is a regression
    rows = np.eye(20, dtype=np.float32)[codes]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = expect(rows, codes)
    assert found.classes.tolist() == codes.tolist()
    assert (found.margin > 0).all()


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_threads_of_blas_do_not_wait_for_each_other(monkeypatch):
    usual, seen = LogisticRegression.fit, []

    def fit(self, *args):
        seen.extend(blas_threads())
        return usual(self, *args)

    monkeypatch.setattr(LogisticRegression, "fit", fit)
    before = blas_threads()
    expect(np.eye(4, dtype=np.float32), np.array([0, 1, 0, 1]))
    assert seen
    assert set(seen) == {1}
    assert blas_threads() == before
