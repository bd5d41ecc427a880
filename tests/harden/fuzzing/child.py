"""The process that readers are fuzzed in: ``python -m harden.fuzzing.child``.

It loads everything once, then forks for every order that it reads (reader, inputs, folder: one JSON line) and answers
with a line when the fork has ended. atheris chooses which inputs to change by the lines of Python that they reached.
Anything a reader raises but the documented errors is written down with its input, and fuzzing goes on; when a reader
takes the fork with it, the counter file still says how far it came.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import resource
import struct
import sys
import tempfile
import traceback
import warnings
from importlib.util import find_spec
from pathlib import Path
from random import Random

LARGEST = 1 << 16  # bytes of an input
MEMORY = 3 << 30  # bytes that a reader may allocate
SECONDS = 60  # that a reader may take, on a busy machine
COUNTS = struct.Struct("<QQ")  # inputs tried, inputs lost
LIBRARIES = ["zipfile", "tomllib", "csv"]
ROOMS = (
    "data",
    "evaluate",
    "graph_checks",
    "ingest",
    "limits",
    "npy",
    "presets",
    "report",
    "store",
    "studies",
    "train",
    "unlabelled",
)


def main() -> None:
    import atheris

    with atheris.instrument_imports(include=["imgcl", *LIBRARIES], exclude=_others(), enable_loader_override=False):
        import harden.fuzzing.readers  # noqa: F401 (for what it imports)
    from imgcl._core.errors import DataNotFoundError
    from imgcl.data import public

    def no_network(url: str, *_: object, **__: object) -> None:
        raise DataNotFoundError(f"{url} could not be downloaded (fuzzing)")

    public.fetch = no_network
    for order in sys.stdin:
        name, inputs, folder = json.loads(order)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            child = os.fork()
            if not child:
                _fuzz(name, inputs, Path(folder), Path(scratch))
            _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _others() -> list[str]:
    """Modules of the package that read nothing, and those with kernels: numba compiles the bytecode that it finds."""
    package = Path(str(find_spec("imgcl").origin)).parent
    names = {}
    for file in package.rglob("*.py"):
        place = file.relative_to(package).with_suffix("").parts
        if place[0] not in ROOMS or "njit" in file.read_text(encoding="utf-8"):
            names["imgcl." + ".".join(place).removesuffix(".__init__")] = None
    return list(names)


def _fuzz(name: str, inputs: int, folder: Path, scratch: Path) -> None:
    """Fuzz one reader; does not return."""
    import atheris

    from harden.fuzzing.bench import Bench
    from harden.fuzzing.readers import READERS

    log = os.open(folder / "log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        bench = Bench(next(reader for reader in READERS if reader.name == name), scratch)
        corpus = folder / "corpus"
        corpus.mkdir(exist_ok=True)
        for seed in bench.seeds():
            bench.read(seed)  # a valid file must be read; also compiles what is compiled at first use
            (corpus / hashlib.sha256(seed).hexdigest()).write_bytes(seed)
    except BaseException:
        traceback.print_exc()
        os._exit(3)  # the code after the fork is the parent's
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    limits = [f"-runs={inputs}", f"-seed={inputs}", f"-max_len={LARGEST}", f"-timeout={SECONDS}", "-rss_limit_mb=0"]

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        return bench.mutate(data, Random(seed), lambda content: atheris.Mutate(content, most))[:most]

    arguments = ["fuzz", *limits, f"-artifact_prefix={folder}/", str(corpus)]
    atheris.Setup(arguments, Trial(bench, folder).read, custom_mutator=mutate)
    atheris.Fuzz()


class Trial:
    """Reads inputs, counts them, and keeps those that a reader failed on."""

    def __init__(self, bench, folder: Path) -> None:
        self.bench, self.folder = bench, folder
        with open(folder / "counts", "r+b") as handle:
            self.counts = mmap.mmap(handle.fileno(), COUNTS.size)
        self.known: set[tuple[str, str]] = set()

    def read(self, data: bytes) -> None:
        from imgcl._core.errors import ImgclError

        tried, lost = COUNTS.unpack(self.counts[:])
        self.counts[:] = COUNTS.pack(tried + 1, lost + 1)  # lost, until the reader comes back
        (self.folder / "current").write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.bench.read(data)
        except ImgclError:
            pass
        except Exception as error:
            self._keep(data, error)
            return
        self.counts[:] = COUNTS.pack(tried + 1, lost)

    def _keep(self, data: bytes, error: Exception) -> None:
        """Write a loss down, unless one like it is known."""
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if f"{os.sep}imgcl{os.sep}" in frame.filename] or frames
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        if (type(error).__name__, where) in self.known:
            return
        self.known.add((type(error).__name__, where))
        name = f"lost-{hashlib.sha256(data).hexdigest()[:16]}"
        (self.folder / name).write_bytes(data)
        line = {"error": type(error).__name__, "where": where, "message": str(error)[:200], "input": name}
        with open(self.folder / "lost.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
