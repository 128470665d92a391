"""What the judge asks of a server: a child, that one be buried, or also how it ended."""

import struct

__all__ = ["BURY", "LIMITS", "STATUS", "TAKE"]

TAKE, BURY, STATUS = b"T", b"B", b"S"
LIMITS = struct.Struct("<QQQ")  # bytes of memory, processor seconds, bytes of a file
