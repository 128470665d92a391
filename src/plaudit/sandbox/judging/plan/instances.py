"""Where tests compare objects of the program's classes, or pass functions of their own to it: found before it runs.

An expression is an instance where it calls a class of the program, or is a variable, fixture or attribute of `self`
that holds one; a container is a list, tuple, set or dict of instances. What methods and attributes of an instance give
is expected to be plain. Comparing, ordering, hashing or adding instances would let the program grade itself.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import TypeAlias

__all__ = ["class_names", "find_unscored"]

Env: TypeAlias = dict[str, str]
INSTANCE, CONTAINER, FUNCTION = "instance", "container", "function"
COPYING = {"copy", "deepcopy"}
ITERATING = {"sorted", "list", "tuple", "set", "reversed", "filter", "enumerate"}
ORDERING = {"sorted", "min", "max", "sum", "set", "frozenset", "hash", "approx", "Counter"}
UNCOMPARED = {
    "assertIs", "assertIsNot", "assertIsNone", "assertIsNotNone", "assertTrue", "assertFalse", "assertIsInstance",
    "assertNotIsInstance", "assertRaises", "assertRaisesRegex", "assertHasAttr",
}  # fmt: skip
REMEDY = "objects='trust' lets the program answer for its objects, which the promise does not cover"


def is_class_name(name: str) -> bool:
    """Whether a name is written as PEP 8 writes classes: `Stack`, not `stack`, `MAX` or `T1`."""
    return name[:1].isupper() and "_" not in name and any(letter.islower() for letter in name)


def class_names(tree: ast.Module, names: Iterable[str]) -> set[str]:
    """Those of `names` that the tests use as classes: by their spelling, in `isinstance`, or, in capitals, by use."""
    classes = {name for name in names if is_class_name(name) and not _gives_plain_values(tree, name)}
    classes |= _names_used_as_classes(tree, frozenset(names))
    return classes | {name for name in names if name.isupper() and _is_used_as_class(tree, name)}


def _gives_plain_values(tree: ast.Module, name: str) -> bool:
    """Whether the tests only compare results of `name` with literals of containers or texts, as those of a function."""
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    compared = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Call) and len(node.ops) == 1
        if getattr(node.left.func, "id", "") == name and isinstance(node.ops[0], ast.Eq)
        if _is_container_literal(node.comparators[0])
    ]
    return len(compared) == len(uses) > 0


def _is_container_literal(node: ast.expr) -> bool:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return is_text or isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set)


def _is_used_as_class(tree: ast.Module, name: str) -> bool:
    """Whether a name in capitals is a class: its results have attributes, are collected or compared."""
    held = {
        part.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _has_call(node.value, name)
        for target in node.targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value):
                if _has_call(value, name) or (isinstance(value, ast.Name) and value.id in held):
                    return True
            case ast.Compare(left, _, [right]) | ast.BinOp(left, _, right):
                if _has_call(left, name) and _has_call(right, name):
                    return True
            case ast.List(items) | ast.Set(items) | ast.Dict(items):
                if any(isinstance(item, ast.Call) and _has_call(item, name) for item in items):
                    return True
    return False


def _has_call(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Call) and getattr(part.func, "id", "") == name for part in ast.walk(node))


def find_unscored(tree: ast.Module, program: Iterable[str], modules: Iterable[str] = (), candidate: str = "") -> str:
    """Why these tests cannot be scored, with the line; empty if they can.

    `program` are the names of the program, `modules` the names that stand for the program as a module, `candidate` is
    the parameter by which `check` gets the function.
    """
    finder = _Finder(tree, frozenset(program) | {candidate}, frozenset(modules))
    for _ in range(2):  # fixtures and attributes of `self` are known after the first pass
        finder.problems.clear()
        finder.visit_body(tree.body, finder.top)
        for owner, function in finder.functions:
            finder.visit_function(function, owner)
    return finder.problems[0] if finder.problems else ""


class _Finder:
    """Walks through the statements of the tests in order, with what each variable holds."""

    def __init__(self, tree: ast.Module, program: frozenset[str], modules: frozenset[str]) -> None:
        self._program, self._modules = program, modules
        self._classes = class_names(tree, program)
        self.top: Env = {}
        self._attributes: Env = {}
        self._returns: Env = {}
        self.problems: list[str] = []
        self.functions = list(_functions(tree))
        self._own_functions = {function.name for _, function in self.functions}

    def visit_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> None:
        env = dict(self.top)
        for argument in (*function.args.args, *function.args.kwonlyargs):
            env.pop(argument.arg, None)
            if self._returns.get(argument.arg):  # a fixture of that name
                env[argument.arg] = self._returns[argument.arg]
        for decorator in function.decorator_list:
            self._check(decorator, self.top)
            rows = decorator.args[1:2] if isinstance(decorator, ast.Call) else []
            if "parametrize" in ast.unparse(decorator) and any(self._kind(row, self.top) for row in rows):
                env |= dict.fromkeys((arg.arg for arg in function.args.args), INSTANCE)
        self.visit_body(function.body, env, function.name)

    def visit_body(self, body: list[ast.stmt], env: Env, function: str = "") -> None:
        for statement in body:
            self._visit(statement, env, function)

    def _visit(self, node: ast.stmt, env: Env, function: str) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                env[node.name] = FUNCTION
                return
            case ast.ClassDef():
                for base in node.bases:
                    if isinstance(base, ast.Name) and base.id in self._program:
                        self._report(node, f"the tests derive a class from {base.id} of the program")
                return
            case ast.Assign() | ast.AnnAssign() if node.value is not None:
                self._check(node.value, env)
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._bind(target, node.value, env)
            case ast.AugAssign():
                self._check(node.value, env)
                if INSTANCE in (self._kind(node.target, env), self._kind(node.value, env)):
                    self._report_use(node)
            case ast.For() | ast.AsyncFor():
                self._check(node.iter, env)
                self._bind_items(node.target, self._kind(node.iter, env), env)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._check(item.context_expr, env)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, item.context_expr, env)
            case ast.Return(ast.expr() as value) | ast.Expr(ast.Yield(ast.expr() as value)):
                self._check(value, env)
                self._returns[function] = self._kind(value, env)
            case ast.If(test) | ast.While(test) | ast.Assert(test):
                self._check(test, env)
            case _:
                for part in ast.iter_child_nodes(node):
                    if isinstance(part, ast.expr):
                        self._check(part, env)
        for field in ("body", "orelse", "finalbody"):
            self.visit_body(getattr(node, field, []), env, function)
        for handler in getattr(node, "handlers", []):
            self.visit_body(handler.body, env, function)

    def _bind(self, target: ast.expr, value: ast.expr, env: Env) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                for one, item in zip(target.elts, value.elts, strict=True):
                    self._bind(one, item, env)
            else:
                self._bind_items(target, self._kind(value, env), env)
        elif isinstance(target, ast.Name):
            env[target.id] = FUNCTION if isinstance(value, ast.Lambda) else self._kind(value, env)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            self._attributes[target.attr] = self._kind(value, env) or self._attributes.get(target.attr, "")

    def _bind_items(self, target: ast.expr, kind: str, env: Env) -> None:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                env[part.id] = INSTANCE if kind == CONTAINER else ""

    def _kind(self, node: ast.expr, env: Env) -> str:
        """What an expression gives: an instance, a container, a function of the tests, or none of these."""
        match node:
            case ast.Call(ast.Name(name), arguments):
                if name in self._classes:
                    return INSTANCE
                kinds = [self._kind(one, env) for one in arguments]
                if name in COPYING or name in ITERATING:
                    return (
                        CONTAINER if CONTAINER in kinds else INSTANCE if name in COPYING and INSTANCE in kinds else ""
                    )
                if name in ("max", "min"):
                    return INSTANCE if CONTAINER in kinds or INSTANCE in kinds else ""
                return self._returns.get(name, "") if name in self._own_functions else ""
            case ast.Call(ast.Attribute(ast.Name(module), name), arguments):
                if module in self._modules and is_class_name(name):
                    return INSTANCE
                return self._kind(arguments[0], env) if name in ("copy", "deepcopy") and arguments else ""
            case ast.Name(name):
                return env.get(name, "")
            case ast.Attribute(ast.Name("self" | "cls"), name):
                return self._attributes.get(name, "")
            case ast.List() | ast.Tuple() | ast.Set():
                return CONTAINER if any(self._kind(item, env) in (INSTANCE, CONTAINER) for item in node.elts) else ""
            case ast.Dict():
                return CONTAINER if any(self._kind(item, env) in (INSTANCE, CONTAINER) for item in node.values) else ""
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return CONTAINER if self._kind(node.elt, self._inside(node, env)) in (INSTANCE, CONTAINER) else ""
            case ast.Subscript(value):
                return INSTANCE if self._kind(value, env) == CONTAINER else ""
            case ast.BinOp(left, _, right) if not isinstance(left, ast.Constant | ast.JoinedStr):
                return self._kind(left, env) or self._kind(right, env)
            case ast.UnaryOp(operator, operand) if not isinstance(operator, ast.Not):
                return self._kind(operand, env)
            case ast.IfExp(_, body, orelse):
                return self._kind(body, env) or self._kind(orelse, env)
            case ast.NamedExpr(value=value) | ast.Starred(value) | ast.Await(value):
                return self._kind(value, env)
            case ast.Lambda():
                return FUNCTION
        return ""

    def _inside(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, env: Env) -> Env:
        inner = dict(env)
        for generator in node.generators:
            self._bind_items(generator.target, self._kind(generator.iter, inner), inner)
        return inner

    def _check(self, node: ast.AST, env: Env) -> None:
        """Report what an expression does with instances, outermost first."""
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            env = self._inside(node, env)
        match node:
            case ast.Compare():
                self._check_comparison(node, env)
            case ast.BinOp(left, operator, right) if INSTANCE in (self._kind(left, env), self._kind(right, env)):
                is_text = isinstance(operator, ast.Mod) and isinstance(left, ast.Constant | ast.JoinedStr)
                if not is_text:
                    self._report_use(node)
            case ast.Set() if self._kind(node, env):
                self._report_use(node)
            case ast.Dict() if any(key is not None and self._kind(key, env) == INSTANCE for key in node.keys):
                self._report_use(node)
            case ast.Call():
                self._check_call(node, env)
        for part in ast.iter_child_nodes(node):
            if not isinstance(part, ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop):
                self._check(part, env)

    def _check_comparison(self, node: ast.Compare, env: Env) -> None:
        sides = [node.left, *node.comparators]
        for index, operator in enumerate(node.ops):
            pair = sides[index : index + 2]
            if isinstance(operator, ast.Is | ast.IsNot) or any(_is_none(side) for side in pair):
                continue
            if any(self._kind(side, env) in (INSTANCE, CONTAINER) for side in pair):
                self._report_use(node)

    def _check_call(self, node: ast.Call, env: Env) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        kinds = [self._kind(argument, env) for argument in arguments]
        holds = INSTANCE in kinds or CONTAINER in kinds
        has_key = any(keyword.arg == "key" for keyword in node.keywords)
        orders = name in ORDERING and not has_key and not (name == "sum" and INSTANCE in kinds)
        asserts = name.startswith("assert") and name not in UNCOMPARED and not any(map(_is_none, arguments))
        if holds and (orders or asserts):
            self._report_use(node)
        receiver = self._kind(node.func.value, env) if isinstance(node.func, ast.Attribute) else ""
        if receiver == CONTAINER and name in ("index", "count", "remove") and INSTANCE in kinds:
            self._report_use(node)
        calls_program = receiver == INSTANCE or (isinstance(node.func, ast.Name) and name in self._program)
        if calls_program and any(
            kind == FUNCTION or isinstance(argument, ast.GeneratorExp)
            for kind, argument in zip(kinds, arguments, strict=True)
        ):
            self._report(node, f"the tests pass a function of their own to the program ({_show(node)})")

    def _report_use(self, node: ast.AST) -> None:
        self._report(node, f"the tests compare, order or compute with objects of the program ({_show(node)}); {REMEDY}")

    def _report(self, node: ast.AST, problem: str) -> None:
        self.problems.append(f"line {getattr(node, 'lineno', 0)}: {problem}")


def _show(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:80]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _functions(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield owner, node
        yield from _functions(node, node.name if isinstance(node, ast.ClassDef) else owner)


def _names_used_as_classes(tree: ast.AST, program: frozenset[str]) -> set[str]:
    """Names of the program in the second argument of `isinstance` and `issubclass`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            names |= {part.id for one in node.args[1:] for part in ast.walk(one) if isinstance(part, ast.Name)}
    return names & program
