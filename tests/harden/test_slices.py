"""A small slice of every suite; ``make harden`` runs them in full."""

from __future__ import annotations

import pytest

from harden.suites import Suite, all_suites


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("each", [pytest.param(suite, id=suite.title) for suite in all_suites()])
def test_nothing_is_lost(each: Suite):
    outcome = each.run(each.part)
    if not outcome.tried:
        pytest.skip("; ".join(outcome.notes))
    assert not outcome.lost, "\n".join(outcome.notes)
