"""The modules a server imports before it forks.

Programs use the first ones all the time; the others are here because they have a shared library of their own, which a
child cannot open. Everything else of the standard library comes from the archive.
"""

__all__ = ["FLAVOURS", "WARM"]

WARM = ["abc", "array", "bisect", "cmath", "collections", "collections.abc", "contextlib", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "heapq", "io", "itertools", "json", "math", "numbers", "operator", "os", "queue", "random", "re", "statistics", "string", "struct", "sys", "textwrap", "threading", "time", "traceback", "types", "typing", "binascii", "hashlib", "mmap", "resource", "select", "signal", "socket", "unicodedata", "zlib", "_asyncio", "_bisect", "_blake2", "_contextvars", "_csv", "_heapq", "_md5", "_opcode", "_pickle", "_posixsubprocess", "_queue", "_sha1", "_sha256", "_sha3", "_sha512", "_statistics", "_zoneinfo", "fcntl", "grp", "encodings.ascii", "encodings.latin_1", "encodings.idna"]

FLAVOURS: dict[str, tuple[str, ...]] = {"plain": (), "numpy": ("numpy",)}
