import pytest
import torch

from imgcl.losses.exponential import exp_sums, exp_weighted


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request: pytest.FixtureRequest):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def block(n: int, width: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return ((torch.rand(n, width, generator=torch.Generator().manual_seed(0)) - 0.5) * 128).to(dtype)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("n", "width"), [(1, 1), (3, 7), (400, 400)])
def test_exponential_and_sums(n: int, width: int, dtype: torch.dtype) -> None:
    x = block(n, width, dtype)
    expected = x.double().exp()
    rows, columns = exp_sums(x, without_diagonal=False)
    torch.testing.assert_close(x.double(), expected, rtol=3e-7, atol=0)
    torch.testing.assert_close(rows.double(), expected.sum(dim=1), rtol=1e-5, atol=0)
    torch.testing.assert_close(columns.double(), expected.sum(dim=0), rtol=1e-5, atol=0)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_diagonal_stays_out(dtype: torch.dtype) -> None:
    x = block(400, 400, dtype)
    expected = x.double().exp().fill_diagonal_(0)
    rows, _ = exp_sums(x, without_diagonal=True)
    torch.testing.assert_close(rows.double(), expected.sum(dim=1), rtol=1e-5, atol=0)
    assert (x.diagonal() == 0).all()


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("without_diagonal", [False, True])
def test_weights(dtype: torch.dtype, without_diagonal: bool) -> None:
    x, left, right = block(400, 400, dtype), torch.rand(400, dtype=dtype), torch.rand(400, dtype=dtype)
    expected = x.double().exp() * (left.double().unsqueeze(1) + right.double())
    exp_weighted(x, left, right, without_diagonal)
    if without_diagonal:
        expected.fill_diagonal_(0)
    torch.testing.assert_close(x.double(), expected, rtol=1e-6, atol=0)
