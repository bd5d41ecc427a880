"""Where cells are computed: on this machine's cores, or on a Ray cluster."""

from __future__ import annotations

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.studies.engines.base import Engine, Settings

ENGINES = ("local", "ray")


def resolve_engine(name: str) -> Engine:
    """The engine of that name."""
    if name == "local":
        from imgcl.studies.engines.local import run_local

        return run_local
    if name == "ray":
        from imgcl.studies.engines.ray import run_ray

        return run_ray
    raise InputError(f"unknown engine {name!r}{did_you_mean(name, ENGINES)}")


__all__ = ["Engine", "Settings", "resolve_engine"]
