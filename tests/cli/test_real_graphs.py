"""From a real graph to a table, through the real command line."""

import json
import subprocess
import sys

import pytest

SEEDS = range(2)  # one alone moves by half a point with the last digits of a product, as much as the bars leave


@pytest.mark.realdata
@pytest.mark.slow
@pytest.mark.parametrize(
    ("graph", "plain", "reweight"),
    [("amazon-photo", 0.82, 0.88), ("amazon-computers", 0.79, 0.88), ("dblp", 0.55, 0.79)],
)
def test_200_epochs_of_gbt_reach_the_known_accuracy(tmp_path, graph, plain, reweight):
    def imgcl(*arguments):
        command = [sys.executable, "-m", "imgcl", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=1500, check=True).stdout

    found = {"plain": [], "reweight": []}
    for seed in SEEDS:
        run = tmp_path / str(seed)
        imgcl("pretrain", graph, "--method", "gbt", "--epochs", 200, "--seed", seed, "--out", run, "--quiet")
        options = ("--imbalance", "exp:100", "--classifier", "plain,reweight", "--splits", 5, "--json")
        result = json.loads(imgcl("evaluate", run, *options))
        for name, values in found.items():
            values.append(result[name]["accuracy"]["mean"])
    assert sum(found["plain"]) / len(SEEDS) >= plain, found
    assert sum(found["reweight"]) / len(SEEDS) >= reweight, found
