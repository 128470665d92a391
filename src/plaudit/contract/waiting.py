"""Wait for async rewards, from synchronous code or from a running event loop.

asyncio is imported when somebody first waits: it would be a third of the time that `import plaudit` takes, and most
rewards never do.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Begun", "complete", "gathered"]

T = TypeVar("T")


@dataclass(frozen=True)
class Begun:
    """An async call that was made; `settle()` awaits what it returned and checks it."""

    returned: Awaitable[Any]
    settle: Callable[[], Awaitable[Any]]


def complete(awaitable: Awaitable[T]) -> T:
    """Run an awaitable to its end from synchronous code, even where an event loop is already running."""
    import asyncio  # noqa: PLC0415 - see the module's docstring
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - asyncio brings it along

    async def awaited() -> T:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(awaited())
    with ThreadPoolExecutor(1, "plaudit-async") as pool:
        return pool.submit(asyncio.run, awaited()).result()


async def gathered(begun: list[Any], concurrency: int) -> list[Any]:
    """The results of calls that were begun, at most `concurrency` awaited at once; what is a result already stays."""
    import asyncio  # noqa: PLC0415 - see the module's docstring

    free = asyncio.Semaphore(concurrency)

    async def finished(one: Any) -> Any:
        if not isinstance(one, Begun):
            return one
        async with free:
            return await one.settle()

    try:
        return await asyncio.gather(*map(finished, begun))
    finally:
        for one in begun:  # an interrupt leaves some that were never awaited, and Python would warn of each
            if isinstance(one, Begun) and inspect.iscoroutine(one.returned):
                one.returned.close()
