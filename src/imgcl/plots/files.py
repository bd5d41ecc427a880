"""One way to write a figure: the same figure gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl._core.files import atomic_path
from imgcl.plots.style import SETTINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What each format would write of the day and the program: None leaves it out.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    ".png": {"Software": None},
}


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as SVG, PDF or PNG, by the name's ending; atomically, without dates.

    Args:
        figure: from any function of this package, or of your own.
        path: file to write.

    Example:
        >>> import tempfile
        >>> from imgcl.plots import class_distribution, save
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(class_distribution([50, 20, 5]), f"{folder}/sizes.svg")
    """
    need("plots", "a figure")
    import matplotlib

    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in METADATA:
        raise InputError(f"cannot write a figure to {target}: the name must end in {', '.join(METADATA)}")
    with matplotlib.rc_context(SETTINGS), atomic_path(target) as temporary:
        figure.savefig(temporary, format=suffix[1:], metadata=METADATA[suffix])
