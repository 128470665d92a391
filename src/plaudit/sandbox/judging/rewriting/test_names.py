"""The names that rewritten tests use, and built-in ones that must know of the program's classes."""

import asyncio
from typing import Any

from plaudit.sandbox.judging.proxies.objects import RemoteObject, is_instance, is_subclass
from plaudit.sandbox.judging.rewriting.changed_arguments import CARRY, carry
from plaudit.sandbox.judging.rewriting.zipping import STRICT_ZIP, strict_zip

__all__ = ["TEST_NAMES", "run_remote_coroutines"]

TEST_NAMES: dict[str, Any] = {
    STRICT_ZIP: strict_zip,
    CARRY: carry,
    "isinstance": is_instance,
    "issubclass": is_subclass,
}
_run = asyncio.run


def run_remote_coroutines() -> None:
    """Have `asyncio.run` take a coroutine of the program's, which runs over there."""
    asyncio.run = _run_any


def _run_any(main: Any, **keywords: Any) -> Any:
    return _run(_wait_for(main) if isinstance(main, RemoteObject) else main, **keywords)


async def _wait_for(remote: RemoteObject) -> Any:
    return await remote
