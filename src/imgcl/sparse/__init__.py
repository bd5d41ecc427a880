"""CSR matrices on torch tensors, and the products everything else is made of."""

from imgcl.sparse.csr import CSR
from imgcl.sparse.features import BinaryFeatures, ColumnStatistics, DenseFeatures, Features, SparseFeatures, features_of
from imgcl.sparse.locality import locality_order
from imgcl.sparse.operator import Operator

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
