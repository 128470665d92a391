"""Rewrite tests so that values of the program are used by the rules.

`zip` notices a short answer; an ordering with NaN fails; an expected value is computed from what the tests wrote, not
from what the program made of it; a variable of the program is read when it is used.
"""

import ast
from collections.abc import Collection

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox.judging.handles.handles import PLAIN_METHODS
from plaudit.sandbox.judging.plan.checks import is_check, loops_of_checks
from plaudit.sandbox.judging.plan.program_use import ProgramUse, Substitute, names_in, operands, pairs, root_of

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# Methods that compare, which give `NotImplemented` for objects of another type; that would count as true.
COMPARISONS = {
    "__eq__": ast.Eq, "__ne__": ast.NotEq, "__lt__": ast.Lt, "__le__": ast.LtE, "__gt__": ast.Gt, "__ge__": ast.GtE,
}  # fmt: skip
# Calls that change a setting of the process, which tests change for the program, too.
SETTINGS = {
    "sys.setrecursionlimit": "sys:setrecursionlimit",
    "random.seed": "random:seed",
    "np.random.seed": "numpy.random:seed",
    "numpy.random.seed": "numpy.random:seed",
}
SLEEPING = {"asyncio.sleep", "time.sleep"}
OPENING = {"open", "io.open", "os.open", "os.stat", "os.listdir", "os.path.getsize", "importlib.import_module"}
LOOKING_UP = {"count", "get", "index"}  # methods of containers that change nothing
OPERANDS = ("first", "second", "expr1", "expr2", "member", "container")  # of assertions, by their names
SHAPED = {"bitwise_xor", "equal", "logical_xor", "not_equal", "subtract"}  # functions of numpy
COMPARING = {  # methods of plain values
    "difference", "endswith", "intersection", "isdisjoint", "issubset", "issuperset", "startswith",
    "symmetric_difference", "union",
}  # fmt: skip
SUSPENDING = (ast.Yield, ast.YieldFrom)
MEETING = (ast.BinOp, ast.BoolOp, ast.Dict, ast.IfExp, ast.JoinedStr, ast.List, ast.Set, ast.Tuple)


def rewrite(tree: ast.Module, use: ProgramUse, read: Collection[str] = ()) -> ast.Module:
    """The tests, rewritten in place; `read` are variables of the program."""
    _Rewriter(use, frozenset(read), _shared_settings(tree)).visit(tree)
    return tree


