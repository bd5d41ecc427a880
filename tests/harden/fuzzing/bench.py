"""A reader on the bench: its valid files, and inputs that replace one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from harden.fuzzing.mutate import MUTATORS

HEAD = 3  # bytes of an input that say which folder, which file and which flags; the rest is the file's content
OWN = 0.4  # share of the changes that atheris makes without knowing the format
ANEW = 0.3  # share of the others that start from a valid file again, not from an input that was kept


@dataclass(frozen=True)
class Reader:
    """One reader under test.

    Attributes:
        name: of the suite.
        full: inputs of a full run.
        part: inputs in CI.
        prepare: writes folders of valid files into a folder.
        read: reads one of those folders, in which one file was changed; ``flags`` chooses among the reader's options.
    """

    name: str
    full: int
    part: int
    prepare: Callable[[Path], None]
    read: Callable[[Path, int], None]


class Bench:
    """A reader with its valid files in a folder."""

    def __init__(self, reader: Reader, root: Path) -> None:
        self.reader = reader
        reader.prepare(root)
        self.folders = sorted(path for path in root.iterdir() if path.is_dir())
        self.files = [
            {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()} for folder in self.folders
        ]

    def seeds(self) -> list[bytes]:
        """An input for every valid file, unchanged."""
        return [
            bytes([number, place, flags]) + content
            for number, files in enumerate(self.files)
            for place, content in enumerate(files.values())
            for flags in (0, 255)
        ]

    def choose(self, data: bytes) -> tuple[int, int, int]:
        """Folder, file and flags that an input stands for."""
        folder, file, flags = data[:HEAD].ljust(HEAD, b"\0")
        folder %= len(self.folders)
        return folder, file % len(self.files[folder]), flags

    def read(self, data: bytes) -> None:
        """Have the input read."""
        folder, file, flags = self.choose(data)
        list(self.files[folder])[file].write_bytes(data[HEAD:])
        try:
            self.reader.read(self.folders[folder], flags)
        finally:
            for path, valid in self.files[folder].items():
                path.write_bytes(valid)

    def mutate(self, data: bytes, random: Random, own: Callable[[bytes], bytes]) -> bytes:
        """Another input: changed by ``own``, or by what knows the format."""
        if random.random() < OWN:
            return own(data)
        folder, file, flags = self.choose(data)
        content = data[HEAD:]
        if random.random() < ANEW:
            folder, file, flags = self.choose(random.randbytes(HEAD))
            content = list(self.files[folder].values())[file]
        path = list(self.files[folder])[file]
        return bytes([folder, file, flags]) + MUTATORS[path.suffix](content, random)
