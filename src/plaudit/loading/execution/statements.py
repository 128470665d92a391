"""Execute a file once, as Python would, but continue after a statement that fails: training scripts hold rewards too.

A statement that needs something that a failed one would have made is not executed and counts as failed too. After a
`raise`, an `assert` or a `sys.exit()` of the file itself, nothing more is executed. What a reward then may not use is
decided by `check_complete`.
"""

import __future__

import ast
import inspect
import itertools
import sys
import traceback
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from plaudit.dialects import stub_finder
from plaudit.errors import MissingPackage, RewardNotLoaded
from plaudit.loading.execution.effects import Effects, effects_of, imports_all
from plaudit.loading.execution.reaching import Reached, is_installed, reach, reach_statement, stores_of
from plaudit.loading.failures import describe, find_module_with, name_absent_model
from plaudit.loading.loaded_files import NEIGHBOURS, LoadedFile, file_of
from plaudit.loading.names import bound_names, is_main_guard

_ANNOTATIONS = __future__.annotations.compiler_flag
_FUTURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_REBINDINGS = (*_FUNCTIONS, ast.Assign, ast.AnnAssign, ast.ClassDef, ast.Import, ast.ImportFrom)
_REWARD_METHODS = {"__call__", "compute_reward", "compute_rewards", "verify", "step"}
_REWARD_PARAMETERS = {
    *("response", "responses", "ground_truth", "ground_truths", "trajectory", "trajectories", "completion"),
    *("completions", "solution_str", "solution_strs", "model_output", "queries", "query", "sample", "samples", "state"),
    *("reward_input", "reward_inputs", "task_info", "trace", "body", "answer", "prompt", "prompts"),
}


@dataclass
class Failure:
    """A statement that was not executed to its end, and what it would have created or changed."""

    node: ast.stmt
    path: str
    line: int
    source: str
    error: BaseException
    effects: Effects


def execute(
    tree: ast.Module, source: bytes, module: ModuleType, path: str, *, only_imports: bool = False
) -> list[Failure]:
    """Execute the statements of a file in the namespace of its module; returns those that failed.

    With `only_imports`, as for a module that the file of a reward imports, only imports of absent packages may fail.
    """
    flags = compile(tree, path, "exec", dont_inherit=True).co_flags & _FUTURES
    module.__doc__ = ast.get_docstring(tree, clean=False)
    run = _Run(module, path, source.decode(errors="replace").splitlines())
    for statement in tree.body:
        # annotations are not evaluated once something is missing: many name classes of absent packages
        later = flags | _ANNOTATIONS if run.failures else flags
        code = compile(ast.Module([statement], []), path, "exec", later, dont_inherit=True)
        run.step(statement, code)
        for failure in run.failures[-1:] if only_imports else ():
            is_import = isinstance(failure.node, ast.Import | ast.ImportFrom) and not imports_all(failure.node)
            if not is_import or not isinstance(failure.error, ModuleNotFoundError):
                raise failure.error
    return run.failures


class _Run:
    def __init__(self, module: ModuleType, path: str, lines: list[str]) -> None:
        self.names, self.path, self.lines = vars(module), path, lines
        self.failures: list[Failure] = []
        self.foreign: set[str] = set()
        self.stop: Failure | None = None

    def step(self, statement: ast.stmt, code: CodeType) -> None:
        """Execute one statement, unless it needs what failed."""
        if is_main_guard(statement) and not statement.orelse:  # type: ignore[attr-defined]  # an `if`
            return
        cause = self.stop or self.cause_of(code)
        if cause is not None:
            self.note(statement, code, cause.error, cause.line)
            return
        try:
            exec(code, self.names)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - reported with the reward that needs the statement
            self.note(statement, code, name_absent_model(error), None)
            if _stops_the_file(error, statement, self.path):
                self.stop = self.failures[-1]
                reads = [each.id for each in ast.walk(statement) if isinstance(each, ast.Name)]
                values = {name for name in reads if not isinstance(self.names.get(name, sys), ModuleType)}
                self.stop.effects.global_names |= {(id(self.names), name) for name in values}
            return
        for failure in self.failures if isinstance(statement, _REBINDINGS) else ():
            failure.effects.global_names -= stores_of(code, self.names)

    def cause_of(self, code: CodeType) -> Failure | None:
        """The failed statement that a statement depends on."""
        if not any(failure.effects for failure in self.failures):
            return None
        reached = reach_statement(code, self.names)
        return next((each for each in _by_certainty(self.failures) if each.effects.hit(reached)), None)

    def note(self, statement: ast.stmt, code: CodeType, error: BaseException, line: int | None) -> None:
        if not isinstance(statement, _FUNCTIONS):
            self.foreign |= set().union(*bound_names([statement]))
        line = line or _line_of(error, self.path) or statement.lineno
        text = self.lines[line - 1].strip() if line <= len(self.lines) else ""
        effects = effects_of(statement, code, self.names, self.foreign, error)
        self.failures.append(Failure(statement, self.path, line, text, error, effects))


def failures_of(module: ModuleType) -> list[Failure]:
    """The statements of a module's file that failed; none if the module was imported by name."""
    file = file_of(module)
    return file.failures if file else []


def _by_certainty(failures: list[Failure]) -> list[Failure]:
    """The failures, with `import *` last: any unknown name may be one of its names."""
    return sorted(failures, key=lambda each: imports_all(each.node))


