"""Run a file statement by statement: rewards often stand in training scripts and notebooks.

What a statement cannot compute here, where a package is absent or a model is elsewhere, becomes a name that raises the
error once it is used, and the next statement runs. A reward that names an absent package is refused with that error;
one that does without has all that it has at home. What a file raises itself (`raise`, `assert`) is an error as ever.
"""

import __future__

import ast
import builtins
import dis
import functools
import inspect
import operator
import sys
import types
import warnings
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

from plaudit.dialects.standins import FIRST_MISSED, Missing, NameIsMissing, Undetermined
from plaudit.loading.failures import Failure, name_absent_model
from plaudit.loading.names import bound_names

__all__ = ["find_need", "note_left_out", "run_statements", "warn_of_left_out"]

_ANNOTATIONS = __future__.annotations.compiler_flag
_FUTURES = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
_LEFT_OUT = "__left_out__"
_STAR = "__failed_star__"
"""Where a module keeps the error of an `import *` that failed."""
_REWARD_METHODS = {"__call__", "compute_reward", "compute_rewards", "verify", "step"}
_REWARD_PARAMETERS = {
    *("response", "responses", "ground_truth", "ground_truths", "trajectory", "trajectories", "completion"),
    *("completions", "solution_str", "solution_strs", "model_output", "queries", "query", "sample", "samples", "state"),
    *("reward_input", "reward_inputs", "task_info", "trace", "body", "answer", "prompt", "prompts"),
}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MUTATORS = frozenset(("append", "extend", "insert", "remove", "pop", "clear", "sort", "update", "setdefault", "add"))


def run_statements(source: bytes, module: ModuleType, path: str) -> None:
    """Run the statements of a file in a module's namespace; `warn_of_left_out` tells later what could not run."""
    flags = compile(source, path, "exec", dont_inherit=True).co_flags & _FUTURES
    tree = ast.parse(source, path)
    module.__doc__ = ast.get_docstring(tree, clean=False)
    failures: list[tuple[ast.stmt, Failure]] = []
    for statement in tree.body:
        error = _run(statement, vars(module), path, flags)
        if error is None:
            continue
        if isinstance(statement, ast.Raise | ast.Assert) and not any(error is known for _, known in failures):
            raise error
        _bind(statement, error, vars(module))
        if not isinstance(error, NameIsMissing):
            failures.append((statement, error))
    if failures:
        statement, error = failures[0]
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        note_left_out(module, f"{path}, line {statement.lineno}{more} could not run here", error)


def note_left_out(module: ModuleType, what: str, error: BaseException) -> None:
    """Keep with a module what it was loaded without."""
    vars(module).setdefault(_LEFT_OUT, []).append(f"{what}, and was left out: {type(error).__name__}: {error}")


def warn_of_left_out(module: ModuleType) -> None:
    """Say once what a module that is used was loaded without."""
    for message in vars(module).pop(_LEFT_OUT, []):
        warnings.warn(message, stacklevel=2)


def find_need(value: Any) -> Undetermined | Missing | None:
    """The first name of an absent package among those that a function, or the class of an object, uses.

    Packages that plaudit stands in for are not among them, since most files use those in their training code only; nor
    are values that could not be computed for other reasons, which may be needed for some samples alone.
    """
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, Undetermined | Missing):
            if isinstance(each.error, ImportError) and not isinstance(each.error, NameIsMissing):
                return each
            continue
        for function in _functions_of(each):
            used = (_look_up(name, function.__globals__) for name in _global_names(function.__code__))
            waiting += [found for found in used if _is_followed(found, function.__module__)]
    return None


def _look_up(name: str, names: dict[str, Any]) -> Any:
    """What a global name stands for; one that nobody has may be from an `import *` that failed."""
    return names[name] if name in names else None if hasattr(builtins, name) else names.get(_STAR)


def _is_followed(found: Any, module: str) -> bool:
    """Whether what a function uses is of its own file, or of a neighbour that could not compute everything."""
    if isinstance(found, Undetermined | Missing):
        return True
    if not (inspect.isfunction(found) or isinstance(found, type)):
        return False
    return found.__module__ == module or FIRST_MISSED in vars(sys.modules.get(found.__module__, builtins))


def _functions_of(value: Any) -> Iterator[types.FunctionType]:
    """The functions that run when a value is used as a reward."""
    value = value.func if isinstance(value, functools.partial) else value
    if inspect.isroutine(value):
        function = inspect.unwrap(value)
        function = getattr(function, "__func__", function)
        if isinstance(function, types.FunctionType):
            yield function
        return
    kind = value if isinstance(value, type) else type(value)
    for owner in kind.__mro__:
        for member in vars(owner).values() if owner.__module__ == kind.__module__ else ():
            if isinstance(member, Undetermined | Missing):
                continue  # it says what is missing once it is used
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(function, types.FunctionType):
                yield inspect.unwrap(function)


def _global_names(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _run(statement: ast.stmt, names: dict[str, Any], path: str, flags: int) -> Failure | None:
    """Run one statement; returns what it raised. A definition may do without its annotations."""
    try:
        exec(compile(ast.Module([statement], []), path, "exec", flags, dont_inherit=True), names)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a script raises is kept for who needs it
        if isinstance(statement, _DEFINITIONS) and not flags & _ANNOTATIONS:
            return _run(statement, names, path, flags | _ANNOTATIONS)
        return name_absent_model(error)
    return None


def _bind(statement: ast.stmt, error: Failure, names: dict[str, Any]) -> None:
    """Put what raises the error in place of every name that the statement would have bound or changed."""
    imported, defined = bound_names([statement])
    is_definition = _may_be_reward(statement)
    changed = {name for name in _changed_names(statement) if name in names}
    names.update({name: Undetermined(error, is_definition=is_definition) for name in defined | changed})
    kind = {"error": error, "__module__": names["__name__"]}
    kept = names if isinstance(statement, ast.Import) else {}  # `import package.absent` after `import package`
    names.update({name: Missing(name, (), dict(kind)) for name in imported - {"*"} if name not in kept})
    names.setdefault(FIRST_MISSED, Undetermined(error))
    if "*" in imported:
        names[_STAR] = Undetermined(error)


def _may_be_reward(statement: ast.stmt) -> bool:
    """Whether a definition could be meant as a reward, rather than as the main function or trainer of a script."""
    if isinstance(statement, ast.ClassDef):
        methods = {each.name for each in statement.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
        return bool(methods & _REWARD_METHODS)
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    asked = statement.args
    return any(each.arg in _REWARD_PARAMETERS for each in (*asked.posonlyargs, *asked.args, *asked.kwonlyargs))


def _changed_names(statement: ast.stmt) -> Iterator[str]:
    """The names of things that a statement changes in place: `table[key] = …`, `names.append(…)`."""
    for node in ast.walk(statement):
        target = node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
            target = node.func
        elif not (isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store)):
            continue
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id
