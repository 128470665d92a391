"""A disk without room, for tests: writing more than some bytes into a file fails, for root as for anybody."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def disk_full_after(size: int) -> Iterator[None]:
    """Inside, no file of this process gets longer than `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
