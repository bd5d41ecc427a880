"""Changes to tables and settings that people write by hand."""

from __future__ import annotations

from random import Random

from harden.fuzzing.mutate.plain import mutate_bytes

CELLS = (
    *("", "a", "b", "0", "-1", "7", "1e400", "nan", "inf", "-9223372036854775809", "NULL", "true", "0x1F", "1_000"),
    *('"', '"a', '"a,b"', "\0", "\r", "\ufeff", "é" * 30, "x" * 3000, "2020-01-01", "2020-01-01 10:00:00", "[1, 2]"),
)
VALUES = (
    *("''", '"a"', "-1", "0", "1", "10_000_000_000_000", "1e300", "nan", "inf", "true", "[]", "[1]", '["a", 1]', "{}"),
    *(
        '{a = "b"}',
        "1979-05-27",
        "[[[[]]]]",
        '"\\u0000"',
        f'["{"x" * 300}"]',
        f'"{"y" * 5000}"',
        "[" * 3000,
        "9" * 5000,
        f"{{{'a.' * 7000}a = 1}}",
    ),
)
DOTTED = (f"[{'a.' * 5000}a]", f"{'a.' * 100_000}a = 1")  # unbounded, their memory grows with the square
LINES = ("[settings]", "[balances]", "[a.b]", "[[x]]", "# \x7f", "[fast]", "[paper.method]", *DOTTED)


def mutate_csv(data: bytes, random: Random) -> bytes:
    """Cells replaced, rows moved, another separator, ragged rows."""
    rows = [line.split(",") for line in data.decode("utf-8", errors="surrogateescape").split("\n")]
    separator = ","
    row = random.choice(rows)
    match random.randrange(9):
        case 0:
            rows.remove(row)
        case 1:
            rows.insert(random.randrange(len(rows) + 1), list(random.choice(rows)))
        case 2:
            row.append(random.choice(CELLS))
        case 3:
            del row[random.randrange(len(row))]
        case 4:
            separator = random.choice(("\t", ";", "|", ", ", ""))
        case 5:
            rows = rows * random.choice((2, 50))
        case _:
            row[random.randrange(len(row))] = random.choice(CELLS)
    return "\n".join(separator.join(row) for row in rows).encode("utf-8", errors="surrogateescape")


def mutate_toml(data: bytes, random: Random) -> bytes:
    """A value replaced, lines moved, dropped or repeated."""
    lines = data.decode("utf-8", errors="replace").split("\n")
    at = random.randrange(len(lines))
    key, found, value = lines[at].partition("=")
    match random.randrange(7):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, random.choice(lines))
        case 2:
            lines[at] = random.choice(LINES)
        case 3 if found:
            lines[at] = f"{random.choice(lines).partition('=')[0]}={value}"
        case _ if found:
            lines[at] = f"{key}= {random.choice(VALUES)}"
        case _:
            return mutate_bytes(data, random)
    return "\n".join(lines).encode()
