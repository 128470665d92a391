"""Write a file so that a reader finds the old contents or the new ones, never a part."""

import os
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a file beside the target, then rename it; an OSError leaves no partial file."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
