"""Write requirements.lock: every pin of constraints.txt with the hashes of its files on the package index.

    python scripts/lock.py                       # all pins
    python scripts/lock.py --wheels DIRECTORY    # also wheels that are not on the index, such as torch's CPU build
    python scripts/lock.py --check               # only say whether pins and lock agree; needs no network

The index is that of ``PIP_INDEX_URL``, by default PyPI; the hashes are those it publishes (PEP 503). Files for other
Pythons than those we support are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version
from pip._internal.models.index import PyPI

ROOT = Path(__file__).parents[1]
PINS, LOCK = ROOT / "constraints.txt", ROOT / "requirements.lock"
INDEX = os.environ.get("PIP_INDEX_URL", PyPI.simple_url)
PYTHONS = ("cp311", "cp312", "cp313")
HEAD = """\
# Every pin of constraints.txt with the hashes of its files; written by scripts/lock.py, not by hand.
#   pip install --require-hashes -r requirements.lock && pip install --no-deps .
# On Linux (x86-64) torch is the CPU build, which this project is developed with: add the option
# --extra-index-url https://download.pytorch.org/whl/cpu (the index's build asks for CUDA packages that are not here).
"""
# Files of the index that are left out, and why: they ask for dependencies that are not pinned.
LEFT_OUT = {"torch": "manylinux_2_28_x86_64"}


class Links(HTMLParser):
    """The files of a page of the index: name and sha256."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect a link that carries a hash and is not withdrawn."""
        attributes = dict(attrs)
        address, fragment = urldefrag(attributes.get("href") or "")
        if tag == "a" and fragment.startswith("sha256=") and "data-yanked" not in attributes:
            self.files[unquote(address.rsplit("/", 1)[-1])] = fragment.removeprefix("sha256=")


def requirements() -> list[Requirement]:
    """Every line of constraints.txt."""
    lines = PINS.read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def pins() -> dict[str, Version]:
    """Name and version of every line of constraints.txt."""
    found = {}
    for requirement in requirements():
        (specifier,) = requirement.specifier
        found[canonicalize_name(requirement.name)] = Version(specifier.version)
    return found


def markers() -> dict[str, str]:
    """The machines that a package is for, where it is not for all."""
    return {canonicalize_name(each.name): f"; {each.marker}" for each in requirements() if each.marker}


def listed(name: str) -> dict[str, str]:
    """The files that the index lists for a package."""
    request = urllib.request.Request(f"{INDEX.rstrip('/')}/{name}/", headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=60) as response:
        page = Links()
        page.feed(response.read().decode())
    return page.files


def version_of(file: str) -> Version | None:
    """The public version of a file that one of our Pythons can install."""
    try:
        if not file.endswith(".whl"):
            return parse_sdist_filename(file)[1]
        _, version, _, tags = parse_wheel_filename(file)
    except (InvalidSdistFilename, InvalidWheelFilename):
        return None
    return Version(version.public) if any(_ours(tag) for tag in tags) else None


def _ours(tag: Tag) -> bool:
    return tag.interpreter in PYTHONS or tag.abi == "abi3" or (tag.interpreter.startswith("py3") and tag.abi == "none")


def entry(name: str, version: Version, elsewhere: dict[str, str]) -> str:
    """A requirement with all its hashes."""
    left_out = LEFT_OUT.get(name)
    known = {file: digest for file, digest in listed(name).items() if left_out is None or left_out not in file}
    known |= elsewhere
    hashes = sorted({digest for file, digest in known.items() if _belongs(file, name, version)})
    if not hashes:
        sys.exit(f"{name}=={version}: {INDEX} has no file of this version")
    pin = f"{name}=={version}{markers().get(name, '')}"
    return " \\\n".join([pin, *(f"    --hash=sha256:{digest}" for digest in hashes)])


def _belongs(file: str, name: str, version: Version) -> bool:
    stem = re.split(r"-\d", file, maxsplit=1)[0]
    return canonicalize_name(stem) == name and version_of(file) == version


def check() -> None:
    """Exit with 1 when constraints.txt and requirements.lock do not name the same versions."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    locked = dict(re.split(r"[ ;]", line)[0].split("==") for line in lines if re.match(r"[a-z0-9]", line))
    wanted = {name: str(version) for name, version in pins().items()}
    different = sorted(name for name in wanted.keys() | locked.keys() if wanted.get(name) != locked.get(name))
    if different:
        sys.exit(f"requirements.lock is out of date ({', '.join(different)}): run scripts/lock.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, action="append", default=[], help="directory with other wheels")
    parser.add_argument("--check", action="store_true", help="only compare")
    arguments = parser.parse_args()
    if arguments.check:
        check()
        return
    wheels = [file for directory in arguments.wheels for file in directory.glob("*.whl")]
    elsewhere = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in wheels}
    wanted = sorted(pins().items())
    with ThreadPoolExecutor(8) as pool:
        entries = list(pool.map(lambda pin: entry(*pin, elsewhere), wanted))
    LOCK.write_text(HEAD + "\n".join(entries) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
