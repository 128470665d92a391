"""Fixtures and set-up functions of a test file, run around its tests as pytest would."""

import asyncio
import builtins
import inspect
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import CoroutineType, FunctionType, GeneratorType, MethodType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import DEFAULT

from plaudit.sandbox.judging.handles.violations import UnsupportedTest
from plaudit.sandbox.judging.styles.pytest_stub import AUTOUSE, FIXTURE, SCOPE, USED


class Fixtures:
    """The fixtures of one file; a wide one is made once for its scope and closed at the end of it."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._module = _Scope()
        self._class = _Scope()
        self._group: type | None = None

    def check(self, function: Any, case: dict[str, Any], group: type | None) -> None:
        """Raise UnsupportedTest unless every fixture that a test needs is in the file."""
        waiting = [*_parameters(function, group), *getattr(function, USED, ()), *getattr(group, USED, ())]
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in case or name in _BUILT_IN or name in seen:
                continue
            seen.add(name)
            waiting += _parameters(self._find(name, group), group)

    def run(self, function: Any, case: dict[str, Any], group: type | None) -> None:
        """Run one test with all it asks for."""
        if group is not self._group:
            self._class.close()
            self._class, self._group = _Scope(), group
        with _Scope() as scope:
            scopes = {"function": scope, "class": self._class if group is not None else self._module}
            owner = None if group is None else group()
            self._begin(function, owner, scope)
            for name in (*self._automatic(group), *getattr(group, USED, ()), *getattr(function, USED, ())):
                self._value(name, owner, scopes, case)
            bound = function if owner is None else getattr(owner, function.__name__, function)
            wanted = _parameters(bound, None)
            returned = bound(**{name: self._value(name, owner, scopes, case) for name in wanted})
            if isinstance(returned, CoroutineType):
                asyncio.run(returned)

    def close(self) -> None:
        """Close the fixtures of the last class and of the module."""
        self._class.close()
        self._module.close()

    def _begin(self, function: Any, owner: Any, scope: "_Scope") -> None:
        """The set-up functions: of the module and the class once, of the test each time."""
        names = self._namespace
        self._module.begin(names.get("setup_module"), names.get("teardown_module"), SimpleNamespace())
        if owner is None:
            scope.begin(names.get("setup_function"), names.get("teardown_function"), function)
            return
        kind = type(owner)
        self._class.begin(getattr(kind, "setup_class", None), getattr(kind, "teardown_class", None), kind)
        scope.begin(getattr(owner, "setup_method", None), getattr(owner, "teardown_method", None), function)
        _call(getattr(owner, "setup", None), function)

    def _automatic(self, group: type | None) -> list[str]:
        names = list(self._namespace) + [name for base in (group.__mro__ if group else ()) for name in vars(base)]
        return [name for name in dict.fromkeys(names) if _has(self._find_any(name, group), AUTOUSE)]

    def _find_any(self, name: str, group: type | None) -> Any:
        member = getattr(group, name, None)
        return member if _has(member, FIXTURE) else self._namespace.get(name)

    def _find(self, name: str, group: type | None) -> Any:
        fixture = self._find_any(name, group)
        if not _has(fixture, FIXTURE):
            raise UnsupportedTest(f"the test file uses the fixture {name!r}, which it does not define")
        return fixture

    def _value(self, name: str, owner: Any, scopes: "dict[str, _Scope]", case: dict[str, Any]) -> Any:
        if name in case:
            return case[name]
        for scope in (scopes["function"], self._class, self._module):
            if name in scope.values:
                return scope.values[name]
        if name in _BUILT_IN:
            return scopes["function"].enter(name, _BUILT_IN[name]())
        fixture = self._find(name, type(owner) if owner is not None else None)
        scope = scopes.get(getattr(fixture, SCOPE, "function"), self._module)
        bound = fixture.__get__(owner) if "self" in inspect.signature(fixture).parameters else fixture
        inputs = {inner: self._value(inner, owner, scopes, case) for inner in inspect.signature(bound).parameters}
        return scope.add(name, bound(**inputs))


class _Scope:
    """The values of the fixtures of one scope, and what is to be done at its end."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._stack = ExitStack()
        self._has_begun = False

    def add(self, name: str, made: Any) -> Any:
        if isinstance(made, GeneratorType):
            generator, made = made, next(made)
            self._stack.callback(next, generator, None)
        self.values[name] = made
        return made

    def enter(self, name: str, context: Any) -> Any:
        self.values[name] = self._stack.enter_context(context)
        return self.values[name]

    def begin(self, set_up: Any, tear_down: Any, argument: Any) -> None:
        """Call a set-up function once, and its counterpart at the end."""
        if self._has_begun:
            return
        self._has_begun = True
        _call(set_up, argument)
        self._stack.callback(_call, tear_down, argument)

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> "_Scope":
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)


def _parameters(function: Any, group: type | None) -> list[str]:
    """The parameters of a test that are fixtures; `mock.patch` fills the first ones."""
    patched = sum(one.new is DEFAULT for one in getattr(function, "patchings", ()))
    return [name for name in inspect.signature(function).parameters if name != "self" or group is None][patched:]


def _has(thing: Any, mark: str) -> bool:
    """Whether a function of the tests has a mark; handles of the program have none."""
    return isinstance(thing, FunctionType | MethodType) and bool(getattr(thing, mark, False))


def _call(function: Any, argument: Any) -> None:
    if function is not None:
        function(*([argument] if inspect.signature(function).parameters else []))


@contextmanager
def _capsys() -> Iterator[Any]:
    """Captures the output of the program, like pytest's fixture of that name."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err = io.StringIO(), io.StringIO()

    def readouterr() -> Any:
        read = _Captured(out.getvalue(), err.getvalue())
        for stream in (out, err):
            stream.seek(0)
            stream.truncate()
        return read

    try:
        yield SimpleNamespace(readouterr=readouterr)
    finally:
        sys.stdout, sys.stderr = before


class _Captured(NamedTuple):
    """The output since the last call."""

    out: str
    err: str


@contextmanager
def _monkeypatch() -> Iterator[Any]:
    """pytest's `monkeypatch`; the plan refuses tests that replace more than `input` and the standard streams."""
    with ExitStack() as stack:

        def replace(target: Any, name: Any, value: Any = None, raising: bool = True) -> None:
            if isinstance(target, str):
                module, _, attribute = target.rpartition(".")
                target, name, value = sys.modules[module], attribute, name
            if target not in (builtins, sys):
                raise UnsupportedTest("monkeypatch.setattr of something that tests cannot reach")
            stack.callback(setattr, target, name, getattr(target, name))
            setattr(target, name, value)

        yield SimpleNamespace(setattr=replace)


_BUILT_IN: dict[str, Callable[[], Any]] = {"capsys": _capsys, "monkeypatch": _monkeypatch}
