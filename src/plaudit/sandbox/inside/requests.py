"""What both ends of a server and of its processes know: requests, limits, and where a process finds its channel."""

import struct

__all__ = ["BURY", "CHANNEL", "LIMITS", "NEXT", "QUIT", "READY", "STATUS", "TAKE"]

# A process; that one be buried and the next one made; that one be buried; how one ended; an end.
TAKE, NEXT, BURY, STATUS, QUIT = b"T", b"N", b"B", b"S", b"Q"
LIMITS = struct.Struct("<QQQQ")  # bytes of memory, processor seconds, bytes printed, bytes of scratch space
CHANNEL = 3  # the descriptor of a program's end of its channel
READY = b"K"  # the first byte on it, written before a program has been seen
