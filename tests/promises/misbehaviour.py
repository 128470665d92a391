"""How the rewards of the matrix score and fail. This text stands at the top of every generated reward file.

A response `FAULT:<name>:<text>` makes the reward do what `RAISES`, `VALUES`, `EFFECTS`, `STOPS` or `CALLS` has under
that name. All other responses have a number that depends on their length alone.
"""

import asyncio
import contextlib
import decimal
import locale
import os
import random
import re
import signal
import socket
import sys
import time
import warnings

KEPT_LOCK = asyncio.Lock()  # belongs to the first event loop that contends for it; another loop is refused
CALL_LOG = "PLAUDIT_PROMISES_CALL_LOG"


class OwnBaseException(BaseException):
    pass


class UnprintableError(Exception):
    def __str__(self):
        raise RuntimeError("this error has no text")

    __repr__ = __str__


class UnpicklableError(Exception):
    def __init__(self, first, second):
        super().__init__(first)
        self.held = (lambda: first, second)


class FloatFails:
    def __float__(self):
        raise ValueError("no number here")


class ReprFails:
    def __repr__(self):
        raise ValueError("no text here")


def recurse(depth=0):
    return recurse(depth + 1)


def spin():
    while True:
        pass


def raise_timeout(*_):
    raise TimeoutError("an alarm that a sample left behind")


RAISES = {
    "value_error": lambda: ValueError("a bad sample"),
    "key_error": lambda: KeyError("absent"),
    "type_error": lambda: TypeError("a wrong type"),
    "index_error": lambda: IndexError("out of range"),
    "attribute_error": lambda: AttributeError("no attribute"),
    "assertion_error": lambda: AssertionError(),
    "os_error": lambda: FileNotFoundError(2, "No such file", "/nowhere/data.json"),
    "timeout_error": lambda: TimeoutError("an endpoint"),
    "stop_iteration": lambda: StopIteration(1.0),
    "stop_async_iteration": lambda: StopAsyncIteration(),
    "recursion_error": recurse,
    "memory_error": lambda: MemoryError("too large"),
    "system_exit": lambda: SystemExit(0),
    "cancelled_error": lambda: asyncio.CancelledError(),
    "generator_exit": lambda: GeneratorExit(),
    "own_base_exception": lambda: OwnBaseException("neither Exception nor known"),
    "exception_group": lambda: ExceptionGroup("two", [ValueError("one"), KeyError("other")]),
    "unprintable_error": lambda: UnprintableError(),
    "unpicklable_error": lambda: UnpicklableError("held", 2),
    "keyboard_interrupt": lambda: KeyboardInterrupt(),
}

VALUES = {
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "minus_inf": lambda: float("-inf"),
    "none": lambda: None,
    "text": lambda: "0.5",
    "bytes": lambda: b"0.5",
    "dict": lambda: {"points": 0.5},
    "set": lambda: {0.5},
    "list": lambda: [0.5, 0.5],
    "complex": lambda: 1j,
    "huge_integer": lambda: 10**400,
    "float_fails": FloatFails,
    "repr_fails": ReprFails,
}

EFFECTS = {
    "mutates_sample": lambda: None,  # `spoil` does it, once all numbers are known
    "changes_seed": lambda: random.seed(0),
    "changes_folder": lambda: os.chdir("/"),
    "changes_signal_handlers": lambda: [
        signal.signal(each, signal.SIG_IGN) for each in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
    ],
    "lowers_recursion_limit": lambda: sys.setrecursionlimit(150),
    "leaves_alarm": lambda: (signal.signal(signal.SIGALRM, raise_timeout), signal.setitimer(signal.ITIMER_REAL, 0.01)),
    "changes_environment": lambda: os.environ.update(PATH="/nowhere", LEFT_BEHIND="1"),
    "changes_import_path": lambda: sys.path.insert(0, "/nowhere"),
    "changes_locale": lambda: locale.setlocale(locale.LC_ALL, "C"),
    "changes_decimal_context": lambda: setattr(decimal.getcontext(), "prec", 2),
    "changes_socket_timeout": lambda: socket.setdefaulttimeout(0.001),
    "changes_warnings": lambda: warnings.simplefilter("error"),
    "prints": lambda: (sys.stdout.write("noise on standard output\n"), os.write(1, b"noise on descriptor 1\n")),
}

STOPS = {
    "spin": spin,
    "sleep": lambda: time.sleep(600),
    "regex": lambda: re.match(r"(a+)+$", "a" * 60 + "b"),
    "await": lambda: None,  # see `score_one_async`
    "await_uncancellable": lambda: None,
    "exit": lambda: os._exit(3),
    "segfault": lambda: (os.kill(os.getpid(), signal.SIGSEGV), time.sleep(600)),  # another thread may get the signal
}

CALLS = {
    "too_few": lambda values: values[:-1],
    "too_many": lambda values: [*values, 0.5],
    "nothing": lambda values: None,
    "one_number": lambda values: 0.5,
    "as_dict": lambda values: dict(enumerate(values)),
    "as_set": lambda values: set(range(len(values))),
    "as_text": lambda values: "1" * len(values),
    "as_bytes": lambda values: b"1" * len(values),
    "as_generator": lambda values: (value for value in values),
    "as_table": lambda values: [values, values],
}


def fault_of(response):
    return response.split(":")[1] if response.startswith("FAULT:") else None


def number(response):
    return len(response) % 7 / 7


def score_one(response, *given):
    fault = fault_of(response)
    if fault in RAISES:
        raise RAISES[fault]()
    if fault in VALUES:
        return VALUES[fault]()
    if fault in STOPS:
        STOPS[fault]()
    if fault in EFFECTS:
        with contextlib.suppress(ValueError, RecursionError):  # handlers can be set in the main thread only
            EFFECTS[fault]()
    if fault == "mutates_sample":
        spoil(given)
    return number(response)


async def score_one_async(response, *given):
    fault = fault_of(response)
    if fault == "await":
        await asyncio.sleep(600)
    while fault == "await_uncancellable":
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            continue
    if fault is None:
        async with KEPT_LOCK:
            await asyncio.sleep(0)
    return score_one(response, *given)


def log_call(responses):
    """Note how many samples the call has, so that a second call is seen."""
    if CALL_LOG in os.environ:
        with open(os.environ[CALL_LOG], "a") as log:
            log.write(f"{os.getppid()} {len(responses)}\n")


def score_many(responses, *given):
    responses = list(responses)
    log_call(responses)
    return finish([score_one(response) for response in responses], responses, given)


async def score_many_async(responses, *given):
    responses = list(responses)
    log_call(responses)
    return finish([await score_one_async(response) for response in responses], responses, given)


def finish(values, responses, given):
    faults = [fault_of(response) for response in responses]
    if "mutates_sample" in faults:
        spoil(given)
    call = next((fault for fault in faults if fault in CALLS), None)
    return values if call is None else CALLS[call](values)


def spoil(value):
    """Change everything that can be changed in what the reward was given."""
    if isinstance(value, dict):
        spoil(tuple(value.values()))
        value.clear()
    elif isinstance(value, (list, tuple)):
        for each in value:
            spoil(each)
        if isinstance(value, list):
            value.clear()
    elif hasattr(value, "metadata") and hasattr(value, "columns"):
        spoil((value.metadata, value.columns, value.prompt, value.steps))
