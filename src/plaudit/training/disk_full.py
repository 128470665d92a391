"""A disk that fills up ends a run with what to do about it, whichever file it was that found no room.

Libraries tell of a full disk in words of their own: safetensors raises an error that has the number of the operating
system's only in its text. A limit on the size of files, or a quota, is as full as a disk.
"""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from safetensors import SafetensorError

from plaudit.errors import RolloutsError, TrainingError
from plaudit.training.checkpoint import Checkpoints
from plaudit.training.run_folder import RunFolder

__all__ = ["explain_full_disk"]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NUMBER = re.compile(r"\(os error (\d+)\)")


@contextmanager
def explain_full_disk(folder: RunFolder) -> Iterator[None]:
    """Turn what a full disk raises inside into a TrainingError that says how to go on."""
    try:
        yield
    except (OSError, RolloutsError, SafetensorError) as error:
        number = _number(error)
        if number not in FULL:
            raise
        remedy = Checkpoints(folder.checkpoints).resume_hint()
        raise TrainingError(f"no room left in {folder.path} ({os.strerror(number)}); {remedy}") from error


def _number(error: BaseException) -> int:
    """The number of the operating system's error behind this one; 0 where there is none."""
    cause = error.__cause__ if isinstance(error, RolloutsError) else error
    if isinstance(cause, OSError):
        return cause.errno or 0
    named = _NUMBER.search(str(error))
    return int(named[1]) if named else 0
