"""What a statement that failed would have created or changed: all names that it stores, all mutable objects in it.

All branches count. Functions of the user that it calls, and those that were running when it failed, are followed by
`reach`; what they mention counts too. Functions and classes count as changed where the statement, or a function that it
calls, sets attributes.
"""

import ast
import builtins
import inspect
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CellType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from plaudit.loading.execution.reaching import (
    UNRESOLVED,
    GlobalName,
    Reached,
    is_data,
    is_project,
    is_project_file,
    reach,
    stores_of,
)

_UNKNOWN = object()
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CONSTRUCTORS = ("__new__", "__init__", "__post_init__")


@dataclass
class Effects:
    """Global names and objects that code may have created or changed."""

    global_names: set[GlobalName] = field(default_factory=set)
    objects: dict[int, Any] = field(default_factory=dict)
    unclear: str = ""
    """The reason why the names cannot be known; empty if they are known."""

    def __bool__(self) -> bool:
        return bool(self.global_names or self.objects or self.unclear)

    def hit(self, reached: Reached) -> str | None:
        """Describe which of these names and objects a walk reached; None if none."""
        if names := self.global_names & reached.global_names:
            return ", ".join(sorted(name for _, name in names))
        objects = self.objects.keys() & reached.objects.keys()
        return _describe(self.objects[min(objects)]) if objects else None

    def unclear_hit(self, reached: Reached) -> str | None:
        """The reason why it is unclear whether a walk reached one of these effects; None if it is clear."""
        if self.unclear:
            return f"names that cannot be known ({self.unclear})"
        return f"names that it computes ({reached.dynamic})" if self and reached.dynamic else None


def effects_of(
    statement: ast.stmt, code: CodeType, namespace: dict[str, Any], foreign: set[str], error: BaseException
) -> Effects:
    """The names and objects that a statement would have created or changed; `foreign` are names that earlier failures
    left out, and `error` is what the statement, or the one that it depends on, raised.
    """
    reader = _Reader(statement, namespace, foreign)
    reader.read(statement)
    for frame in _frames_of(error):
        cells = tuple(CellType(frame.f_locals.get(name)) for name in frame.f_code.co_freevars)
        reader.callees.append(FunctionType(frame.f_code, frame.f_globals, closure=cells))
        reader.values += frame.f_locals.values()
    data = reach(*reader.values, data_only=True)
    run = reach(*reader.callees, *data.kinds)
    effects = Effects(reader.global_names | run.stores | stores_of(code, namespace))
    effects.unclear = reader.unclear or run.dynamic or data.dynamic
    sets_attributes = reader.sets_attributes or run.sets_attributes
    for key, value in (data.objects | run.objects).items():
        if is_data(value) or (sets_attributes and isinstance(value, FunctionType | type) and is_project(value)):
            effects.objects[key] = value
    if imports_all(statement):
        names = {name for name, each in namespace.items() if not isinstance(each, ModuleType) and name[:2] != "__"}
        effects.global_names |= {(id(namespace), name) for name in names | {UNRESOLVED}}
    return effects


def _frames_of(error: BaseException) -> Iterator[FrameType]:
    """The functions of the user that were running when an error, or one that led to it, was raised."""
    waiting: list[BaseException | None] = [error]
    met: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in met:  # errors may be causes of each other
            continue
        met.add(id(each))
        waiting += (
            each.__cause__,
            each.__context__,
            *(each.exceptions if isinstance(each, BaseExceptionGroup) else ()),
        )
        for frame, _ in traceback.walk_tb(each.__traceback__):
            if frame.f_code.co_flags & inspect.CO_OPTIMIZED and is_project_file(frame.f_code.co_filename):
                yield frame


def imports_all(statement: ast.stmt) -> bool:
    """Whether a statement holds `from … import *`."""
    return any(isinstance(each, ast.ImportFrom) and each.names[0].name == "*" for each in ast.walk(statement))


