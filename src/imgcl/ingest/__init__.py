"""Getting graphs in: tables of edges and nodes of any size become a graph store, with DuckDB and bounded memory."""

from imgcl.ingest.ogb import import_ogb
from imgcl.ingest.settings import ImportSettings, Progress, parse_size
from imgcl.ingest.tables import ImportReport, import_tables

__all__ = ["ImportReport", "ImportSettings", "Progress", "import_ogb", "import_tables", "parse_size"]
