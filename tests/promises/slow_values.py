"""Values that take time to unpickle. The worker imports this module for them, so it imports little."""

import time
from typing import Any


def read_slowly(content: bytes) -> int:
    time.sleep(0.4)
    return len(content)


class SlowToRead:
    """Takes time to be unpickled, as data of that size may."""

    def __reduce__(self) -> tuple[Any, ...]:
        return read_slowly, (bytes(10 << 20),)


class NeverRead:
    """Takes longer to be unpickled than its size explains."""

    def __reduce__(self) -> tuple[Any, ...]:
        return time.sleep, (60,)
