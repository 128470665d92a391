"""The names that tests find when they run: their imports and helpers, and handles of the program."""

from typing import Any

from plaudit.sandbox.judging.handles.program_proxy import ProgramProxy
from plaudit.sandbox.judging.handles.test_builtins import test_builtins
from plaudit.sandbox.judging.plan.test_plan import TestPlan

__all__ = ["fill_namespace"]


def fill_namespace(namespace: dict[str, Any], plan: TestPlan, proxy: ProgramProxy) -> None:
    """Add everything that the plan's code needs."""
    proxy.class_names, proxy.errors.expected = plan.class_names, plan.expected_errors
    namespace.update(test_builtins(proxy.original, lambda name: proxy.get(plan.program[name]), proxy.call))
    exec(plan.setup, namespace)
    for name, meant in plan.program.items():
        namespace[name] = _error_class(proxy, meant) if name in plan.exceptions else proxy.named(meant)
    for name in plan.modules:
        namespace[name] = _ProgramModule(proxy)
        for expected in plan.expected_errors:  # before the program raises one
            proxy.errors.named(expected)


def _error_class(proxy: ProgramProxy, name: str) -> type[BaseException]:
    """The class of the tests for the program's exception `name`, which may be another name of a built-in class.

    A class that failed checks belong to is not taken from the program, which could have them caught.
    """
    named = proxy.errors.named(name)
    meant = proxy.read(name)
    is_built_in = isinstance(meant, type) and issubclass(meant, Exception) and not issubclass(AssertionError, meant)
    return meant if is_built_in else named


class _ProgramModule:
    """`import solution`: its attributes are the globals of the program."""

    def __init__(self, proxy: ProgramProxy) -> None:
        self._proxy = proxy

    def __getattr__(self, name: str) -> Any:
        return _error_class(self._proxy, name) if name in self._proxy.errors.expected else self._proxy.get(name)
