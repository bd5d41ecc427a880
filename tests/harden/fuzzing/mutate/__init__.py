"""Changes to a valid file that keep most of it valid: they get past a reader's first check, random bytes do not."""

from harden.fuzzing.mutate.arrays import mutate_npy, mutate_npz, mutate_safetensors
from harden.fuzzing.mutate.documents import mutate_json, mutate_json_lines
from harden.fuzzing.mutate.plain import Mutator, mutate_bytes
from harden.fuzzing.mutate.text import mutate_csv, mutate_toml

MUTATORS: dict[str, Mutator] = {
    ".csv": mutate_csv,
    ".json": mutate_json,
    ".jsonl": mutate_json_lines,
    ".npy": mutate_npy,
    ".npz": mutate_npz,
    ".parquet": mutate_bytes,
    ".safetensors": mutate_safetensors,
    ".toml": mutate_toml,
}
