"""Turn whatever foreign code raises into an error that says what was being done, and at which line it went wrong.

Nothing is swallowed here: the original error is always chained.
"""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plaudit.errors import PlauditError, RewardNotLoaded

__all__ = ["explain_failures"]

_NOT_THEIRS = ("<", str(Path(__file__).parents[1]))


@contextmanager
def explain_failures(doing: str, file: Path | None = None) -> Iterator[None]:
    """`with explain_failures("importing rewards.py"):` runs code that is not ours."""
    try:
        yield
    except (Exception, SystemExit) as error:  # a file may call sys.exit(); Ctrl-C goes through
        raise RewardNotLoaded(f"{doing} failed: {_describe(error, file)}") from error


def _describe(error: BaseException, file: Path | None) -> str:
    if isinstance(error, SyntaxError):
        line = f": {error.text.strip()}" if error.text else ""
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno}){line}"
    kind = "" if isinstance(error, PlauditError) else f"{type(error).__name__}: "  # ours say enough themselves
    if (model := _absent_model(error)) is not None:
        remedy = f"where there is a network, `hf download {model}` fetches it; else put its folder there"
        return f"the model {model!r} is not on this machine; {remedy}{_location(error, file)}"
    return f"{kind}{error}{_location(error, file)}"


def _absent_model(error: BaseException) -> str | None:
    """The name of the model that the Hugging Face hub was asked for in vain; its own errors do not say."""
    if not isinstance(error, OSError):
        return None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    asked = [
        frame.f_locals.get("path_or_repo_id") or frame.f_locals.get("pretrained_model_name_or_path")
        for frame in frames
        if str(frame.f_globals.get("__name__")).partition(".")[0] == "transformers"
    ]
    return next((name for name in reversed(asked) if isinstance(name, str) and not Path(name).exists()), None)


def _location(error: BaseException, file: Path | None) -> str:
    """The last line in the file that is loaded, or else the last line of anybody's but ours."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_NOT_THEIRS)
    ]
    last = ([frame for frame in frames if frame.filename == str(file)] or frames)[-1:]
    return f" ({last[0].filename}, line {last[0].lineno})" if last else ""
