import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl._core.seeding import as_seed
from imgcl.evaluation import predict
from imgcl.imbalance import apply_scope, make_splits, random_splits

Y = np.repeat([0, 1], 40)


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), -3, 2**80])
def test_a_whole_number_is_the_seed(value):
    assert as_seed(value) == int(value)


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_gives_its_next_number(make):
    rng = make(5)
    first, second = as_seed(rng), as_seed(rng)
    assert first != second
    assert [as_seed(make(5)), type(first)] == [first, int]


def test_none_is_numpys_global_generator():
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(1)  # noqa: NPY002
        first = as_seed(None)
        assert as_seed(None) != first
        np.random.seed(1)  # noqa: NPY002
        assert as_seed(None) == first
    finally:
        np.random.set_state(state)  # noqa: NPY002


@pytest.mark.parametrize("value", [0.7, 1.0, "1", [1], np.array([1, 2])])
def test_anything_else_is_refused(value):
    with pytest.raises(InputError, match="give a whole number, a numpy RandomState or Generator, or None"):
        as_seed(value)


def test_every_random_state_is_read_in_the_same_way(small_graph):
    same = [make_splits(Y, "natural", 2, random_state=np.random.RandomState(4)) for _ in range(2)]
    assert same[0][1].test.tolist() == same[1][1].test.tolist()
    assert len(random_splits(Y, splits=1, random_state=None)) == 1
    split = make_splits(small_graph.y, "exp:5", 1)[0]
    for call in (
        lambda: make_splits(Y, "natural", 1, random_state=0.7),
        lambda: random_splits(Y, splits=1, random_state=0.7),
        lambda: apply_scope(small_graph, split, "graph", random_state=0.7),
        lambda: predict(np.eye(80, 4, dtype=np.float32), Y, random_state=0.7),
    ):
        with pytest.raises(InputError, match=r"random_state is 0\.7"):
            call()
