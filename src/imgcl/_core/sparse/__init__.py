"""CSR matrices on torch tensors, and the products everything else is made of."""

from imgcl._core.sparse.csr import CSR
from imgcl._core.sparse.features import (
    BinaryFeatures,
    ColumnStatistics,
    DenseFeatures,
    Features,
    SparseFeatures,
    features_of,
)
from imgcl._core.sparse.operator import Operator
from imgcl._core.sparse.order import locality_order

__all__ = [
    "CSR",
    "BinaryFeatures",
    "ColumnStatistics",
    "DenseFeatures",
    "Features",
    "Operator",
    "SparseFeatures",
    "features_of",
    "locality_order",
]
