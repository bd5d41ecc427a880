"""The Ray engine on a cluster of two nodes, one of which dies during the study."""

import pytest

from imgcl.studies import Results, Store, run_study
from imgcl.studies.engines.base import Settings
from imgcl.studies.grid import expand

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.distributed, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def cluster(monkeypatch):
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_worker_niceness", "0")  # the two nodes share the cores with whatever else runs here
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield made
    ray.shutdown()
    made.shutdown()


def test_a_dead_node_costs_no_cell_and_results_are_the_local_engines(tiny_spec, digits, cluster, tmp_path):
    points = expand(tiny_spec.model_copy(update={"settings": {"epochs": 10, "dim": 8}}), digits)
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    removed = []

    def kill_node(progress, cell, record):
        if progress.computed == 2 and not removed:  # both nodes have work now
            removed.append(node)
            cluster.remove_node(node, allow_graceful=False)

    settings = Settings(threads=1, address=cluster.address)
    far, near = Store(tmp_path / "ray"), Store(tmp_path / "local")
    progress = run_study("tiny", points, far, command="test", engine="ray", settings=settings, on_progress=kill_node)
    assert removed
    assert (progress.finished, progress.failed) == (8, 0)
    keys = [line["key"] for line in far.journal("tiny").lines() if line["type"] == "cell"]
    assert len(keys) == len(set(keys)) == 8

    run_study("tiny", points, near, command="test", settings=Settings(workers=1, threads=1))
    ours, theirs = (Results("tiny", store.journal("tiny")) for store in (far, near))
    for point in theirs.points:
        assert ours.result(point) == theirs.result(point)
    for point in points:
        assert (far.run(point.cell.needs).embedding == near.run(point.cell.needs).embedding).all()


def test_without_an_address_a_cluster_is_started_here(tiny_points, tmp_path):
    progress = run_study(
        "tiny", tiny_points[:1], Store(tmp_path), command="test", engine="ray", settings=Settings(workers=1, threads=1)
    )
    assert progress.finished == 2
    assert not ray.is_initialized()
