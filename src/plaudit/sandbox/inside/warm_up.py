"""Prepare a server's memory for its forks: what children would learn is learnt, what they will make has room.

A child pays for every page it writes. The interpreter writes when it adapts code, finds attributes for the first time
and fills gaps between old objects with new ones, so all of this is brought about before the first fork.
"""

import socket
import sys

from plaudit.frames import frame
from plaudit.sandbox.inside.runtime import make_service
from plaudit.sandbox.inside.service import Service
from plaudit.sandbox.values import dumps

__all__ = ["SERVICE", "fill_gaps"]

TIMES = 20  # code is adapted once it has run some eight times
PROGRAM = '''
import math
from collections import Counter, defaultdict
from typing import Any, Dict, List, Optional, Tuple


def f(numbers: List[int], limit: Optional[int] = None) -> List[Tuple[int, int]]:
    """Say what it does."""
    seen: Dict[int, Any] = {}
    for place, number in enumerate(sorted(numbers)):
        if number % 2 == 0 and number not in seen:
            seen[number] = max(place, math.floor(number / 2))
    return [(key, value) for key, value in seen.items() if limit is None or value < limit]


def g(text: str) -> str:
    return " ".join(word.upper() + str(len(word)) for word in text.split())
'''
REQUESTS = [
    ["load", PROGRAM, False],
    ["call", "f", [[3, 4, 8, 10]]],
    ["call", "f", [[2.5, 1.0], 3], {}],
    ["call", "g", ["some words"]],
    ["call", "g", [{"d": [["no", {"t": ["text", None]}]]}], {"limit": True}, True, []],
]

# Python takes small objects from pools, of which a fresh one begins with its own record.
POOL, POOL_RECORD, SMALL, GRAIN, BYTES_RECORD = 1 << 14, 48, 512, 16, 33
LARGE = (1 << 16, 1 << 15, 1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 10, 768, 560)
MANY, IN_A_ROW = 20_000, 3


def warm_up() -> None:
    """Run programs as a child does."""
    frames = b"".join(frame(dumps(request).encode()) for request in REQUESTS)
    for _ in range(TIMES):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendall(frames)
            ours.shutdown(socket.SHUT_WR)
            make_service(theirs.fileno())()
    sys.modules.pop("program", None)


def fill_gaps() -> list[bytes]:
    """What fills the gaps between the objects that are there: while it is kept, new ones lie side by side."""
    kept: list[bytes] = []
    for size in LARGE:
        _fill_large(size - BYTES_RECORD, kept)
    for size in range(3 * GRAIN, SMALL + 1, GRAIN):
        _fill_pools(size - BYTES_RECORD, kept)
    return kept


def _fill_pools(length: int, kept: list[bytes]) -> None:
    """Make objects of a length until one opens a fresh pool, which is left for others."""
    for _ in range(MANY):
        kept.append(bytes(length))
        if id(kept[-1]) % POOL == POOL_RECORD:
            kept.pop()
            return


def _fill_large(length: int, kept: list[bytes]) -> None:
    """Make objects of a length until some lie side by side, which are left for others."""
    row = 0
    while row < IN_A_ROW and len(kept) < MANY:
        kept.append(bytes(length))
        beside = len(kept) > 1 and 0 < id(kept[-1]) - id(kept[-2]) < length + 2 * BYTES_RECORD
        row = row + 1 if beside else 0
    del kept[len(kept) - row :]


SERVICE = Service(make_service, warm_up)  # running programs
