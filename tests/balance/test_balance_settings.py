from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from imgcl._core.errors import InputError
from imgcl.balance import SELECTIONS, BalanceSettings


def test_defaults_are_those_of_the_paper() -> None:
    settings = BalanceSettings()
    assert settings.clusters == "constrained"
    assert settings.stage == "multi"
    assert settings.centrality == "pagerank"
    assert settings.damping == 0.85
    assert settings.alpha == "linear"
    assert settings.fraction == 0.1
    assert settings.labellings == 8
    assert settings.normalise == "class"
    assert settings.floor == "median"


@pytest.mark.parametrize("name", sorted(SELECTIONS))
def test_every_kind_of_selection_is_a_setting(name: str) -> None:
    assert BalanceSettings.parse(f"selection={name}").selection == name


def test_the_rows_of_the_papers_ablation_can_be_written() -> None:
    for text in (
        "clusters=kmeans,stage=one,centrality=none",
        "clusters=communities",
        "clusters=constrained,centrality=none",
        "",
        "clusters=given",
    ):
        assert isinstance(BalanceSettings.parse(text), BalanceSettings)


def test_parse_reads_numbers_names_and_none() -> None:
    settings = BalanceSettings.parse(
        "clusters=kmeans, centrality=none ,alpha=constant:0.3,n_clusters=12,floor=0.01,"
        "relabel_every=none,resample_every=1"
    )
    assert settings.centrality == "none"
    assert settings.alpha == "constant:0.3"
    assert settings.n_clusters == 12
    assert settings.floor == 0.01
    assert settings.relabel_every is None
    assert settings.resample_every == 1
    assert BalanceSettings.parse("n_clusters=auto").n_clusters == "auto"


def test_settings_survive_json() -> None:
    settings = BalanceSettings(n_clusters=7, floor=0.2, max_cluster_fraction=3.0)
    assert BalanceSettings.make(json.loads(json.dumps(settings.model_dump()))) == settings


def test_settings_cannot_be_changed_in_place() -> None:
    settings = BalanceSettings()
    with pytest.raises(ValidationError):
        settings.clusters = "kmeans"  # type: ignore[misc]
    assert settings.updated(clusters="kmeans").clusters == "kmeans"
    assert settings.clusters == "constrained"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cluster=kmeans", "unknown balance setting 'cluster': did you mean 'clusters'"),
        ("clusters=dbscan", "unknown clusterer 'dbscan': choose from constrained, kmeans"),
        ("centrality=closeness", "unknown centrality 'closeness'"),
        ("alpha=slow", "unknown alpha schedule 'slow'"),
        ("fraction=0", "balance setting fraction='0': input should be greater than 0"),
        ("fraction=ten", "balance setting fraction='ten'"),
        ("n_clusters=0", "must be at least 1, 'auto', or none"),
        ("floor=-1", "must be 'median' or a number of at least 0"),
        ("clusters", "write key=value"),
        ("clusters=", "write key=value"),
        ("q=0.5,q=0.7", "'q' is given twice"),
        ("stage=two", "balance setting stage='two'"),
        ("damping=1", "balance setting damping='1'"),
        ("labellings=0", "balance setting labellings='0'"),
    ],
)
def test_mistakes_are_explained_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        BalanceSettings.parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("epochs", [1, 7, 8, 100, 500, 501])
def test_training_is_cut_into_the_number_of_labellings(epochs: int) -> None:
    labellings = [BalanceSettings().period(epoch, epochs)[0] for epoch in range(epochs)]
    assert labellings == sorted(labellings)
    assert len(set(labellings)) == min(8, epochs)
    if epochs >= 8:
        lengths = [labellings.count(number) for number in set(labellings)]
        assert max(lengths) - min(lengths) <= 1


def test_periods_of_a_given_length() -> None:
    settings = BalanceSettings(relabel_every=10, resample_every=4)
    assert [settings.period(epoch, 25) for epoch in (0, 3, 4, 9, 10, 24)] == [
        (0, 0),
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 2),
        (2, 6),
    ]


def test_epochs_after_the_last_belong_to_the_last_labelling() -> None:
    assert BalanceSettings().period(130, 100)[0] == 7


@pytest.mark.parametrize(
    ("n", "k", "least", "fraction", "expected"),
    [
        (13752, 10, 0.1, None, (138, None)),
        (13752, 10, 0.5, 2.0, (688, 2750)),
        (10, 3, 1.0, 1.0, (3, 4)),  # bounds are rounded to what can be kept
        (5, 5, 0.1, None, (1, None)),
        (100, 3, 0.0, None, (1, None)),
    ],
)
def test_cluster_bounds(n: int, k: int, least: float, fraction: float | None, expected: tuple[int, int | None]) -> None:
    settings = BalanceSettings(min_cluster_fraction=least, max_cluster_fraction=fraction)
    assert settings.cluster_bounds(n, k) == expected
