"""Convert exceptions of foreign code into errors that name the action and the line that failed.

The original error is always chained.
"""

import ast
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plaudit import checks, rewards
from plaudit.dialects import modules_with
from plaudit.errors import PlauditError, RewardNotLoaded
from plaudit.loading.names import imported_packages

_NOT_THEIRS = ("<", str(Path(__file__).parents[1]))


@contextmanager
def explain_failures(doing: str, file: Path | None = None) -> Iterator[None]:
    """`with explain_failures("importing rewards.py"):` runs code that is not ours."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        at = "" if isinstance(error, SyntaxError) else _location(error, file)
        raise RewardNotLoaded(f"{doing} failed: {describe(name_absent_model(error))}{at}") from error


def describe(error: BaseException) -> str:
    """The kind of an error and its message; errors of plaudit are messages for users already."""
    if isinstance(error, SyntaxError):
        line = f": {error.text.strip()}" if error.text else ""
        return f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno}){line}"
    if isinstance(error, NameError) and error.name and (frames := traceback.extract_tb(error.__traceback__)):
        return f"{type(error).__name__}: {error}{_suggest_import(error.name, frames[-1].filename)}"
    return f"{error}" if isinstance(error, PlauditError) else f"{type(error).__name__}: {error}"


def _suggest_import(name: str, path: str) -> str:
    """`"; write: from flux.rewards import LengthReward"` if a known package has that name, else nothing."""
    module = find_module_with(name, path)
    return f"; write: from {module} import {name}" if module else ""


def find_module_with(name: str, path: str) -> str:
    """A module that defines a name: in a package that the file imports, else in plaudit, else any; "" if none."""
    built_in = [f"plaudit.{each.__name__.rpartition('.')[2]}" for each in (checks, rewards) if name in each.__all__]
    stubs = modules_with(name)
    try:
        imported = imported_packages(ast.parse(Path(path).read_bytes()))
    except (OSError, SyntaxError, ValueError):
        imported = set()
    return next(iter([*(each for each in stubs if each.partition(".")[0] in imported), *built_in, *stubs]), "")


def name_absent_model(error: BaseException) -> BaseException:
    """The error, or a new one with the name of the missing Hugging Face model if the error lacks it."""
    if not isinstance(error, OSError):
        return error
    names = [
        frame.f_locals.get("path_or_repo_id") or frame.f_locals.get("pretrained_model_name_or_path")
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] == "transformers"
    ]
    model = next((name for name in reversed(names) if isinstance(name, str) and not Path(name).exists()), None)
    if model is None:
        return error
    named = RewardNotLoaded(
        f"the model {model!r} is not on this machine; where there is a network, `hf download {model}` fetches it, else "
        "give the path of its folder"
    )
    named.__cause__ = error
    return named.with_traceback(error.__traceback__)


def _location(error: BaseException, file: Path | None) -> str:
    """The last line in the file that is loaded, or else the last line of anybody's but ours."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_NOT_THEIRS)
    ]
    last = ([frame for frame in frames if frame.filename == str(file)] or frames)[-1:]
    return f" ({last[0].filename}, line {last[0].lineno})" if last else ""
