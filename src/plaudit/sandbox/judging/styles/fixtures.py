"""Fixtures and set-up functions of a test file, run around its tests as pytest would."""

import asyncio
import builtins
import inspect
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

from plaudit.sandbox.judging.proxies.exceptions import NotSplittable
from plaudit.sandbox.judging.styles.pytest_stand_in import AUTOUSE, FIXTURE, SCOPE

__all__ = ["Fixtures"]


class Fixtures:
    """What tests of one file get, by name; wide ones are made once."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._made: dict[str, Any] = {}
        self._begun: set[Any] = set()

    def run(self, function: Any, case: dict[str, Any], group: type | None) -> None:
        """Run one test with all it asks for."""
        with ExitStack() as stack:
            owner = None if group is None else group()
            self._begin(function, owner, stack)
            for name in self._automatic(group):
                self._value(name, owner, stack)
            bound = function if owner is None else getattr(owner, function.__name__, function)
            wanted = list(inspect.signature(bound).parameters)
            keywords = {name: case[name] if name in case else self._value(name, owner, stack) for name in wanted}
            given = bound(**keywords)
            if inspect.iscoroutine(given):
                asyncio.run(given)

    def _begin(self, function: Any, owner: Any, stack: ExitStack) -> None:
        """The set-up functions: of the module and the class once, of the test each time."""
        self._call_once(self._namespace.get("setup_module"), SimpleNamespace())
        if owner is None:
            _call(self._namespace.get("setup_function"), function)
            stack.callback(_call, self._namespace.get("teardown_function"), function)
            return
        self._call_once(getattr(type(owner), "setup_class", None), type(owner))
        for name in ("setup_method", "setup"):
            _call(getattr(owner, name, None), function)
        stack.callback(_call, getattr(owner, "teardown_method", None), function)

    def _call_once(self, function: Any, argument: Any) -> None:
        if function is not None and getattr(function, "__qualname__", function) not in self._begun:
            self._begun.add(getattr(function, "__qualname__", function))
            _call(function, argument)

    def _automatic(self, group: type | None) -> list[str]:
        places = [self._namespace, *([vars(group)] if group is not None else [])]
        return [name for place in places for name, thing in place.items() if _has(thing, AUTOUSE)]

    def _value(self, name: str, owner: Any, stack: ExitStack) -> Any:
        if name in self._made:
            return self._made[name]
        if name in _OWN:
            value = stack.enter_context(_OWN[name]())
            self._made[name] = value
            stack.callback(self._made.pop, name, None)
            return value
        found = getattr(owner, name, None) if owner is not None else None
        found = found if _has(found, FIXTURE) else self._namespace.get(name)
        if not _has(found, FIXTURE):
            raise NotSplittable(
                f"the fixture {name!r} is not in the file; only fixtures of the file itself can be judged"
            )
        assert found is not None
        made = found(**{inner: self._value(inner, owner, stack) for inner in inspect.signature(found).parameters})
        wide = getattr(found, SCOPE, "function") != "function"
        if inspect.isgenerator(made):
            generator, made = made, next(made)
            if not wide:
                stack.callback(next, generator, None)
        self._made[name] = made
        if not wide:
            stack.callback(self._made.pop, name, None)
        return made


def _has(thing: Any, mark: str) -> bool:
    """Whether a function of the tests has a mark; a function of the program's is not asked."""
    return inspect.isroutine(thing) and bool(getattr(thing, mark, False))


def _call(function: Any, argument: Any) -> None:
    if function is not None:
        function(*([argument] if inspect.signature(function).parameters else []))


@contextmanager
def _capsys() -> Iterator[Any]:
    """What the program prints from here on, as pytest's fixture of that name."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err = io.StringIO(), io.StringIO()

    def readouterr() -> Any:
        read = SimpleNamespace(out=out.getvalue(), err=err.getvalue())
        for stream in (out, err):
            stream.seek(0)
            stream.truncate()
        return _Captured(read.out, read.err)

    try:
        yield SimpleNamespace(readouterr=readouterr)
    finally:
        sys.stdout, sys.stderr = before


class _Captured(tuple[str, str]):
    """(out, err), by name too."""

    def __new__(cls, out: str, err: str) -> "_Captured":
        return super().__new__(cls, (out, err))

    @property
    def out(self) -> str:
        return self[0]

    @property
    def err(self) -> str:
        return self[1]


class _MonkeyPatch:
    """pytest's `monkeypatch`, for what tests can reach here."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def setattr(self, target: Any, name: Any, value: Any = None, raising: bool = True) -> None:
        if isinstance(target, str):
            module, _, attribute = target.rpartition(".")
            if module not in ("builtins", "sys"):
                raise NotSplittable(f"monkeypatch.setattr({target!r}): it is out of reach here")
            target, name, value = (builtins if module == "builtins" else sys), attribute, name
        if target not in (builtins, sys):
            raise NotSplittable("monkeypatch.setattr on something of the program's, which is out of reach here")
        self._stack.callback(setattr, target, name, getattr(target, name, None))
        setattr(target, name, value)

    def __getattr__(self, name: str) -> Any:
        raise NotSplittable(f"monkeypatch.{name} cannot be judged apart from pytest")


@contextmanager
def _monkeypatch() -> Iterator[_MonkeyPatch]:
    with ExitStack() as stack:
        yield _MonkeyPatch(stack)


_OWN: dict[str, Callable[[], Any]] = {"capsys": _capsys, "monkeypatch": _monkeypatch}
