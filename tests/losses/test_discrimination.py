import math

import pytest
import torch
from torch.nn import functional

from imgcl.losses import bce_discrimination, jsd_discrimination

SCORES = torch.tensor([0.0, math.log(3)])  # sigmoid: 1/2 and 3/4


def test_bce_by_hand() -> None:
    # positives: -log(1/2), -log(3/4); negatives: -log(1/2), -log(1/4)
    expected = (math.log(2) + math.log(4 / 3) + math.log(2) + math.log(4)) / 4
    assert float(bce_discrimination(SCORES, SCORES)) == pytest.approx(expected, rel=1e-6)


def test_bce_is_torch_s_own_on_equal_numbers() -> None:
    positive, negative = torch.randn(50), torch.randn(50)
    target = torch.cat([torch.ones(50), torch.zeros(50)])
    expected = functional.binary_cross_entropy_with_logits(torch.cat([positive, negative]), target)
    assert float(bce_discrimination(positive, negative)) == pytest.approx(float(expected), rel=1e-6)


def test_jsd_by_hand() -> None:
    expected = (math.log(2) + math.log(4)) / 2 + (math.log(2) + math.log(4 / 3)) / 2 - 2 * math.log(2)
    assert float(jsd_discrimination(SCORES, SCORES)) == pytest.approx(expected, rel=1e-6)


def test_jsd_reaches_its_bound() -> None:
    sure = torch.full((3,), 50.0)
    assert float(jsd_discrimination(sure, -sure)) == pytest.approx(-2 * math.log(2), rel=1e-6)


@pytest.mark.parametrize("loss", [bce_discrimination, jsd_discrimination])
def test_positives_are_pushed_up_and_negatives_down(loss) -> None:
    positive, negative = torch.zeros(3, requires_grad=True), torch.zeros(3, requires_grad=True)
    loss(positive, negative).backward()
    assert (positive.grad < 0).all()
    assert (negative.grad > 0).all()
