"""What the judge asks of a server: a child, or how a child ended."""

import struct

__all__ = ["LIMITS", "REAP", "STATUS", "TAKE"]

TAKE, REAP = b"T", b"R"
LIMITS = struct.Struct("<QQQ")  # bytes of memory, processor seconds, bytes of a file
STATUS = struct.Struct("<iid")  # process, exit code or minus the signal, processor seconds
