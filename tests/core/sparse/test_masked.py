import pytest
import torch

from imgcl._core.sparse.columns import DenseColumns
from imgcl._core.sparse.masked import MaskedProducts


def masks(*dropped, width=7):
    made = []
    for columns in dropped:
        mask = torch.ones(width, dtype=torch.float64)
        mask[list(columns)] = 0
        made.append(mask)
    return made


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize(
    "given",
    [
        masks((0, 3), (3, 6)),
        masks((), (2,)),
        [None, *masks((1,))],
        [None, None],
        masks((0, 1, 2, 3, 4, 5, 6), ()),  # too much dropped: the plain way is cheaper
        [torch.linspace(0, 1, 7, dtype=torch.float64), None],  # not a mask of zeros and ones
        masks((1,)),
    ],
)
def test_equals_masking_the_features_with_its_gradient(given, by_columns):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, 7, dtype=torch.float64, generator=generator)
    x = x.T.contiguous().T if by_columns else x
    weight = torch.randn(7, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    expected = [x @ weight if mask is None else (x * mask) @ weight for mask in given]
    found = MaskedProducts(DenseColumns(x), given)(weight)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)
    seeds = [torch.randn(5, 3, dtype=torch.float64, generator=generator) for _ in given]
    gradients = []
    for products in (found, expected):
        total = sum((product * seed).sum() for product, seed in zip(products, seeds, strict=True))
        gradients.append(torch.autograd.grad(total, weight)[0])
    torch.testing.assert_close(*gradients)
    assert torch.autograd.gradcheck(lambda w: tuple(MaskedProducts(DenseColumns(x), given)(w)), (weight,))


@pytest.mark.parametrize("given", [masks((0, 3), (3, 6)), masks((1,)), [None, None], masks((1,), (2,), (2, 4))])
def test_two_networks_multiply_the_same_views(given):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, 7, dtype=torch.float64, generator=generator).T.contiguous().T[:5]
    weight = torch.randn(7, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    other = torch.randn(7, 2, dtype=torch.float64, generator=generator, requires_grad=True)
    multiply = MaskedProducts(DenseColumns(x), given)
    with torch.no_grad():
        others = multiply(other)
    trained = multiply(weight)
    assert not any(product.requires_grad for product in others)
    for found, each in ((trained, weight), (others, other)):
        for a, mask in zip(found, given, strict=True):
            torch.testing.assert_close(a, x @ each if mask is None else (x * mask) @ each)
    expected = [x @ weight if mask is None else (x * mask) @ weight for mask in given]
    mine, theirs = (sum(p.square().sum() for p in products) for products in (trained, expected))
    torch.testing.assert_close(*(torch.autograd.grad(total, weight)[0] for total in (mine, theirs)))


@pytest.mark.parametrize("used", [0, 1])
def test_a_product_that_is_not_used_adds_nothing_to_the_gradient(used):
    x = torch.arange(10.0).reshape(5, 2).T.contiguous().T
    weight = torch.ones(2, 1, requires_grad=True)
    given = [torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])]
    found = MaskedProducts(DenseColumns(x), given)(weight)
    (gradient,) = torch.autograd.grad(found[used].sum(), weight)
    assert gradient.flatten().tolist() == [[20.0, 0.0], [0.0, 25.0]][used]