def _shared_settings(tree: ast.Module) -> dict[str, str]:
    """The calls that change a setting of the program; tests that draw random numbers keep their seed to themselves."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    called = {ast.unparse(call.func) for call in calls if isinstance(call.func, ast.Attribute)}
    draws = any("random." in name for name in called - SETTINGS.keys())
    return {name: path for name, path in SETTINGS.items() if not (draws and "random." in name)}


class _Rewriter(ast.NodeTransformer):
    def __init__(self, use: ProgramUse, read: frozenset[str], settings: dict[str, str]) -> None:
        self._use, self._read, self._settings, self._has_arrays = use, read, settings, use.has_arrays
        self._checked: set[str] = set()
        self._loops = 0

    def visit_Module(self, node: ast.Module) -> ast.Module:
        functions = [part for part in node.body if isinstance(part, SCOPES)]
        self._checked = self._use.find_checked(ast.Module([part for part in node.body if part not in functions], []))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        outer, self._checked = self._checked, self._checked | self._use.find_checked(node)
        self.generic_visit(node)
        self._checked = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._read and isinstance(node.ctx, ast.Load):
            return _call("__program__", ast.Constant(node.id))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr in COMPARISONS and isinstance(node.ctx, ast.Load):  # as a function
            return _call("__comparing__", ast.Constant(node.attr.strip("_")), node.value)
        return _call("__type__", node.value) if node.attr == "__class__" and isinstance(node.ctx, ast.Load) else node

    def _answer_first(self, sides: list[ast.expr]) -> list[ast.expr]:
        """Two equal values, a call of the program before a variable, whose contents the call may change."""
        return sides[::-1] if isinstance(sides[0], ast.Name) and self._use.calls(sides[1]) else sides

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            node.left, *node.comparators = self._answer_first([node.left, *node.comparators])
        sides = [node.left, *node.comparators]
        for index, (one, other) in enumerate(pairs(node)):
            operator = node.ops[index]
            always = isinstance(operator, ast.In | ast.NotIn)
            compares = isinstance(operator, ast.Eq | ast.NotEq)
            same = isinstance(operator, ast.Is | ast.IsNot)
            if self._is_expected(one, other, same=same):
                sides[index] = self._expected(one, always=False, compares=compares)
            if self._is_expected(other, one, same=same):
                sides[index + 1] = self._expected(other, always=always, compares=compares)
            if same and not any(isinstance(side, ast.Constant) for side in (one, other)):
                sides[index : index + 2] = [_call("__itself__", side) for side in sides[index : index + 2]]
        if any(isinstance(operation, ORDERING) for operation in node.ops):
            sides = [side if isinstance(side, ast.Constant) else _call("__ordered__", side) for side in sides]
        answers = [self._use.depends(side) for side in sides]
        node.left, node.comparators = sides[0], sides[1:]
        self.generic_visit(node)
        if self._has_arrays and len(sides) == 2 and isinstance(node.ops[0], ast.Eq | ast.NotEq) and sum(answers) == 1:
            operation = "eq" if isinstance(node.ops[0], ast.Eq) else "ne"
            return _shaped(operation, node.left, node.comparators[0], answers[0])
        if len(sides) == 2 and isinstance(node.ops[0], ast.In | ast.NotIn):
            member = _call("__member__", node.left, node.comparators[0])
            return member if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), member)
        return node

    def visit_For(self, node: ast.For | ast.AsyncFor) -> ast.stmt:
        depends = self._use.depends(node.iter)
        if self._use.meets(*node.body):
            node.iter = self._written(node.iter, "__items__")
        return self._note_turns(node) if depends else self.generic_visit(node)  # type: ignore[return-value]

    visit_AsyncFor = visit_For  # noqa: N815

    def _note_turns(self, node: ast.For | ast.AsyncFor | ast.While) -> ast.stmt:
        """A loop over an answer that notes whether its checks have run."""
        self.generic_visit(node)
        if any(isinstance(part, ast.stmt) and is_check(part) for part in ast.walk(node)):
            if isinstance(node, ast.While):
                node.test = self._reached(node.test)
            else:
                node.iter = self._reached(node.iter)
            node.body.insert(0, ast.Expr(self._turn(runs=True)))
        return node

    def _reached(self, looped: ast.expr) -> ast.expr:
        """What the next loop is over, which notes that the tests have come to it."""
        self._loops += 1
        return ast.copy_location(self._turn(looped, runs=False), looped)

    def _turn(self, *looped: ast.expr, runs: bool) -> ast.Call:
        return _call("__turn__", ast.Constant(self._loops), ast.Constant(runs), *looped)

    def visit_While(self, node: ast.While) -> ast.stmt:
        depends = self._use.depends(node.test)
        calls = [part for statement in node.body for part in ast.walk(statement) if isinstance(part, ast.Call)]
        changed = {name for call in calls for name in names_in(call)}
        if self._use.meets(*node.body) and not names_in(node.test) & changed:
            node.test = self._written(node.test)
        return self._note_turns(node) if depends else self.generic_visit(node)  # type: ignore[return-value]

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> ast.expr:
        if self._use.meets(node):
            for generator in node.generators:
                generator.iter = self._written(generator.iter, "__items__")
        return self.generic_visit(node)  # type: ignore[return-value]

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp  # noqa: N815

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """An item at a position that is an answer, or an item of an answer."""
        looked_up = None
        if self._use.depends(node.value):
            node.slice = self._sent(node.slice)
        if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice):
            looked_up = self._looked_up(node.value, "__getitem__", [node.slice])
        return self.generic_visit(looked_up or node)  # type: ignore[return-value]

    def _looked_up(self, container: ast.expr, method: str, arguments: list[ast.expr]) -> ast.expr | None:
        """What a container of the tests has for an answer; None where they check the container itself."""
        is_answered = any(map(self._use.depends, arguments)) and not self._use.depends(container)
        if not is_answered or ast.unparse(container) in self._checked:
            return None
        written = container if isinstance(container, ast.Name) else self._written(container)
        return ast.Call(_call("__either__", ast.Attribute(written, method, ast.Load())), arguments, [])

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, MEETING):
            self._meet(node)
        return super().generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        sides = [node.left, node.right]
        answers = [self._use.depends(side) for side in sides]
        is_expected = sum(answers) == 1 and not names_in(sides[answers[0]]) & self._use.arguments
        self.generic_visit(node)
        if self._has_arrays and isinstance(node.op, ast.Sub) and is_expected:
            return _shaped("sub", node.left, node.right, answers[0])
        return node

    def _meet(self, node: ast.AST) -> None:
        """Compute the operands of a node that meet an answer from what the tests wrote."""
        sides = operands(node)
        written = {id(side): new for side, new in zip(sides, self._meeting(sides), strict=True) if new is not side}
        if written:
            Substitute(written).generic_visit(node)

    def _meeting(self, sides: list[ast.expr]) -> list[ast.expr]:
        """Values that meet: if one is an answer, the others are computed from what the tests wrote."""
        answers = [self._use.depends(side) for side in sides]
        if not any(answers):
            return sides
        return [
            side if is_answer or isinstance(side, ast.Name) else self._written(side)
            for side, is_answer in zip(sides, answers, strict=True)
        ]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name.startswith("__"):
            return self.generic_visit(node)  # type: ignore[return-value]
        if replaced := self._replaced(node):
            return self.visit(replaced) if isinstance(replaced, ast.Compare) else self.generic_visit(replaced)  # type: ignore[return-value]
        if self._has_arrays and isinstance(node.func, ast.Attribute) and "close" in node.func.attr:
            node.args = [_call("__literal__", one) if _is_number(one) else one for one in node.args]
        if name == "type" and len(node.args) == 1 and not node.keywords:
            node.func = ast.Name("__type__", ast.Load())
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method.startswith("assert"):
            named = [keyword for name in OPERANDS for keyword in node.keywords if keyword.arg == name]
            node.args += [keyword.value for keyword in named]
            node.keywords = [keyword for keyword in node.keywords if keyword not in named]
        if self._use.holds_answer(node.func) and method not in PLAIN_METHODS:
            node.args = [self._sent(one) if isinstance(one, ast.Lambda | ast.Name) else one for one in node.args]
        if method.startswith("assert") and "Equal" in method and len(node.args) > 1:
            node.args[:2] = self._answer_first(node.args[:2])
        for one, other in pairs(node):
            compares, same = method in ("assertEqual", "assertNotEqual"), method in ("assertIs", "assertIsNot")
            if self._is_expected(other, one, same=same):
                node.args[1] = self._expected(other, always=False, compares=compares)
            if self._is_expected(one, other, same=same):
                node.args[0] = self._expected(one, always=False, compares=compares)
            if same:
                node.args[:2] = [_call("__itself__", side) for side in node.args[:2]]
            if method in ("assertIn", "assertNotIn") and isinstance(node.func, ast.Attribute):
                node.func.attr = "assertTrue" if method == "assertIn" else "assertFalse"
                node.args[:2] = [_call("__member__", *node.args[:2])]
        if name in ("zip", "map") and not node.keywords:
            self._pair_strictly(node, name)
        elif method in LOOKING_UP | COMPARING and isinstance(node.func, ast.Attribute):
            node.args = list(map(self._argument, self._meeting([node.func.value, *node.args])[1:]))
        elif self._use.passes_answer_to_tests(node):
            self._meet(node)
            if not any(names_in(argument) & self._checked for argument in node.args):
                node.func = _call("__own__", node.func)
        elif self._use.may_hold_any_function(node.func):
            if not any(names_in(argument) & self._checked for argument in node.args):
                node.func = _call("__either__", node.func)
        elif not method.startswith("assertIs") and root_of(node.func) not in self._use.functions | self._use.results:
            self._meet(node)
            if not (method or name).startswith(("assert", "raises")):
                node.args = [_call("__function__", one) if self._is_function(one) else one for one in node.args]
        return self.generic_visit(node)  # type: ignore[return-value]

    def _replaced(self, node: ast.Call) -> ast.expr | None:
        """What is called instead of a function, if anything."""
        match node:
            case ast.Call(ast.Attribute(left, name), [right], []) if name in COMPARISONS:
                return ast.Compare(left, [COMPARISONS[name]()], [right])
        path = ast.unparse(node.func) if isinstance(node.func, ast.Attribute | ast.Name) else ""
        answers = [self._use.depends(one) for one in node.args]
        if path in OPENING | SLEEPING and any(answers):
            does = "sleep for a time" if path in SLEEPING else "open a file or a module"
            raise InvalidTrajectory(f"line {node.lineno}: the tests {does} that an answer names")
        if path in self._settings and not node.keywords:
            return _call("__setting__", ast.Constant(self._settings[path]), *node.args)
        if not isinstance(node.func, ast.Attribute):
            return None
        if self._has_arrays and node.func.attr in SHAPED and len(answers) == 2 and sum(answers) == 1:
            return _shaped(node.func, node.args[0], node.args[1], answers[0])
        return self._looked_up(node.func.value, node.func.attr, node.args) if node.func.attr in LOOKING_UP else None

    def _pair_strictly(self, node: ast.Call, name: str) -> None:
        """Make `zip` and `map` fail for an answer that is shorter than what it is paired with."""
        function, iterables = (node.args[:1], node.args[1:]) if name == "map" else ([], node.args)
        sides = [self._use.depends(side) for side in iterables]
        is_unpacked = any(isinstance(side, ast.Starred) for side in iterables)  # where the answers are is not known
        calls_program = any(self._use.depends(part) for part in function)
        if calls_program or (any(sides) and (is_unpacked or not all(sides))):
            paired = [
                side if is_answer else self._written(side) for side, is_answer in zip(iterables, sides, strict=True)
            ]
            node.func = ast.Name("__map__" if name == "map" else "__strict_zip__", ast.Load())
            known: list[ast.expr] = [] if is_unpacked and any(sides) else [ast.Constant(side) for side in sides]
            node.args = [*function, ast.Tuple(known, ast.Load()), *paired]

    def _sent(self, node: ast.expr) -> ast.expr:
        """A value of the tests as an index, attribute or argument of an answer: it must be possible to send it."""
        is_answer = self._use.depends(node) and not isinstance(node, ast.Lambda)
        is_plain = isinstance(node, ast.Constant | ast.Slice | ast.UnaryOp)
        return node if is_plain or is_answer else _call("__sent__", node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if any(isinstance(one, ast.Attribute | ast.Subscript) and self._use.depends(one.value) for one in node.targets):
            node.value = self._sent(node.value)
        node.value = self._bound(node.targets, node.value)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        node.value = node.value and self._bound([node.target], node.value)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_withitem(self, node: ast.withitem) -> ast.withitem:
        if node.optional_vars is not None:
            node.context_expr = self._bound([node.optional_vars], node.context_expr)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        node.value = self._bound([ast.Tuple([node.target], ast.Store())], node.value)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        checks_arguments = any(place not in self._use.results for place, _ in self._use.checked_places(node))
        self.generic_visit(node)
        node.test = _call("__shown__", _call("__show__"), node.test) if checks_arguments else node.test
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Call(func, arguments) | ast.Await(ast.Call(func, arguments)) if self._use.is_function(func):
                passed = [one for one in arguments if isinstance(one, ast.Name | ast.Attribute | ast.Subscript)]
                node.value = _call("__accept__", node.value, *passed)
            case ast.Call() as call if self._use.expects(self._use.changed_by(call), *operands(call)):
                kept = self._use.changed_by(call)
                if root_of(call.func) in self._use.results:  # an object of the program may keep a container
                    kept += [one for one in call.args if isinstance(one, ast.Name)]
                if not any(map(self._use.depends, operands(call))):
                    written = {id(one): self._written(one) for one in operands(call) if one not in kept}
                    Substitute(written).generic_visit(call)
        loops = loops_of_checks(node)
        depends = any(self._use.depends(loop.iter) for loop in loops)
        self.generic_visit(node)
        if depends:
            loops[0].iter = self._reached(loops[0].iter)
            loops[-1].ifs.append(self._turn(runs=True))
        return node

    def _bound(self, targets: list[ast.expr], value: ast.expr) -> ast.expr:
        """A value that answers are compared with later, computed from what the tests wrote.

        The value of `ys = xs` stays: `ys` is another name for the same container.
        """
        is_name = isinstance(value, ast.Name) and all(isinstance(target, ast.Name) for target in targets)
        return self._written(value) if self._use.expects(targets, value) and not is_name else value

    def _is_expected(self, side: ast.expr, against: ast.expr, *, same: bool) -> bool:
        """Whether a side is what an answer is compared with; compared by `is` (`same`), a container stays itself."""
        is_place = isinstance(side, ast.Name | ast.Attribute | ast.Subscript)
        return self._use.depends(against) and not self._use.calls(side) and not (same and is_place)

    def _is_function(self, node: ast.expr) -> bool:
        """Whether an argument is a function of the program, or one of the tests that calls it."""
        if isinstance(node, ast.Lambda):
            return self._use.calls(node.body)
        return isinstance(node, ast.Name) and node.id in self._use.functions

    def _expected(self, node: ast.expr, *, always: bool, compares: bool) -> ast.expr:
        """The operand that an answer is compared with; for equality, its type is checked."""
        is_checked = compares and bool(names_in(node))
        written = self._argument(node) if isinstance(node, ast.Name) and not always else self._written(node)
        return _call("__expected__", written) if is_checked else written

    def _argument(self, node: ast.expr) -> ast.expr:
        """A variable that an answer is compared with, as the tests wrote it, unless they check the variable itself."""
        is_live = not isinstance(node, ast.Name) or node.id in self._checked or self._use.depends(node)
        return node if is_live else _call("__argument__", node)

    def _written(self, node: ast.expr, end: str = "__written__") -> ast.expr:
        """An expression that is evaluated on what the tests wrote, except for containers that they check themselves."""
        if isinstance(node, ast.Starred):
            node.value = self._written(node.value)
            return node
        parts = list(ast.walk(node))
        is_answer = self._use.depends(node)
        is_kept = is_answer and (end == "__items__" or self._use.calls(node))
        if not names_in(node) or is_kept or any(isinstance(part, SUSPENDING) for part in parts):
            return node
        begin = "__begin_unreturned__" if is_answer else "__begin__"
        bound = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        kept = {ast.unparse(part): part for part in parts if isinstance(part, ast.Name | ast.Attribute)}
        places = [ast.parse(name, mode="eval").body for name in kept if name in self._checked and name not in bound]
        return _call(end, _call(begin, *places), node)


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _shaped(operation: str | ast.expr, left: ast.expr, right: ast.expr, answer_is_left: bool) -> ast.Call:
    function = ast.Constant(operation) if isinstance(operation, str) else operation
    return _call("__shaped__", function, left, right, ast.Constant(answer_is_left))


def _is_number(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and type(number.value) in (int, float)
