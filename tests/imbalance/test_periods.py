"""Splits by time: the past trains, the next period tests."""

from itertools import pairwise

import numpy as np
import pytest

from imgcl import InputError
from imgcl.imbalance import time_splits


def test_nothing_of_the_future_is_trained_on():
    rng = np.random.default_rng(0)
    times, y = rng.permutation(300).astype(float), rng.integers(-1, 3, size=300)
    times[:20] = np.nan
    periods = time_splits(times, y, periods=6)
    assert len(periods) == 5
    for period in periods:
        used = np.concatenate([period.split.train, period.split.val])
        assert times[used].max() < period.first <= times[period.split.test].min()
        assert times[period.split.test].max() == period.last
        assert (y[np.concatenate([used, period.split.test])] >= 0).all()
    before = [set(period.split.train) | set(period.split.val) for period in periods]
    assert all(len(a) < len(b) and a <= b for a, b in pairwise(before))
    tested = np.concatenate([period.split.test for period in periods])
    assert len(np.unique(tested)) == len(tested)


def test_nodes_of_the_same_time_are_in_the_same_period():
    years, y = np.repeat([2015, 2016, 2016, 2017], 20), np.tile([0, 1], 40)
    periods = time_splits(years, y, periods=8)
    assert [(period.first, period.last) for period in periods] == [(2016, 2016), (2017, 2017)]
    assert [len(period.split.test) for period in periods] == [40, 20]


def test_every_class_is_validated_and_trained():
    y = np.tile([0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 20)
    first = time_splits(np.arange(200), y, periods=4)[0].split
    assert np.bincount(y[first.val]).tolist() == [9, 1]
    assert np.bincount(y[first.train]).tolist() == [36, 4]


@pytest.mark.parametrize(
    ("times", "y", "periods", "message"),
    [
        (np.zeros(10), np.tile([0, 1], 5), 3, "too few different times for two periods"),
        (np.full(10, np.nan), np.tile([0, 1], 5), 3, "the 0 labelled nodes with a time"),
        (np.arange(9), np.tile([0, 1], 5), 3, "give one time per node"),
        (np.arange(10), np.tile([0, 1], 5), 1, "periods is 1: it must be 2 or more"),
        (np.arange(10), np.repeat([0, 1], 5), 2, "the 5 earliest labelled nodes have fewer than two classes"),
    ],
)
def test_what_is_refused(times, y, periods, message):
    with pytest.raises(InputError, match=message):
        time_splits(times, y, periods)
