"""The settings of torch that our computations need, whatever the caller's are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

AUTOCAST = ("cpu", "cuda")
_NUMBER = threading.Lock()  # held while the number of threads that new threads begin with is another for a moment


@contextmanager
def usual_torch() -> Iterator[None]:
    """Gradients on, no autocast, new tensors on the CPU: in this thread, until the end of the block.

    A caller may have ``torch.no_grad``, ``torch.inference_mode``, ``torch.autocast`` or ``torch.set_default_device`` in
    force. All of them are settings of a thread. The default type of numbers belongs to the process: it stays as it is,
    and our tensors say their type.

    Example:
        >>> with torch.no_grad(), usual_torch():
        ...     torch.is_grad_enabled()
        True
    """
    with _NUMBER:
        torch.get_num_threads()  # a thread's number is settled by its first question
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        for device in AUTOCAST:
            if torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, enabled=False))
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        yield


def compute_alone() -> None:
    """From now on torch uses one thread for what this thread computes; the first call of a new thread.

    ``torch.set_num_threads`` also decides with how many threads every new thread of the process begins; that stays.
    """
    with _NUMBER:
        usual = torch.get_num_threads()  # a new thread has the number that all new ones have
        torch.set_num_threads(1)
        if usual > 1:
            other = threading.Thread(target=torch.set_num_threads, args=(usual,))
            other.start()
            other.join()
