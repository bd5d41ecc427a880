"""The graph store: a graph as a directory of memory-mapped arrays, for graphs larger than memory."""

from imgcl.data.store.edges import PairFile, build_csr
from imgcl.data.store.names import StoredNames
from imgcl.data.store.reader import is_store, open_store, verify_store
from imgcl.data.store.writer import StoreWriter, write_store

__all__ = [
    "PairFile",
    "StoreWriter",
    "StoredNames",
    "build_csr",
    "is_store",
    "open_store",
    "verify_store",
    "write_store",
]
