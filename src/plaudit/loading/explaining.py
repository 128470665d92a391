"""Turn whatever foreign code raises into an error that says what was being done, and at which line it went wrong.

A context manager rather than an `except`: nothing is ever swallowed here, the original is always chained.
"""

import traceback
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

from plaudit.errors import PlauditError, RewardNotLoaded

__all__ = ["Explaining"]

_NOT_THEIRS = ("<", str(Path(__file__).parents[1]))


class Explaining(AbstractContextManager[None]):
    """`with Explaining("importing rewards.py"):` runs code that is not ours."""

    def __init__(self, doing: str, file: Path | None = None) -> None:
        self.doing = doing
        self.file = file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception | SystemExit):  # a file may call sys.exit(); Ctrl-C goes through
            raise RewardNotLoaded(f"{self.doing} failed: {self._what(error)}") from error

    def _what(self, error: BaseException) -> str:
        if isinstance(error, SyntaxError):
            line = f": {error.text.strip()}" if error.text else ""
            where = f"{error.filename}, line {error.lineno}"
            return f"{type(error).__name__}: {error.msg} ({where}){line}"
        kind = "" if isinstance(error, PlauditError) else f"{type(error).__name__}: "  # ours say enough themselves
        return f"{kind}{error}{self._where(error)}"

    def _where(self, error: BaseException) -> str:
        """The last line in the file that is loaded, or else the last line of anybody's but ours."""
        frames = [
            frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_NOT_THEIRS)
        ]
        last = ([frame for frame in frames if frame.filename == str(self.file)] or frames)[-1:]
        return f" ({last[0].filename}, line {last[0].lineno})" if last else ""