class _Reader:
    """Collects the objects that a statement mentions, and the functions and classes that it calls."""

    def __init__(self, statement: ast.stmt, namespace: dict[str, Any], foreign: set[str]) -> None:
        self.namespace, self.foreign = namespace, foreign
        self.may_call_own = not isinstance(statement, (*_FUNCTIONS, ast.ClassDef))
        self.values: list[Any] = []
        self.callees: list[Any] = []
        self.global_names: set[GlobalName] = set()
        self.sets_attributes = False
        self.unclear = ""

    def read(self, node: ast.AST) -> None:
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, _FUNCTIONS):
            self.callees += [self.nearest(each) for each in node.decorator_list]
            children = [*node.decorator_list, node.args, *(node.body if self.may_call_own else ())]
        elif isinstance(node, ast.ClassDef):
            keywords = [each.value for each in node.keywords]
            self.callees += [self.nearest(each) for each in (*node.decorator_list, *keywords)]
            for base in node.bases:
                self.subclass(self.resolve(base))
        elif isinstance(node, ast.Call):
            self.call(node.func, [*node.args, *(each.value for each in node.keywords)])
            children = []
        elif isinstance(node, ast.AugAssign):
            self.values.append(self.resolve(node.target))
        elif isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            self.store(node)
        elif (value := self.resolve(node)) is not _UNKNOWN:
            self.values.append(getattr(value, "__self__", value) if inspect.isbuiltin(value) else value)
            if isinstance(node, ast.Attribute) and (inspect.isroutine(value) or inspect.isdatadescriptor(value)):
                self.values.append(self.resolve(node.value))
            children = [node.slice] if isinstance(node, ast.Subscript) else []
        for child in children:
            self.read(child)

    def store(self, node: Any) -> None:
        """Setting or deleting an attribute or an item changes the object that has it."""
        if isinstance(node, ast.Attribute | ast.Subscript):
            owner = self.nearest(node.value)
            if isinstance(owner, ModuleType):
                self.global_names.add((id(vars(owner)), getattr(node, "attr", "")))
            self.sets_attributes |= isinstance(node, ast.Attribute)
            self.values.append(owner)

    def subclass(self, base: Any) -> None:
        """A base of the user may do something when it gets a subclass."""
        if isinstance(base, type) and is_project(base):
            hooks = [vars(each)["__init_subclass__"] for each in base.__mro__[:-1] if "__init_subclass__" in vars(each)]
            hooks += [type(base)] if is_project(type(base)) else []
            self.callees += [*hooks, base] if hooks else []

    def call(self, function: ast.expr, arguments: list[ast.expr]) -> None:
        """A call may change its receiver, its arguments, and all objects that a function of the user mentions."""
        callee, first = self.nearest(function), self.resolve(arguments[0]) if arguments else _UNKNOWN
        if any(callee is each for each in (exec, eval, globals, locals)) or (callee is vars and not arguments):
            self.unclear = f"{callee.__name__}()"
        elif callee is setattr or callee is delattr:
            self.store(ast.Attribute(arguments[0], "", ast.Store()))
        if isinstance(first, ModuleType) and any(callee is each for each in (setattr, delattr, getattr, vars)):
            self.unclear = f"{callee.__name__}() of the module {first.__name__}" if is_project(first) else self.unclear
        is_misspelt = callee is _UNKNOWN and isinstance(function, ast.Name) and function.id not in self.foreign
        self.sets_attributes |= is_misspelt
        self.callees += [getattr(callee, each, None) for each in _CONSTRUCTORS] if _is_class(callee) else [callee]
        if isinstance(function, ast.Attribute) and _is_class(owner := self.resolve(function.value)):
            self.callees.append(owner)
            self.sets_attributes |= is_project(owner)
        self.read(function)
        before = len(self.values)
        for each in arguments:
            self.read(each)
        if is_project(callee) or str(getattr(callee, "__module__", "")).partition(".")[0] in sys.stdlib_module_names:
            self.callees += self.values[before:]  # these may call what they are given

    def nearest(self, node: ast.expr) -> Any:
        """The object of an expression, or else the nearest known object that it is read from."""
        while (value := self.resolve(node)) is _UNKNOWN and isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return value

    def resolve(self, node: ast.AST) -> Any:
        """The current object of a name, `a.b` or `a["b"]`, found without running code of the user."""
        if isinstance(node, ast.Name):
            value = self.namespace.get(node.id, getattr(builtins, node.id, _UNKNOWN))
        elif not isinstance(node, ast.Attribute | ast.Subscript) or (owner := self.resolve(node.value)) is _UNKNOWN:
            return _UNKNOWN
        elif isinstance(node, ast.Subscript):
            is_known = type(owner) in (dict, list, tuple) and isinstance(node.slice, ast.Constant)
            value = _item(owner, node.slice.value) if is_known else _UNKNOWN  # type: ignore[attr-defined]  # a constant
        elif isinstance(owner, ModuleType):
            value = vars(owner).get(node.attr, _UNKNOWN)
            self.unclear = f"{owner.__name__}.__dict__" if node.attr == "__dict__" else self.unclear
        else:
            attribute = inspect.getattr_static(owner, node.attr, _UNKNOWN)
            value = getattr(attribute, "__func__", attribute)
        self.unclear = "sys.modules" if value is sys.modules else self.unclear
        return value


def _is_class(value: Any) -> bool:
    return isinstance(value, type)


def _item(owner: Any, key: Any) -> Any:
    try:
        return owner[key]
    except (LookupError, TypeError):
        return _UNKNOWN


def _describe(value: Any) -> str:
    if isinstance(value, FunctionType | ModuleType | type):
        return value.__name__
    return f"an object of type {type(value).__name__} that this statement may have changed"
