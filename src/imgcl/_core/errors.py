"""The errors that imgcl raises on purpose.

Everything a user can cause derives from :class:`ImgclError`; the command line turns it into one line on
standard error and an exit code, never a traceback.
"""


class ImgclError(Exception):
    """Base of every error raised on purpose; ``exit_code`` is what the command line exits with."""

    exit_code = 1


class InputError(ImgclError, ValueError):
    """Something the caller passed in is wrong: an argument, a setting, a file's content."""

    exit_code = 2


class GraphError(InputError):
    """The arrays that should make a graph do not: the message says which entry and what to do."""


class DataNotFoundError(InputError):
    """A data set or file is not where it was looked for."""


class RunError(ImgclError):
    """A run directory cannot be used: missing, incomplete, of another version or of another graph."""

    exit_code = 2


class TrainingError(ImgclError):
    """Training cannot go on, for example because the loss is no longer finite."""


class StoppedError(ImgclError):
    """Training stopped because it was asked to; its checkpoint is written."""

    def __init__(self, message: str, exit_code: int = 130) -> None:
        super().__init__(message)
        self.exit_code = exit_code


# Users import and see these as ``imgcl.<name>``.
for _error in (ImgclError, InputError, GraphError, DataNotFoundError, RunError, TrainingError, StoppedError):
    _error.__module__ = "imgcl"
