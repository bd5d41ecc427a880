"""Several processes or machines train one model; they compute what one process would."""

from imgcl.training.distributed.workers import ALONE, Workers, joined_workers

__all__ = ["ALONE", "Workers", "joined_workers"]
