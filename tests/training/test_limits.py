import numpy as np
import pytest

from imgcl._core.errors import InputError, TrainingError
from imgcl.balance import BalanceSettings
from imgcl.graph import Graph
from imgcl.training import RunConfig, Trainer, TrainingSettings
from imgcl.training.limits import check_enough_rows, check_finite


def ring(n):
    nodes = np.arange(n)
    return Graph.from_edges(np.stack([nodes, (nodes + 1) % n]), x=np.eye(n), name="ring")


def trainer(n, **balance):
    settings = BalanceSettings(n_clusters=2, **balance) if balance else None
    training = TrainingSettings(epochs=2)
    return Trainer(RunConfig(method_settings={"dim": 4}, training=training, balance=settings), ring(n))


def test_what_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr("imgcl._core.capacity.machine_memory", lambda: 10**6)
    run = RunConfig(method_settings={"dim": 256}, training=TrainingSettings(epochs=2))
    message = r"training with dim=256, layers=2 on 12 features needs at least 0 GB .*: choose smaller ones"
    with pytest.raises(InputError, match=message):
        Trainer(run, ring(12))
    assert trainer(12).epoch == 0


def test_a_batch_has_no_more_rows_than_the_graph():
    training = TrainingSettings(epochs=2, batch_size=10**15)
    assert Trainer(RunConfig(method_settings={"dim": 4}, training=training), ring(12)).epoch == 0


def test_one_node_is_refused():
    with pytest.raises(InputError, match=r"graph 'ring' has 1 node: .* at least 2 nodes"):
        trainer(1)


@pytest.mark.parametrize(("n", "selected"), [(4, "none"), (12, "1")])
def test_a_selection_of_less_than_two_nodes_is_refused_with_the_fraction_to_use(n, selected):
    with pytest.raises(InputError, match=rf"fraction 0.1 of {n} nodes selects {selected}: .*at least {2 / n:.3g} "):
        trainer(n, fraction=0.1)
    trainer(n, fraction=round(2 / n, 3)).step()


def test_a_draw_of_random_size_with_less_than_two_rows_stops_the_training():
    run = trainer(12, fraction=0.17, selection="poisson")
    run._select = lambda: np.array([3])  # one node, as a Poisson draw of two may give
    with pytest.raises(TrainingError, match="a step has 1 row to contrast, at least 2 are needed"):
        run.step()
    with pytest.raises(TrainingError, match="no rows"):
        check_enough_rows(0)


def test_an_embedding_that_is_not_finite_is_never_handed_out():
    run = trainer(12)
    next(run.method.parameters()).data.fill_(np.nan)
    with pytest.raises(TrainingError, match="the embedding of node 0 is not finite"):
        run.embed()


def test_rows_are_counted_over_all_blocks(monkeypatch):
    monkeypatch.setattr("imgcl.training.limits.ROWS_AT_ONCE", 3)
    z = np.zeros((8, 2), dtype=np.float32)
    assert check_finite(z) is z
    z[7, 1] = np.inf
    with pytest.raises(TrainingError, match="node 7"):
        check_finite(z)