def check_complete(module: ModuleType, name: str, value: Any, doing: str) -> None:
    """Refuse a value that can reach what the file could not make here; warn once of what it does not reach."""
    file = file_of(module)
    beside = [each for each in NEIGHBOURS.values() if sys.modules.get(each.module.__name__) is each.module]
    failures = _by_certainty([*failures_of(module), *(failure for each in beside for failure in each.failures)])
    reached = reach(value)
    reached.global_names.add((id(vars(module)), name))
    hits = [(each, each.effects.hit(reached)) for each in failures]
    hits += [(each, each.effects.unclear_hit(reached)) for each in failures]
    for failure, hit in hits:
        if hit is not None:
            raise refuse(failure, doing, f"; {name} uses {hit}" if hit != name else "")
    for missing in reached.missing[:1]:
        raise RewardNotLoaded(f"{doing} failed: {missing.error}; {name} uses it") from missing.error
    if file is not None and not file.is_reported:
        file.is_reported = True
        _report(file, name, file.failures, reached)


def refuse(failure: Failure, doing: str, use: str = "") -> RewardNotLoaded:
    """The error for a reward that needs what a failed statement would have made."""
    error = failure.error
    package = str(getattr(error, "name", None) or "").partition(".")[0]
    is_absent = isinstance(error, ModuleNotFoundError | MissingPackage) and not is_installed(package)
    remedy = f"install the package: pip install {package}" if is_absent else "correct the statement"
    where = f"({failure.path}, line {failure.line}: `{failure.source:.100}`)"
    made = RewardNotLoaded(f"{doing} failed: {describe(error)} {where}{use}; {remedy}")
    made.__cause__ = error
    return made


def may_be_reward(node: ast.stmt, offered: Collection[str], names: Mapping[str, Any]) -> bool:
    """Whether a statement that failed may define the reward of its file, rather than its main function or trainer."""
    if isinstance(node, ast.ClassDef):
        return bool({each.name for each in node.body if isinstance(each, _FUNCTIONS)} & _REWARD_METHODS)
    if isinstance(node, _FUNCTIONS):
        parameters = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        return any(each.arg in _REWARD_PARAMETERS for each in parameters)
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    uses = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)} & set(offered)
    return bool(uses) and not (isinstance(node.value, ast.Call) and _is_foreign(node.value.func, names))


def _is_foreign(function: ast.expr, names: Mapping[str, Any]) -> bool:
    """Whether a called function is of another package, such as a trainer: not of the file, nor of plaudit."""
    while isinstance(function, ast.Attribute):
        function = function.value
    value = names.get(function.id) if isinstance(function, ast.Name) else None
    home = str(getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", ""))
    return home not in (names["__name__"], "plaudit") and not home.startswith("plaudit.")


def _report(file: LoadedFile, name: str, failures: Iterable[Failure], reached: Reached) -> None:
    """Issue one warning with everything in a file that could not run."""
    messages = []
    if errors := list({id(each.error): each for each in failures}.values()):
        first, more = errors[0], f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        messages.append(
            f"{first.path}, line {first.line}{more} could not run here and was left out: "
            f"`{first.source:.100}`: {describe(first.error)}; {name} does not use it"
        )
    messages += file.notes
    beside = {path.stem for path in Path(str(file.module.__file__)).parent.iterdir()}
    absent = set(reached.absent_packages) - beside - set(stub_finder().packages) if reached.absent_packages else set()
    messages += [
        f"{reached.absent_packages[each]} imports {each}, which is not installed (pip install {each})"
        for each in sorted(absent)
    ]
    homes = {each: find_module_with(each, str(file.module.__file__)) for each in sorted(reached.undefined)}
    for home in sorted({*homes.values()} - {""}):
        names = ", ".join(each for each in homes if homes[each] == home)
        messages.append(f"{name} uses names that are not defined; write: from {home} import {names}")
    if messages:
        with warnings.catch_warnings():  # the filters that the file sets are for its own warnings
            warnings.filters = [each for each in warnings.filters if id(each) not in file.filters]
            warnings.warn("; ".join(messages), stacklevel=4)


def _line_of(error: BaseException, path: str) -> int | None:
    """The line of the file's own level at which an error came up."""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    in_file = itertools.dropwhile(lambda each: each[0].co_filename != path, frames)
    level = itertools.takewhile(
        lambda each: each[0].co_filename == path and not each[0].co_flags & inspect.CO_OPTIMIZED, in_file
    )
    return max((line for _, line in level), default=None)


def _stops_the_file(error: BaseException, statement: ast.stmt, path: str) -> bool:
    """Whether the file itself ended its execution: `raise`, `assert`, `sys.exit()`; not where a package is absent."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames or isinstance(error, ImportError):
        return False
    frame, line = frames[-1]
    if isinstance(error, SystemExit):
        return frame.f_code.co_filename == path or "_sitebuiltins" in frame.f_code.co_filename
    nodes = [each for each in ast.walk(statement) if isinstance(each, ast.Raise | ast.Assert)]
    is_own = frame.f_code.co_filename == path and frame.f_code.co_name == "<module>"
    return is_own and any(each.lineno <= line <= (each.end_lineno or 0) for each in nodes)
