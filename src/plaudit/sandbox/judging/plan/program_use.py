"""How tests use the program: which of their values are answers, which meet answers, which arguments they check."""

import ast
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from plaudit.sandbox.judging.handles.places import Place

# Functions of one argument whose result shows the contents of the argument.
SHOWING = {"list", "tuple", "set", "dict", "sorted", "frozenset"}


def names_in(node: ast.AST) -> set[str]:
    """The names that an expression mentions, also of attributes of `self`."""
    return {name for part in ast.walk(node) if (name := _own_name(part))}


def _own_name(node: ast.AST) -> str:
    match node:
        case ast.Attribute(ast.Name("self" | "cls"), name):
            return name
        case ast.Name(name) if name not in ("self", "cls"):
            return name
    return ""


class Substitute(ast.NodeTransformer):
    """Replaces nodes by their identity."""

    def __init__(self, replaced: dict[int, ast.expr]) -> None:
        self._replaced = replaced

    def visit(self, node: ast.AST) -> ast.AST:
        return self._replaced.get(id(node)) or self.generic_visit(node)


class ProgramUse:
    """Which expressions of the tests depend on the program: calls of it, and variables that hold what it returned.

    `plain` are names that hold no values of the program.
    """

    def __init__(self, tree: ast.Module, program: Collection[str] = (), plain: Collection[str] = ()) -> None:
        self.program = frozenset(program)
        self.functions = set(program)
        self.results: set[str] = set()
        nodes = list(ast.walk(tree))
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        self.has_arrays = any("numpy" in ast.unparse(node) for node in imports)
        definitions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        calls = [node.func for node in nodes if isinstance(node, ast.Call)]
        roots, called = set(map(root_of, calls)), {func.id for func in calls if isinstance(func, ast.Name)}
        # A parameter that is called is a function, one whose methods are called may be a fixture.
        for definition in definitions:
            names = called if definition.name in called else roots
            self.functions |= {one.arg for one in definition.args.args if one.arg in names} - {"self", "cls", *plain}
        self._modules = {(one.asname or one.name).partition(".")[0] for node in imports for one in node.names}
        self._parameters = {node.name: _parameters(node) for node in definitions}
        self._own = set(self._parameters)  # functions and classes of the tests, and variables that hold them
        for kind in (node for node in nodes if isinstance(node, ast.ClassDef)):
            self._own.add(kind.name)
            self._parameters[kind.name] = _fields(kind)
        self.results |= self._passed_functions(nodes)
        for _ in range(2):  # functions and variables that depend on the program through others
            self.functions |= {
                node.name for node in definitions if node.name != "check" and any(map(self.calls, node.body))
            }
            for value, target in (binding for node in nodes for binding in bindings(node)):
                is_counter = isinstance(value, ast.Call) and root_of(value.func) == "range"  # `for i in range(f(xs))`
                if self.depends(value) and not is_counter:
                    self.results |= names_in(target)
                if self._is_own(value):
                    self._own |= names_in(target)
            for value, target in (passed for node in nodes for passed in self._passed_on(node)):
                if self.holds_answer(value):
                    self.results |= names_in(target) - self._modules
        self.expected = self._expected_names(nodes)
        calls = [node for node in nodes if isinstance(node, ast.Call) and root_of(node.func) in self.functions]
        self.arguments = {name for call in calls for argument in operands(call) for name in names_in(argument)}

    def _is_own(self, node: ast.AST) -> bool:
        return any(isinstance(part, ast.Lambda) for part in ast.walk(node)) or bool(names_in(node) & self._own)

    def _passed_functions(self, nodes: list[ast.AST]) -> set[str]:
        """The parameters of functions of the tests that are also passed on: other code may call these with answers."""
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        names = [node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called]
        return {name for one in names if one in self._own for part in self._parameters[one] for name in names_in(part)}

    def passes_answer_to_tests(self, call: ast.Call) -> bool:
        """Whether a call of a function of the tests, or of one that gets such a function, uses an answer."""
        parts = [call.func, *operands(call)]
        calls_program = root_of(call.func) in self.functions or _is_assertion(call)
        return not calls_program and any(map(self._is_own, parts)) and any(map(self.holds_answer, parts))

    def checked_places(self, statement: ast.AST) -> Iterator[tuple[str, ast.expr]]:
        """The variables that a statement compares with a value of the tests, and the comparisons."""
        for check in _comparisons(statement):
            for one, other in pairs(check):
                for side, against in ((one, other), (other, one)):
                    place = _place(side)
                    is_itself = self.depends(against) or place in map(_place, operands(against))
                    if place and not is_itself and not self._is_answered_item(side):
                        yield place, check

    def _passed_on(self, node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
        """The values that a call passes, and what holds them afterwards.

        They are held by the parameters of a function of the tests, or by what a call changes whose result is not used.
        """
        match node:
            case ast.Expr(ast.Call() as call) | ast.Lambda(_, ast.Call() as call):
                if _is_assertion(call) or root_of(call.func) in {*self.functions, *self._parameters, "print"}:
                    return []
                return [
                    (value, target)
                    for target in self.changed_by(call)
                    for value in operands(call)
                    if value is not target and not isinstance(value, ast.Lambda)
                ]
            case ast.Call(ast.Name(name) | ast.Attribute(_, name), arguments, keywords) if name in self._parameters:
                named = [(keyword.value, ast.Name(keyword.arg)) for keyword in keywords if keyword.arg]
                return [*zip(arguments, self._parameters[name], strict=False), *named]
        return []

    def places_of_answers(self, tree: ast.Module) -> dict[Place, bool]:
        """The calls that use answers: whether as arguments, or only as the object whose method is called."""
        places: dict[Place, bool] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                values = [one for one in operands(node) if not isinstance(one, ast.Lambda)]
                is_passed = any(map(self.holds_answer, values))
                if is_passed or (isinstance(node.func, ast.Attribute) and self.holds_answer(node.func.value)):
                    places[node.lineno, node.end_lineno, node.col_offset, node.end_col_offset] = is_passed
        return places

    def changed_by(self, call: ast.Call) -> list[ast.expr]:
        """What a call may change: the object of a method (`xs.extend(ys)`), a file, or the first argument."""
        is_method = isinstance(call.func, ast.Attribute) and root_of(call.func) not in self._modules
        files = [keyword.value for keyword in call.keywords if keyword.arg == "file"]
        return [call.func.value] if is_method else files or call.args[:1]  # type: ignore[attr-defined]

    def may_hold_any_function(self, node: ast.expr) -> bool:
        """Whether what is called is a variable or an item that may hold a function of the program or another one."""
        if isinstance(node, ast.Subscript):
            return self.depends(node)
        is_fixed = root_of(node) in self.program | self._parameters.keys()
        return isinstance(node, ast.Name) and self.depends(node) and not is_fixed

    def is_function(self, node: ast.expr) -> bool:
        """Whether what is called is a function of the program, not a method of an answer."""
        return root_of(node) in self.functions - self.results

    def holds_answer(self, node: ast.AST) -> bool:
        """Whether an expression holds something that the program returned, and is not only a function of it."""
        return self.calls(node) or bool(names_in(node) & self.results)

    def depends(self, node: ast.AST) -> bool:
        """Whether an expression holds something of the program."""
        return self.calls(node) or bool(names_in(node) & (self.results | self.functions))

    def meets(self, *nodes: ast.AST) -> bool:
        """Whether something uses the program, or computes what answers are compared with."""
        bound = {name for node in nodes for part in ast.walk(node) for name in _bound_names(part)}
        return bool(bound & self.expected) or any(map(self.depends, nodes))

    def expects(self, targets: Iterable[ast.expr], *values: ast.expr) -> bool:
        """Whether what gets these values meets answers later, or also gets answers elsewhere."""
        names = {name for target in targets for name in names_in(target)}
        return bool(names & self.expected) or (bool(names & self.results) and not any(map(self.depends, values)))

    def calls(self, node: ast.AST) -> bool:
        """Whether an expression calls the program."""
        return any(
            root_of(part.func) in self.functions | self.results
            for part in ast.walk(node)
            if isinstance(part, ast.Call) and not _is_assertion(part)
        )

    def _is_answered_item(self, node: ast.expr) -> bool:
        """Whether an expression is a single item at a position that is an answer."""
        is_item = isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)
        return is_item and self.depends(node.slice)  # type: ignore[attr-defined]

    def _expected_names(self, nodes: list[ast.AST]) -> set[str]:
        """Variables that meet what the program returned, and those that they are computed from."""
        names: set[str] = set()
        for node in nodes:
            answers = [self.depends(side) for side in operands(node)]
            if any(answers) and not all(answers):
                sides = zip(operands(node), answers, strict=True)
                names |= {name for side, is_answer in sides if not is_answer for name in names_in(side)}
        values = [(names_in(target), value) for node in nodes for value, target in bindings(node)]
        sources = [(targets, names_in(value)) for targets, value in values if not self.depends(value)]
        known = 0
        while known < len(names):
            known = len(names)
            names = names.union(*(used for targets, used in sources if targets & names))
        return names

    def find_checked(self, scope: ast.AST) -> set[str]:
        """Variables whose contents the tests check themselves after they were passed to the program.

        They are compared with a value that is no answer, or read by item although the tests left them empty.
        """
        nodes = list(ast.walk(scope))
        passed: dict[str, tuple[int, int]] = {}
        for node in nodes:
            if isinstance(node, ast.Call) and root_of(node.func) in self.functions | self.results:
                for argument in map(_place, operands(node)):
                    position = (node.lineno, node.col_offset)
                    passed[argument] = min(position, passed.get(argument, position))
        checked = {
            place
            for node in nodes
            if isinstance(node, ast.stmt)
            for place, check in self.checked_places(node)
            if passed.get(place, (1 << 30, 0)) < (check.lineno, check.col_offset)
            if not isinstance(check, ast.Compare) or isinstance(check.ops[0], ast.Eq)
        }
        empty = {_place(target) for node in nodes for value, target in bindings(node) if _is_empty(value)}
        read = {_place(node) for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)}
        return checked | (empty & read & passed.keys())


