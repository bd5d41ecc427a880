"""The version, read by the build and recorded in every run directory."""

__version__ = "0.1.0"
