"""Where tests compare objects of the program's classes, or pass functions of their own to it: found before it runs.

An expression is an instance where it calls a class of the program, or is a variable, fixture or attribute of `self`
that holds one; a container is a list, tuple, set or dict of instances. What methods and attributes of an instance give
is expected to be plain. Comparing, ordering, hashing or adding instances would let the program grade itself.
"""

import ast
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
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
    written = filter(is_class_name, names)
    classes = {name for name in written if not (_gives_plain_values(tree, name) or _is_constant(tree, name))}
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


def _is_constant(tree: ast.Module, name: str) -> bool:
    """Whether the tests only compare, calculate with or iterate over `name` itself."""
    operands: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left, [ast.Eq() | ast.NotEq() | ast.Lt() | ast.Gt()], [right]) | ast.BinOp(left, _, right):
                operands += [left, right]
            case ast.For(_, items) | ast.comprehension(_, items):
                operands.append(items)
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    return all(use in operands for use in uses)


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


def find_unscored(
    tree: ast.Module,
    program: Iterable[str],
    modules: Iterable[str] = (),
    candidate: str = "",
    classes: Iterable[str] = (),
) -> str:
    """Why these tests cannot be scored, with the line; empty if they can.

    `program` are the names of the program, `modules` the names that stand for the program as a module, `candidate` is
    the parameter by which `check` gets the function, `classes` are names that are known to be classes.
    """
    names = frozenset(program) | {candidate}
    finder = _Finder(tree, names, frozenset(modules), class_names(tree, names) | set(classes))
    for _ in range(2):  # fixtures and attributes of `self` are known after the first pass
        finder.problems.clear()
        finder.visit(tree)
    return finder.problems[0] if finder.problems else ""


