"""Graph neural networks on the fast kernels."""

from imgcl.encoders.base import Encoder
from imgcl.encoders.gcn import GCN

__all__ = ["GCN", "Encoder"]
