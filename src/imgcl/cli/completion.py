"""What the shell offers after an option or in the place of a graph; files are offered by the shell itself."""

from __future__ import annotations

from collections.abc import Iterable


def data_sets(incomplete: str) -> list[str]:
    """Names of graphs.

    Example:
        >>> data_sets("amazon-p")
        ['amazon-photo']
    """
    from imgcl.data.built_in import BUILT_IN
    from imgcl.data.public import PUBLIC

    return _beginning(incomplete, [*PUBLIC, *BUILT_IN])


def methods(incomplete: str) -> list[str]:
    """Names of base methods."""
    from imgcl.methods import METHODS

    return _beginning(incomplete, METHODS)


def classifiers(incomplete: str) -> list[str]:
    """Names of classifiers, also after a comma.

    Example:
        >>> classifiers("plain,re")
        ['plain,reweight']
    """
    from imgcl.evaluation.estimators import classifier_names

    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in _beginning(last, classifier_names())]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
