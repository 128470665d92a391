"""The modules a server imports before it forks.

Programs use the first ones all the time; the others are here because they have a shared library of their own, which a
child cannot open. Everything else of the standard library comes from the archive.
"""

__all__ = ["ABSENT", "FLAVOURS", "WARM"]

USED = [
    "abc", "array", "bisect", "cmath", "collections", "collections.abc", "contextlib", "copy", "dataclasses",
    "datetime", "decimal", "enum", "fractions", "functools", "heapq", "io", "itertools", "json", "math", "numbers",
    "operator", "queue", "random", "re", "statistics", "string", "struct", "textwrap", "threading", "time", "traceback",
    "types", "typing",
]  # fmt: skip
NATIVE = [
    "binascii", "fcntl", "grp", "hashlib", "mmap", "resource", "select", "unicodedata", "zlib", "_bisect", "_blake2",
    "_contextvars", "_csv", "_heapq", "_md5", "_opcode", "_pickle", "_posixsubprocess", "_queue", "_sha1", "_sha2",
    "_sha256", "_sha3", "_sha512", "_socket", "_statistics", "_zoneinfo", "pyexpat",
]  # fmt: skip
WARM = [*USED, *NATIVE, "encodings.ascii", "encodings.latin_1"]

# OpenSSL is large, and there is no network; digests come from Python's own modules, asyncio does without.
ABSENT = ["_hashlib", "_ssl"]

NUMPY = (
    "numpy", "numpy.char", "numpy.fft", "numpy.lib.stride_tricks", "numpy.linalg", "numpy.ma", "numpy.polynomial",
    "numpy.random", "numpy.rec", "numpy.strings", "numpy.testing",
)  # fmt: skip
FLAVOURS: dict[str, tuple[str, ...]] = {"plain": (), "numpy": NUMPY}
