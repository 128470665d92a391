"""The part of many cases that `make test` tries. `make whole` tries all of them."""

import os
from collections.abc import Iterable
from zlib import crc32


def part(names: Iterable[str], share: int) -> list[str]:
    """About one of `share` names, chosen by a hash, so that neither a new name nor its author changes the choice."""
    return [name for name in names if "PLAUDIT_WHOLE" in os.environ or crc32(name.encode()) % share == 0]
