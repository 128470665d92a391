"""Settings of a process, how a reward may change each, and rewards that notice a change that another call made."""

import asyncio
import decimal
import gc
import io
import locale
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

import torch

from plaudit import RewardFunction, reward

VARIABLE: ContextVar[str] = ContextVar("variable", default="unset")
HANDLED = (signal.SIGALRM, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPROF, signal.SIGVTALRM)
TIMERS = {
    signal.ITIMER_REAL: signal.SIGALRM,
    signal.ITIMER_PROF: signal.SIGPROF,
    signal.ITIMER_VIRTUAL: signal.SIGVTALRM,
}


def read_settings() -> dict[str, object]:
    """Every process setting that a call may read."""
    context = decimal.getcontext()
    return {
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "import_path": list(sys.path),
        "recursion_limit": sys.getrecursionlimit(),
        "integer_digits": sys.get_int_max_str_digits(),
        "handlers": [signal.getsignal(each) for each in HANDLED],
        "timers": [signal.getitimer(each)[0] > 0 for each in TIMERS],
        "collects_garbage": gc.isenabled(),
        "locale": locale.setlocale(locale.LC_ALL),
        "decimal": (context.prec, context.rounding, context.Emin, context.Emax, dict(context.traps)),
        "socket_timeout": socket.getdefaulttimeout(),
        "warnings": list(warnings.filters),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "context_variable": VARIABLE.get(),
        "gradients": torch.is_grad_enabled(),
        "tensor_type": torch.get_default_dtype(),
        "time_zone": time.strftime("%H", time.localtime(0)),
    }


def _raise_timeout(*_: object) -> None:
    raise TimeoutError("an alarm that a sample left behind")


def _change_locale() -> None:
    locale.setlocale(locale.LC_ALL, "POSIX" if locale.setlocale(locale.LC_ALL) != "C" else "C.UTF-8")


def _set_timer(timer: int, seconds: float) -> None:
    signal.signal(TIMERS[timer], _raise_timeout)
    signal.setitimer(timer, seconds)


MAIN_THREAD: dict[str, Callable[[], object]] = {
    "alarm": lambda: _set_timer(signal.ITIMER_REAL, 0.05),
    "profiling_timer": lambda: _set_timer(signal.ITIMER_PROF, 0.01),
    "virtual_timer": lambda: _set_timer(signal.ITIMER_VIRTUAL, 0.01),
    "handlers": lambda: [signal.signal(each, signal.SIG_IGN) for each in HANDLED],
}
"""Changes that only the main thread can make, so no async function."""
CHANGES: dict[str, Callable[[], object]] = MAIN_THREAD | {
    "folder": lambda: os.chdir("/"),
    "recursion_limit": lambda: sys.setrecursionlimit(500),
    "environment": os.environ.clear,
    "environment_variable": lambda: os.environ.update(PATH="/nowhere", NEW="1"),
    "time_zone": lambda: (os.environ.update(TZ="Asia/Tokyo"), time.tzset()),
    "import_path": lambda: sys.path.insert(0, "/nowhere"),
    "new_import_path": lambda: setattr(sys, "path", []),
    "integer_digits": lambda: sys.set_int_max_str_digits(700),
    "garbage_collection": gc.disable,
    "locale": _change_locale,
    "collation": lambda: locale.setlocale(locale.LC_COLLATE, "C.UTF-8"),
    "decimal_precision": lambda: setattr(decimal.getcontext(), "prec", 3),
    "decimal_traps": lambda: decimal.getcontext().traps.__setitem__(decimal.Inexact, True),
    "decimal_context": lambda: decimal.setcontext(decimal.ExtendedContext),
    "socket_timeout": lambda: socket.setdefaulttimeout(0.001),
    "warnings": lambda: warnings.simplefilter("error"),
    "streams": lambda: setattr(sys, "stdout", io.StringIO()),
    "context_variable": lambda: VARIABLE.set("changed"),
    "gradients": lambda: torch.set_grad_enabled(False),
    "tensor_type": lambda: torch.set_default_dtype(torch.float64),
}

_first: dict[str, object] = {}


def look(response: str) -> float:
    """Make the change that the response names, or compare the settings with those that the first call found."""
    if response == "first":
        _first.clear()
        _first.update(read_settings())
    elif response in CHANGES:
        CHANGES[response]()
    else:
        now = read_settings()
        assert not (changed := {name: now[name] for name in now if now[name] != _first[name]}), changed
    return 1.0


def look_at_each(responses: list[str]) -> list[float]:
    return [look(response) for response in responses]


async def look_async(response: str) -> float:
    await asyncio.sleep(0)
    return look(response)


async def look_at_each_async(responses: list[str]) -> list[float]:
    await asyncio.sleep(0)
    return [look(response) for response in responses]


async def look_at_once(response: str) -> float:
    """Other calls may be under way, and none of them runs before this one has ended."""
    return look(response)


def look_later(response: str) -> Awaitable[float]:
    return look_async(response)


def observers(*, is_async: bool) -> dict[str, RewardFunction]:
    """Rewards of each style whose calls follow each other."""
    if not is_async:
        one, many = reward(look), reward(look_at_each, max_batch=1)
    else:
        one, many = reward(look_async), reward(look_at_each_async, max_batch=1)
    one.concurrency = many.concurrency = 1
    styles = {"sample": one, "batch": many, "sum": 0.5 * one + 0.5, "sum_of_batch": 0.5 * many + 0.5}
    return styles | ({"at_once": reward(look_at_once), "later": reward(look_later)} if is_async else {})
