"""Make up inputs that are like those of the tests, and ask a reference what is right.

Kept close to what the tests show (numbers within their range, lists of their items, texts of their letters), since a
program need not agree with the reference outside of what was asked. Inputs on which the reference fails or wavers are
left out. A program that only knows the visible inputs fails here.
"""

import random
from collections.abc import Iterator
from typing import Any

from plaudit.sandbox.judging.launcher import Launcher, load_failure
from plaudit.sandbox.judging.proxies.arrays import to_list
from plaudit.sandbox.judging.proxies.exceptions import NotSplittable
from plaudit.sandbox.judging.proxies.program_proxy import NotLoaded
from plaudit.sandbox.judging.recorder import Caught, Recorder
from plaudit.sandbox.judging.styles.asserts import conclude
from plaudit.sandbox.judging.styles.comparing import same_value
from plaudit.sandbox.judging.verdict import Verdict
from plaudit.sandbox.outcome import Ending, Outcome
from plaudit.sandbox.program import Call, Program
from plaudit.sandbox.values import to_text

__all__ = ["judge_fuzzing", "make_calls"]

TOLERANCE, ABSOLUTE = 1e-6, 1e-12
MORE = 5  # numbers go a little beyond the largest that the tests use, never below the smallest
ATTEMPTS = 8  # made-up inputs per one that is wanted: some repeat, some break the reference


def judge_fuzzing(launcher: Launcher, reference: str, calls: list[Call], count: int, imports: list[str]) -> Verdict:
    """The verdict of made-up inputs, `count` of them at most."""
    cases = _make_cases(launcher.other(reference), calls, count, imports)
    if not cases:
        raise NotSplittable("no input could be made up on which the reference gives a plain value")
    names = tuple(f"{call.path} on made-up input {place}" for place, (call, _) in enumerate(cases))
    try:
        proxy = launcher.proxy(imports)
    except NotLoaded as error:
        return load_failure(launcher, list(names), error.outcome)
    recorder = Recorder(names, proxy, stop_early=launcher.stop_early)
    try:
        with Caught() as caught:
            for place, (call, expected) in enumerate(cases):
                with recorder.check(place):
                    result = to_list(proxy.call(call.path, tuple(call.args), call.kwargs))
                    if not same_value(result, expected) and not same_value(result, expected, TOLERANCE, ABSOLUTE):
                        raise AssertionError("differs from the reference")
        return conclude(launcher, proxy, recorder, caught.error)
    finally:
        proxy.close()


def make_calls(calls: list[Call], seed: str) -> Iterator[Call]:
    """Calls like the given ones, without end, the same ones for the same seed."""
    dice = random.Random(seed)
    pool = _Pool([value for call in calls for value in (*call.args, *call.kwargs.values())])
    while True:
        call = dice.choice(calls)
        args = [pool.like(value, dice) for value in call.args]
        yield Call(call.path, args, {name: pool.like(value, dice) for name, value in call.kwargs.items()})


class _Pool:
    """What the tests' own inputs are made of."""

    def __init__(self, values: list[Any]) -> None:
        self.letters = sorted({letter for value in _leaves(values) if type(value) is str for letter in value}) or ["a"]
        numbers = [value for value in _leaves(values) if type(value) is int]
        self.low, self.high = min(numbers, default=0), max(numbers, default=10)

    def like(self, value: Any, dice: random.Random) -> Any:
        """A value of the same make."""
        kind = type(value)
        if kind is bool:
            return dice.random() < 0.5
        if kind is int:
            return dice.randint(self.low, 2 * self.high - self.low + MORE) if dice.random() < 0.8 else value
        if kind is float:
            return round(value * dice.uniform(0.5, 1.5), 3)
        if kind is str:
            return self._text(value, dice)
        if kind is list or kind is tuple:
            return kind(self._items(list(value), dice))
        if kind is dict:
            return {key: self.like(item, dice) for key, item in value.items()}
        return value

    def _text(self, value: str, dice: random.Random) -> str:
        letters = list(value)
        for _ in range(dice.randint(1, 3)):
            if letters and dice.random() < 0.5:
                del letters[dice.randrange(len(letters))]
            else:
                letters.insert(dice.randint(0, len(letters)), dice.choice(self.letters))
        return "".join(letters)

    def _items(self, items: list[Any], dice: random.Random) -> list[Any]:
        items = [self.like(item, dice) if dice.random() < 0.4 else item for item in items]
        if len({type(item) for item in items}) == 1 and not any(type(item) in (list, tuple) for item in items):
            dice.shuffle(items)
            if len(items) > 1 and dice.random() < 0.3:
                items.pop()
        return items


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _make_cases(launcher: Launcher, calls: list[Call], count: int, imports: list[str]) -> list[tuple[Call, Any]]:
    """Made-up calls with what the reference returns, twice the same."""
    known = {call.text() for call in calls}
    found: list[tuple[Call, Any]] = []
    try:
        program = launcher.proxy(imports).program
    except NotLoaded as error:
        raise NotSplittable(f"the reference could not be loaded: {error}") from None
    with program:
        source = make_calls(calls, launcher.source)
        for _ in range(count * ATTEMPTS):
            call = next(source)
            if call.text() in known:
                continue
            known.add(call.text())
            first, second = _call(program, call), _call(program, call)
            if first.ending.is_final or second.ending.is_final:
                break
            if first.ending is second.ending is Ending.RETURNED and to_text(first.value) == to_text(second.value):
                found.append((call, first.value))
            if len(found) == count:
                break
    return found


def _call(program: Program, call: Call) -> Outcome:
    return program.call(call.path, call.args, call.kwargs)
