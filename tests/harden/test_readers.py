"""Hypothesis on every reader: it finds small inputs where atheris finds many (see ``fuzz.py``)."""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harden.fuzzing.bench import Bench, Reader
from harden.fuzzing.mutate import MUTATORS
from harden.fuzzing.readers import READERS
from imgcl._core.errors import ImgclError


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory):
    return cache(lambda reader: Bench(reader, tmp_path_factory.mktemp("reader")))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("reader", READERS, ids=[reader.name for reader in READERS])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.integers(0, 255), flags=st.integers(0, 255), random=st.randoms(), content=st.none() | st.binary())
def test_any_file_is_read_or_refused(
    bench, reader: Reader, place: int, flags: int, random: Random, content: bytes | None
) -> None:
    """``content`` is the whole file; without it, a valid file is changed as its format allows."""
    chosen = bench(reader)
    folder, file, _ = chosen.choose(bytes([place % 16, place // 16]))
    path, valid = list(chosen.files[folder].items())[file]
    changed = MUTATORS[Path(path).suffix](valid, random) if content is None else content
    with contextlib.suppress(ImgclError):
        chosen.read(bytes([folder, file, flags]) + changed)
