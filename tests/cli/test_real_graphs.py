"""From a real graph to a table, through the real command line."""

import json
import subprocess
import sys

import pytest


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

    imgcl("pretrain", graph, "--method", "gbt", "--epochs", 200, "--out", tmp_path / "r", "--quiet")
    options = ("--imbalance", "exp:100", "--classifier", "plain,reweight", "--splits", 5, "--json")
    result = json.loads(imgcl("evaluate", tmp_path / "r", *options))
    assert result["plain"]["accuracy"]["mean"] >= plain
    assert result["reweight"]["accuracy"]["mean"] >= reweight
