"""Graph contrastive learning that serves rare classes."""

from imgcl._version import __version__

__all__ = ["__version__"]
