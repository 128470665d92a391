"""What the judge asks of a server: a child, that one be buried, how one ended, an end."""

import struct

__all__ = ["BURY", "LIMITS", "QUIT", "STATUS", "TAKE"]

TAKE, BURY, STATUS, QUIT = b"T", b"B", b"S", b"Q"
LIMITS = struct.Struct("<QQQQ")  # bytes of memory, processor seconds, bytes printed, bytes of scratch space