def _bound_names(node: ast.AST) -> set[str]:
    """The names that a statement gives a value, or whose value it changes."""
    targets = [target for _, target in bindings(node)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        targets.append(node.value.func)
    return {name for target in targets for name in names_in(target)}


def _comparisons(node: ast.AST) -> list[ast.expr]:
    """The comparisons that a check consists of."""
    match node:
        case ast.Assert(test):
            return _comparisons(test)
        case ast.BoolOp(ast.And(), parts):
            return [one for part in parts for one in _comparisons(part)]
        case ast.Expr(ast.Call() as call) if _is_assertion(call):
            return [call]
    return [node] if isinstance(node, ast.Compare) else []


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    return [ast.Name(one.arg) for one in node.args.args if one.arg not in ("self", "cls")]


def _fields(node: ast.ClassDef) -> list[ast.expr]:
    """The parameters of a class of the tests; the annotated fields if it has no `__init__`."""
    inits = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    fields: list[ast.expr] = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
    return _parameters(inits[0]) if inits else fields


def bindings(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The values and targets of an assignment, a loop, a context, default arguments or the body of a class."""
    match node:
        case ast.Assign(targets, value):
            return [(value, target) for target in targets]
        case (
            ast.AnnAssign(target, _, ast.expr() as value) | ast.AugAssign(target, _, value)
            | ast.NamedExpr(target, value) | ast.withitem(value, ast.expr() as target)
            | ast.For(target, value) | ast.AsyncFor(target, value) | ast.comprehension(target, value)
        ):  # fmt: skip
            return [(value, target)]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*zip(reversed(node.args.defaults), reversed(_parameters(node)), strict=False)]
        case ast.ClassDef(name, _, _, body):
            assigned = [part for part in body if isinstance(part, ast.Assign | ast.AnnAssign)]
            return [(target, ast.Name(name)) for part in assigned for _, target in bindings(part)]
        case ast.Call(ast.Attribute(value), arguments):  # a callback
            callbacks = [one for one in arguments if isinstance(one, ast.Lambda)]
            return [(value, ast.Name(one.arg)) for callback in callbacks for one in callback.args.args]
    return []


def root_of(node: ast.expr) -> str:
    """The name that an expression begins with: `a` of `a.b().c` and of `self.a.b`."""
    while not (name := _own_name(node)) and isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return name


def _is_assertion(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr.startswith(("assert", "subTest", "fail"))


def pairs(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The operands of a comparison."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return list(pairwise(sides))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "ssert" in node.func.attr:
        return [(node.args[0], node.args[1])] if len(node.args) > 1 else []
    return []


def operands(node: ast.AST) -> list[ast.expr]:
    """The values that meet in a comparison, a calculation, a call or a container."""
    match node:
        case ast.List(items, ast.Load()) | ast.Tuple(items, ast.Load()) | ast.Set(items) | ast.Dict(_, items):
            return items
        case ast.Compare(left, _, others):
            return [left, *others]
        case ast.BoolOp(ast.Or(), parts):
            return parts
        case ast.IfExp(test, body, orelse):
            return [test, body, orelse]
        case ast.JoinedStr(parts):
            return [part.value for part in parts if isinstance(part, ast.FormattedValue)]
        case ast.BinOp(left, _, right) | ast.Subscript(left, right):
            return [left, right]
        case ast.Call(func, arguments, keywords):
            outer = operands(func) if isinstance(func, ast.Call) else []
            return [*outer, *arguments, *(keyword.value for keyword in keywords)]
    return []


def _place(node: ast.expr) -> str:
    """The variable, or attribute of `self`, whose contents an expression shows: `xs` of `sorted(xs[:k]) + [1]`."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name("self" | "cls")):
            return ast.unparse(node)
        case ast.Subscript(value) | ast.Attribute(value) | ast.Starred(value) | ast.Call(ast.Attribute(value), []):
            return _place(value)
        case ast.Call(ast.Name(name), [argument]) if name in SHOWING:
            return _place(argument)
        case ast.BinOp(left, ast.Add(), ast.List() | ast.Tuple()):
            return _place(left)
        case ast.BinOp(ast.List() | ast.Tuple(), ast.Add(), right):
            return _place(right)
    return ""


def _is_empty(node: ast.expr) -> bool:
    return ast.unparse(node) in ("[]", "{}", "set()", "dict()", "list()")
