"""Every reader of the package, with the number of inputs in a full run and in CI."""

from harden.fuzzing.bench import Reader
from harden.fuzzing.readers.graphs import prepare_npz, prepare_store, prepare_wiki_cs, read_npz, read_store, read_wiki
from harden.fuzzing.readers.runs import prepare_checkpoint, prepare_run, read_checkpoint, read_run
from harden.fuzzing.readers.settings import (
    prepare_labels,
    prepare_preset,
    prepare_study,
    read_label_file,
    read_preset,
    read_study,
)
from harden.fuzzing.readers.studies import prepare_journal, read_journal
from harden.fuzzing.readers.tables import (
    prepare_csv,
    prepare_ogb,
    prepare_parquet,
    read_csv_tables,
    read_ogb,
    read_parquet_tables,
)

READERS = (
    Reader("npz", 50_000, 1_000, prepare_npz, read_npz),
    Reader("Wiki-CS JSON", 25_000, 500, prepare_wiki_cs, read_wiki),
    Reader("graph store", 25_000, 500, prepare_store, read_store),
    Reader("import of CSV", 2_000, 50, prepare_csv, read_csv_tables),
    Reader("import of Parquet", 2_000, 50, prepare_parquet, read_parquet_tables),
    Reader("import of OGB", 1_000, 50, prepare_ogb, read_ogb),
    Reader("run directory", 15_000, 300, prepare_run, read_run),
    Reader("checkpoint", 20_000, 300, prepare_checkpoint, read_checkpoint),
    Reader("study TOML", 20_000, 300, prepare_study, read_study),
    Reader("preset TOML", 10_000, 200, prepare_preset, read_preset),
    Reader("labels CSV", 15_000, 500, prepare_labels, read_label_file),
    Reader("journal", 15_000, 300, prepare_journal, read_journal),
)
