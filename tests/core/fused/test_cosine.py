"""The fused mean cosine against torch's own."""

import pytest
import torch
from torch.nn import functional

from imgcl._core.fused import mean_cosine


@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (3, 16), (20, 130)])
def test_value_and_gradient_equal_torchs(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    q, z = torch.randn(shape, requires_grad=True), torch.randn(shape)
    ours = mean_cosine(q, z)
    (mine,) = torch.autograd.grad(ours, q)
    theirs = functional.cosine_similarity(q, z, dim=1).mean()
    (other,) = torch.autograd.grad(theirs, q)
    assert float(ours.detach()) == pytest.approx(float(theirs.detach()), abs=1e-6)
    torch.testing.assert_close(mine, other, atol=1e-6, rtol=1e-5)


def test_a_row_of_zeros_has_cosine_zero_and_a_finite_gradient() -> None:
    q, z = torch.zeros(1, 3, requires_grad=True), torch.ones(1, 3)
    value = mean_cosine(q, z)
    value.backward()
    assert float(value.detach()) == 0
    assert q.grad is not None
    assert torch.isfinite(q.grad).all()


def test_gradcheck() -> None:
    q = torch.randn(6, 19, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(mean_cosine, (q, torch.randn(6, 19, dtype=torch.float64)))


def test_the_same_bits_for_any_number_of_threads() -> None:
    torch.manual_seed(0)
    q, z = torch.randn(9000, 512), torch.randn(9000, 512)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            rows = q.clone().requires_grad_()
            value = mean_cosine(rows, z)
            value.backward()
            found.append((float(value.detach()), rows.grad))
    finally:
        torch.set_num_threads(before)
    assert found[0][0] == found[1][0]
    assert torch.equal(found[0][1], found[1][1])  # type: ignore[arg-type]
