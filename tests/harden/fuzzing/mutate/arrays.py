"""Changes to files of arrays: a header that claims something else, an archive of other arrays."""

from __future__ import annotations

import ast
import io
import json
import pickle
import zipfile
from random import Random

import numpy as np

from harden.fuzzing.mutate.documents import mutate_json
from harden.fuzzing.mutate.plain import NUMBERS, mutate_bytes, wrapped

TYPES = (
    "<i8",
    "<i4",
    ">i8",
    "<u8",
    "|u1",
    "|b1",
    "<f2",
    "<f4",
    "<f8",
    "<c16",
    "|O",
    "<U9",
    "|S3",
    "<M8[s]",
    "|V8",
    "i,i",
)
SHAPES = (
    "()",
    "(0,)",
    "(3,)",
    "(3, 3)",
    "(-1,)",
    "(4611686018427387904, 4)",
    "(1000000000,)",
    f"({'9' * 4000}, {'9' * 4000})",
)
PLACES = ("adj_data", "adj_indptr", "adj_shape", "attr_matrix", "attr_indices", "labels", "node_names", "../x", "/x")
PLAIN = ((), (0,), (1,), (3,), (4,), (3, 3), (4, 2))
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)


def mutate_npy(data: bytes, random: Random) -> bytes:
    """Another type, shape, order or length in the header of an array, or other values."""
    try:
        length = int.from_bytes(data[8:10], "little")
        fields, values = ast.literal_eval(data[10 : 10 + length].decode("latin1")), data[10 + length :]
        kind, shape, order = repr(fields["descr"]), str(fields["shape"]), fields["fortran_order"]
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
        return mutate_bytes(data, random)
    match random.randrange(7):
        case 0:
            kind = repr(random.choice(TYPES))
        case 1:
            shape = random.choice(SHAPES)
        case 2:
            shape = shape.replace("(", "(" + "-" * random.choice((1, 5000)), 1)
        case 3:
            order = random.choice((True, 1, "a", None))
        case 4:
            values = values[: random.randrange(len(values) + 1)]
        case 5:
            place = 8 * random.randrange(len(values) // 8 + 1)
            values = values[:place] + wrapped(random.choice(NUMBERS)) + values[place + 8 :]
        case _:
            values = mutate_bytes(values, random)
    return npy_bytes(kind, shape, values, order)


def npy_bytes(kind: str, shape: str, values: bytes, order: object = False) -> bytes:
    """An ``.npy`` file that claims what it likes."""
    header = f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, }}".encode("latin1")
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values


def mutate_npz(data: bytes, random: Random) -> bytes:
    """Arrays changed, dropped, renamed, pickled or compressed otherwise, in an archive that stays whole."""
    if random.random() < 0.15:
        return mutate_bytes(data, random)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # zipfile complains in many ways, and it is not what is tested here
        return mutate_bytes(data, random)
    name = random.choice(list(members) or ["labels.npy"])
    match random.randrange(7):
        case 0:
            members.pop(name, None)
        case 1:
            members[f"{random.choice(PLACES)}.npy"] = members.pop(name, b"")
        case 2:
            members[name] = random.choice(list(members.values()) or [b""])
        case 3:
            members[name] = _odd_array(random)
        case _:
            members[name] = mutate_npy(members.get(name, b""), random)
    return zip_bytes(members, random.choice(METHODS))


def _odd_array(random: Random) -> bytes:
    shape = random.choice(PLAIN)
    kind = random.choice(("i8", "i4", "u8", "f4", "f8", "bool", "U3", "S3", "O"))
    if kind == "O":
        return npy_bytes("'|O'", str(shape), pickle.dumps([None]))
    array = np.full(shape, random.choice((0, 1, 5, 2**20)), kind if kind not in ("U3", "S3") else "i8").astype(kind)
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def zip_bytes(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


def mutate_safetensors(data: bytes, random: Random) -> bytes:
    """The header changed as JSON, with its length right; the values in it are JSON again."""
    length = int.from_bytes(data[:8], "little")
    header, values = data[8 : 8 + length], data[8 + length :]
    try:
        fields = json.loads(header)
        stored = fields["__metadata__"]["values"].encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return mutate_bytes(data, random)
    match random.randrange(5):
        case 0 | 1:
            fields["__metadata__"]["values"] = mutate_json(stored, random).decode("utf-8", errors="replace")
            header = json.dumps(fields).encode()
        case 2 | 3:
            header = mutate_json(header, random)
        case _:
            values = mutate_bytes(values, random)
    return len(header).to_bytes(8, "little") + header + values
