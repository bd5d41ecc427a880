"""Import: tables of edges and nodes of any size become a graph store, with DuckDB and bounded memory."""

from imgcl.data.importing.frames import from_frames
from imgcl.data.importing.ogb import import_ogb
from imgcl.data.importing.recipe import Unseen
from imgcl.data.importing.settings import ImportSettings, Progress, RepeatedSettings, parse_size
from imgcl.data.importing.tables import ImportReport, import_tables

__all__ = [
    "ImportReport",
    "ImportSettings",
    "Progress",
    "RepeatedSettings",
    "Unseen",
    "from_frames",
    "import_ogb",
    "import_tables",
    "parse_size",
]
