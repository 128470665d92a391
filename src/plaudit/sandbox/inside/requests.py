"""What the judge asks of a server: a child, that one be buried (and the next one made), how one ended, an end."""

import struct

__all__ = ["BURY", "LIMITS", "NEXT", "QUIT", "STATUS", "TAKE"]

TAKE, NEXT, BURY, STATUS, QUIT = b"T", b"N", b"B", b"S", b"Q"
LIMITS = struct.Struct("<QQQQ")  # bytes of memory, processor seconds, bytes printed, bytes of scratch space