class _Finder(ast.NodeVisitor):
    """Visits the tests in their order, with what each variable holds at that point."""

    def __init__(self, tree: ast.Module, program: frozenset[str], modules: frozenset[str], classes: set[str]) -> None:
        self._program, self._modules, self._classes = program, modules, classes
        self._own_functions = {getattr(node, "name", "") for node in ast.walk(tree) if isinstance(node, FUNCTIONS)}
        self._variables: dict[str, str] = {}
        self._attributes: dict[str, str] = {}
        self._returns: dict[str, str] = {}
        self._function = ""
        self.problems: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._variables[node.name] = FUNCTION
        parameters: dict[str, str] = {}
        for decorator in node.decorator_list:
            self.visit(decorator)
            parameters |= self._parametrized(decorator)
        outer, function = self._variables, self._function
        self._variables, self._function = dict(outer), node.name
        for argument in (*node.args.args, *node.args.kwonlyargs):  # a parameter, or a fixture of that name
            self._variables[argument.arg] = parameters.get(argument.arg, self._returns.get(argument.arg, ""))
        for statement in node.body:
            self.visit(statement)
        self._variables, self._function = outer, function

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def _parametrized(self, decorator: ast.expr) -> dict[str, str]:
        """What the parameters hold that `parametrize` gives values."""
        match decorator:
            case ast.Call(ast.Attribute(_, "parametrize"), [ast.Constant(str(names)), values, *_]):
                keys = [name.strip() for name in names.split(",")]
            case _:
                return {}
        rows = [_row(one) for one in getattr(values, "elts", [None])]
        if any(row is None for row in rows) or len(keys) == 1:
            return dict.fromkeys(keys, INSTANCE if self._kind(values) else "")
        columns = [list(map(self._kind, column)) for column in zip(*filter(None, rows), strict=False)]
        return {key: max(kinds, default="") for key, kinds in zip(keys, columns, strict=False)}

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in self._program:
                self._report(node, f"the tests derive a class from {base.id} of the program")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> None:
        if node.value is not None:
            self.visit(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind(target, node.value)

    visit_AnnAssign = visit_NamedExpr = visit_Assign  # noqa: N815

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._report_use(node, node.target, node.value)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._bind_items(node.target, self._kind(node.iter))
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    visit_AsyncFor = visit_For  # noqa: N815

    def visit_withitem(self, node: ast.withitem) -> None:
        self.visit(node.context_expr)
        if node.optional_vars is not None:
            self._bind(node.optional_vars, node.context_expr)

    def visit_Return(self, node: ast.Return | ast.Yield) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._returns[self._function] = self._kind(node.value)

    visit_Yield = visit_Return  # noqa: N815

    def visit_ListComp(self, node: Comprehension) -> None:
        outer = self._enter(node)
        self.generic_visit(node)
        self._variables = outer

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp  # noqa: N815

    def _enter(self, node: Comprehension) -> dict[str, str]:
        """Bind the variables of a comprehension; the variables outside of it."""
        outer, self._variables = self._variables, dict(self._variables)
        for generator in node.generators:
            self._bind_items(generator.target, self._kind(generator.iter))
        return outer

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                for one, item in zip(target.elts, value.elts, strict=True):
                    self._bind(one, item)
            else:
                self._bind_items(target, self._kind(value))
        elif isinstance(target, ast.Name):
            self._variables[target.id] = self._kind(value)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            self._attributes[target.attr] = self._kind(value) or self._attributes.get(target.attr, "")

    def _bind_items(self, target: ast.expr, kind: str) -> None:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                self._variables[part.id] = INSTANCE if kind == CONTAINER else ""

    def _kind(self, node: ast.expr) -> str:
        """What an expression gives: an instance, a container, a function of the tests, or none of these."""
        match node:
            case ast.Call(ast.Name(name), arguments):
                if name in self._classes:
                    return INSTANCE
                kinds = [self._kind(one) for one in arguments]
                if name in COPYING or name in ITERATING:
                    return (
                        CONTAINER if CONTAINER in kinds else INSTANCE if name in COPYING and INSTANCE in kinds else ""
                    )
                if name in ("max", "min"):
                    return INSTANCE if CONTAINER in kinds or kinds.count(INSTANCE) > 1 else ""
                return self._returns.get(name, "") if name in self._own_functions else ""
            case ast.Call(ast.Attribute(ast.Name(module), name), arguments):
                if module in self._modules and is_class_name(name):
                    return INSTANCE
                return self._kind(arguments[0]) if name in ("copy", "deepcopy") and arguments else ""
            case ast.Name(name):
                return self._variables.get(name, "")
            case ast.Attribute(ast.Name("self" | "cls"), name):
                return self._attributes.get(name, "")
            case ast.List() | ast.Tuple() | ast.Set():
                return CONTAINER if any(self._kind(item) in (INSTANCE, CONTAINER) for item in node.elts) else ""
            case ast.Dict():
                return CONTAINER if any(self._kind(item) in (INSTANCE, CONTAINER) for item in node.values) else ""
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                outer = self._enter(node)
                item, self._variables = self._kind(node.elt), outer
                return CONTAINER if item in (INSTANCE, CONTAINER) else ""
            case ast.Subscript(value):
                return INSTANCE if self._kind(value) == CONTAINER else ""
            case ast.BinOp(left, _, right) if not isinstance(left, ast.Constant | ast.JoinedStr):
                return self._kind(left) or self._kind(right)
            case ast.UnaryOp(operator, operand) if not isinstance(operator, ast.Not):
                return self._kind(operand)
            case ast.IfExp(_, body, orelse):
                return self._kind(body) or self._kind(orelse)
            case ast.NamedExpr(value=value) | ast.Starred(value) | ast.Await(value):
                return self._kind(value)
            case ast.Lambda():
                return FUNCTION
        return ""

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for operator, pair in zip(node.ops, pairwise(sides), strict=True):
            if not isinstance(operator, ast.Is | ast.IsNot) and not any(map(_is_none, pair)):
                self._report_use(node, *pair, kinds=(INSTANCE, CONTAINER))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not (isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr)):
            self._report_use(node, node.left, node.right)
        self.generic_visit(node)

    def visit_Set(self, node: ast.Set) -> None:
        self._report_use(node, node, kinds=(CONTAINER,))
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        self._report_use(node, *filter(None, node.keys))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        kinds = [self._kind(argument) for argument in arguments]
        has_key = any(keyword.arg == "key" for keyword in node.keywords)
        iterates = len(arguments) == 1 and name not in ("hash", "approx") and INSTANCE in kinds
        orders = name in ORDERING and not has_key and not iterates
        asserts = name.startswith("assert") and name not in UNCOMPARED and not any(map(_is_none, arguments))
        if orders or asserts:
            self._report_use(node, *arguments, kinds=(INSTANCE, CONTAINER))
        if name in ("dump", "dumps") and INSTANCE in kinds and "pickle" in ast.unparse(node.func):
            self._report(node, f"the tests pickle an object of the program ({_show(node)})")
        receiver = self._kind(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if receiver == CONTAINER and name in ("index", "count", "remove"):
            self._report_use(node, *arguments)
        calls_program = receiver == INSTANCE or (isinstance(node.func, ast.Name) and name in self._program)
        if calls_program and (FUNCTION in kinds or any(isinstance(one, ast.GeneratorExp) for one in arguments)):
            self._report(node, f"the tests pass a function of their own to the program ({_show(node)})")
        self.generic_visit(node)

    def _report_use(self, node: ast.AST, *operands: ast.expr, kinds: tuple[str, ...] = (INSTANCE,)) -> None:
        """Report what tests do with operands, if one of them is of these kinds."""
        if any(self._kind(operand) in kinds for operand in operands):
            self._report(
                node, f"the tests compare, order or compute with objects of the program ({_show(node)}); {REMEDY}"
            )

    def _report(self, node: ast.AST, problem: str) -> None:
        self.problems.append(f"line {getattr(node, 'lineno', 0)}: {problem}")


def _row(node: ast.expr | None) -> list[ast.expr] | None:
    """The values of one parametrized test; None if it is no literal."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("param"):
        return node.args
    return node.elts if isinstance(node, ast.Tuple | ast.List) else None


def _show(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:80]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _names_used_as_classes(tree: ast.AST, program: frozenset[str]) -> set[str]:
    """Names of the program in the second argument of `isinstance` and `issubclass`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            names |= {part.id for one in node.args[1:] for part in ast.walk(one) if isinstance(part, ast.Name)}
    return names & program
