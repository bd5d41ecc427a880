"""Several processes or machines train one model; they compute what one process would."""

from imgcl.training.distributed.group import ALONE, ProcessGroup, joined_group

__all__ = ["ALONE", "ProcessGroup", "joined_group"]
