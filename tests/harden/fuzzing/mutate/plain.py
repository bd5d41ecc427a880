"""Changes that know nothing of the format."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Mutator = Callable[[bytes, Random], bytes]

NUMBERS = (-1, 0, 1, 2, 255, 2**15, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, 10**400, -(2**63) - 1)


def mutate_bytes(data: bytes, random: Random) -> bytes:
    """Flip, cut, repeat, overwrite."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        at = random.randrange(len(changed) + 1)
        length = random.choice((1, 2, 4, 8, 64))
        match random.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << random.randrange(8)
            case 1:
                del changed[at:]
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = changed[at : at + length]
            case 4:
                changed[at : at + length] = wrapped(random.choice(NUMBERS), length, random.choice(("little", "big")))
            case _:
                changed[at : at + length] = random.randbytes(length)
    return bytes(changed)


def wrapped(number: int, length: int = 8, order: str = "little") -> bytes:
    """The lowest bytes of a number."""
    return (number & (1 << 8 * length) - 1).to_bytes(length, "big" if order == "big" else "little")
