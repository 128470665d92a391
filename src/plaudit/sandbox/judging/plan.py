"""The calls that a test text makes, recorded once, so that the next program can be asked all of them in one go.

Only good where no call depends on an earlier answer. The tests still run in full for every program: each call they make
is checked against the plan, and the first that differs breaks it.
"""

import marshal
from collections.abc import Iterator
from typing import Any

from plaudit.frames import frame
from plaudit.sandbox.outcome import Outcome
from plaudit.sandbox.program import Call
from plaudit.sandbox.values import from_text

__all__ = ["CallPlan", "PlanBroken", "Replay", "key_of", "copy_call"]

MAX_CALLS, MAX_CHARACTERS = 256, 1 << 15  # what surely fits into a socket's buffer, so that nobody waits for room


_ALIKE = ('{"b":', '{"y":')  # bytes and bytearray, of which images are the same


class PlanBroken(BaseException):
    """This program's run makes other calls than the plan: start anew, without it."""


class CallPlan:
    """The calls of one run, in order; `usable` once that run is complete and the calls are few and small enough."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.images: list[bytes | None] = []
        self.frames = b""  # all of them, as they are sent
        self.usable = self.given_up = False
        self._characters = 0

    def add(self, path: str, args: list[Any], keywords: dict[str, Any]) -> None:
        """Note a call, as it was before it could change its arguments."""
        key = key_of(path, args, keywords)
        self._characters += len(key)
        self.keys.append(key)
        self.images.append(None if any(tag in key for tag in _ALIKE) else _image(path, args, keywords))

    def complete(self) -> None:
        """The run is over and made all its calls."""
        if self.usable:
            return
        small = 1 < len(self.keys) <= MAX_CALLS and self._characters <= MAX_CHARACTERS
        self.usable = small and not self.given_up
        self.frames = b"".join(frame(key.encode()) for key in self.keys)

    def forget(self) -> None:
        """The run was cut short: the next one may note its calls again."""
        self.keys, self.images, self._characters = [], [], 0

    def give_up(self) -> None:
        """Calls depend on answers: never plan these tests again."""
        self.usable, self.given_up = False, True


class Replay:
    """The answers of one program to a plan; `outcomes` are those to come."""

    def __init__(self, plan: CallPlan, outcomes: Iterator[Outcome]) -> None:
        self._calls = zip(plan.keys, plan.images, strict=True)
        self._outcomes = outcomes
        self.broken = False

    def next(self, path: str, args: list[Any], keywords: dict[str, Any]) -> Outcome:
        """The answer to the next call of the tests, which must be the next one of the plan."""
        key, image = next(self._calls, ("", None))
        if (image is None or image != _image(path, args, keywords)) and key != key_of(path, args, keywords):
            self.broken = True
            raise PlanBroken
        return next(self._outcomes)


def _image(path: str, args: list[Any], keywords: dict[str, Any]) -> bytes | None:
    """What is alike for equal calls and quicker made than their text; None for some that text must tell apart."""
    try:
        return marshal.dumps([path, args, keywords], 2)  # the version without references, which depend on who looks
    except ValueError:
        return None


def key_of(path: str, args: list[Any], keywords: dict[str, Any]) -> str:
    """A call as the request that is sent for it."""
    return Call(path, args, keywords).text()


def copy_call(path: str, args: list[Any], keywords: dict[str, Any]) -> Call:
    """A call with copies of its arguments as they are now."""
    return Call(*from_text(key_of(path, args, keywords))[1:])
