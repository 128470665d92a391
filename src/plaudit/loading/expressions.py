"""Rewards written as Python writes them: `0.7 * check_answer + 0.3 * format`, `minimum(math, length(target=60))`.

The text is parsed, never run as Python: numbers, names, calls with literal or reward arguments, `+ - * /`, and the
functions and methods of the vocabulary are all there is: `METHODS` and `FUNCTIONS`, which YAML files use too, say which
of their parameters are rewards. What a composed reward prints can be loaded again.
"""

import ast
import importlib
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias

from plaudit.contract.function import RewardFunction
from plaudit.errors import PlauditError, RewardNotLoaded, did_you_mean
from plaudit.loading.building import Arguments, Loaded
from plaudit.remote.tokens import hide_tokens

Shape: TypeAlias = Literal["one", "many", "pairs", "tasks"]
"""A reward, a list of rewards, a list of (reward, weight), or a mapping of rewards."""

_NORMALIZERS = ("ZScore", "MinMax", "Group", "Rank", "Quantile", "Running")
METHODS: dict[str, dict[str, Shape]] = {
    "clip": {}, "floor": {}, "scale": {}, "smooth": {}, "sigmoid": {}, "gate": {"self": "one", "on": "one"},
    "normalized": {}, "named": {},
}  # fmt: skip
FUNCTIONS: dict[str, tuple[str, dict[str, Shape]]] = {
    "product": ("compose:product", {"rewards": "many"}),
    "minimum": ("compose:minimum", {"rewards": "many"}),
    "maximum": ("compose:maximum", {"rewards": "many"}),
    "median": ("compose:median", {"rewards": "many"}),
    "cautious": ("compose:cautious", {"rewards": "many"}),
    "lexicographic": ("compose:lexicographic", {"rewards": "many"}),
    "bonus": ("compose:bonus", {"reward": "one", "extras": "pairs"}),
    "gdpo": ("compose:gdpo", {"parts": "pairs"}),
    "panel": ("judges:JudgePanel", {"judges": "many"}),
    "TaskReward": ("compose:TaskReward", {"rewards": "tasks", "default": "one"}),
    "CompositeReward": ("contract.combination:CompositeReward", {"parts": "pairs"}),
    "GroupLength": ("shaping:GroupLength", {"correct": "one"}),
    "ChatTemplateReward": ("loading.chat_template:ChatTemplateReward", {"reward": "one"}),
    **{f"{name}Schedule": (f"schedules:{name}Schedule", {}) for name in ("Linear", "Cosine", "Piecewise")},
    **{f"{name}Normalizer": (f"normalize:{name}Normalizer", {}) for name in _NORMALIZERS},
}
"""Each function with its location and its parameters that are rewards."""


@dataclass(frozen=True, slots=True)
class Composer:
    """A function of the composition language."""

    name: str
    function: Callable[..., Any]
    rewards: Mapping[str, Shape]

    def call(self, positional: Sequence[Any], named: Mapping[str, Any], as_reward: Callable[[Any], Any]) -> Any:
        """The result of a call; `as_reward` converts specs and mappings into rewards."""
        signature = inspect.signature(self.function)
        variadic = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL), None)
        for name in named:
            if name not in signature.parameters:
                hint = did_you_mean(name, signature.parameters)
                raise RewardNotLoaded(f"{self.name} has no parameter {name!r}{hint} (it takes {signature})")
        if variadic is not None and variadic in named:
            positional, named = named[variadic], {name: value for name, value in named.items() if name != variadic}
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as error:
            raise RewardNotLoaded(f"{self.name} needs other arguments: {error} (it takes {signature})") from None
        for name, shape in self.rewards.items():
            if bound.arguments.get(name) is not None:
                bound.arguments[name] = _read_rewards(bound.arguments[name], shape, as_reward)
        return self.function(*bound.args, **bound.kwargs)


def find_composer(name: str) -> Composer | None:
    """The function or method of that name; a method has the reward as its first parameter."""
    if name in METHODS:
        return Composer(name, getattr(RewardFunction, name), METHODS[name])
    if name not in FUNCTIONS:
        return None
    location, rewards = FUNCTIONS[name]
    module, _, attribute = location.partition(":")
    return Composer(name, getattr(importlib.import_module(f"plaudit.{module}"), attribute), rewards)


def _read_rewards(value: Any, shape: Shape, as_reward: Callable[[Any], Any]) -> Any:
    if shape == "one":
        return as_reward(value)
    if shape == "tasks":
        if not isinstance(value, Mapping):
            raise RewardNotLoaded(f"the rewards of tasks are a mapping of names to rewards, got {value!r:.60}")
        return {str(task): as_reward(each) for task, each in value.items()}
    if not isinstance(value, list | tuple):
        raise RewardNotLoaded(f"rewards are given as a list, got {value!r:.60}")
    if shape == "many":
        return [as_reward(each) for each in value]
    if not all(isinstance(each, list | tuple) and len(each) == 2 for each in value):
        raise RewardNotLoaded(f"weighted rewards are (reward, weight) pairs, got {value!r:.60}")
    return [(as_reward(each), weight) for each, weight in value]


LookUp: TypeAlias = Callable[[str, Arguments | None], Loaded]
"""Finds the object of a name or a dotted name."""
Specs: TypeAlias = Callable[[str], Loaded]
"""Finds the reward of a quoted spec."""

USING = "using"
OPTIONS = ("dialect", "scope", "max_batch", "chat_template")
"""The options of `using('spec', …)`, which are those of `load`."""

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_SIGNS: dict[type[ast.AST], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: lambda value: value}


def build_expression(text: str, look_up: LookUp, specs: Specs) -> Loaded:
    """The reward of an expression."""
    value = evaluate(text, look_up, specs)
    if isinstance(value, Loaded):
        return value
    if isinstance(value, RewardFunction):
        return Loaded(value, "plaudit", f"the expression {text}")
    what = f"the number {value:g}" if isinstance(value, float) else f"a {type(value).__name__}"
    raise RewardNotLoaded(f"{text!r} is {what}, not a reward")


def evaluate(text: str, look_up: LookUp, specs: Specs) -> Any:
    """The value of an expression: a number, a reward, a schedule, or a `Loaded` for a single name."""
    return _Expression(text, look_up, specs).value(_parse(text))


def spec_using(spec: str, **options: str | int | None) -> str:
    """The spec with options of `load`, as a spec: `using('reward_func.py', scope='group')`."""
    chosen = {name: value for name, value in options.items() if value is not None}
    if not chosen:
        return spec
    return f"{USING}({spec!r}, {', '.join(f'{name}={value!r}' for name, value in chosen.items())})"


def parse_call(text: str) -> tuple[str, Arguments | None]:
    """`"Brief(limit=3)"` as a name and its literal arguments; None if there are no brackets."""
    node = _parse(text)
    if isinstance(node, ast.Name):
        return node.id, None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id, _read_arguments(node, text, _read_literal)
    raise RewardNotLoaded(
        f"after the colon comes a name, or a name with arguments in brackets; got {text!r} "
        "(in an expression, put file specs in quotes: 0.7 * 'my.py:name')"
    )


class _Expression:
    def __init__(self, text: str, look_up: LookUp, specs: Specs) -> None:
        self.text = text
        self.look_up = look_up
        self.specs = specs

    def value(self, node: ast.AST) -> Any:
        handle = _HANDLERS.get(type(node))
        if handle is None:
            self.refuse(node)
        return handle(self, node)

    def operand(self, node: ast.AST) -> Any:
        value = self.value(node)
        return value.reward if isinstance(value, Loaded) else value

    def constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, str):
            return self.specs(node.value)
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self.refuse(node)
        return float(node.value)

    def name(self, node: ast.Name | ast.Attribute) -> Any:
        dotted = _dotted_name(node)
        if dotted is None:
            self.refuse(node)
        return self.look_up(dotted, None)

    def binary(self, node: ast.BinOp) -> Any:
        operate = _OPERATORS.get(type(node.op))
        if operate is None:
            self.refuse(node)
        left, right = self.operand(node.left), self.operand(node.right)
        return self.apply(node, lambda: operate(left, right))

    def unary(self, node: ast.UnaryOp) -> Any:
        sign = _SIGNS.get(type(node.op))
        if sign is None:
            self.refuse(node)
        return sign(self.operand(node.operand))

    def call(self, node: ast.Call) -> Any:
        arguments = _read_arguments(node, self.text, self.argument)
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            receiver = self.operand(node.func.value)
            if not isinstance(receiver, RewardFunction):
                what = "a number" if isinstance(receiver, float) else f"a {type(receiver).__name__}"
                raise RewardNotLoaded(f"{_source(node.func.value)} is {what}; only rewards have .{node.func.attr}(…)")
            arguments = Arguments((receiver, *arguments.positional), arguments.keywords)
        dotted = _dotted_name(node.func)
        composer = find_composer(node.func.attr if isinstance(node.func, ast.Attribute) else str(dotted))
        if composer is not None and (isinstance(node.func, ast.Name) or composer.name in METHODS):
            return self.apply(node, lambda: composer.call(arguments.positional, arguments.keywords, self.as_reward))
        if dotted is None:
            self.refuse(node.func)
        return self.look_up(dotted, arguments)

    def as_reward(self, value: Any) -> Any:
        """Read a value as a reward: text is a spec."""
        return self.specs(value).reward if isinstance(value, str) else value

    def argument(self, node: ast.AST) -> Any:
        """A literal, a list or a dict of arguments, or else a reward."""
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            pass
        if isinstance(node, ast.List | ast.Tuple):
            values = [self.argument(each) for each in node.elts]
            return values if isinstance(node, ast.List) else tuple(values)
        if isinstance(node, ast.Dict) and None not in node.keys:
            keys = [self.argument(each) for each in node.keys if each is not None]
            return dict(zip(keys, (self.argument(each) for each in node.values), strict=True))
        return self.operand(node)

    def apply(self, node: ast.AST, operation: Callable[[], Any]) -> Any:
        try:
            return operation()
        except (PlauditError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            raise RewardNotLoaded(f"{_source(node)!r} makes no reward: {error}") from error

    def refuse(self, node: ast.AST) -> NoReturn:
        hint = did_you_mean(node.attr, METHODS) if isinstance(node, ast.Attribute) else ""
        raise RewardNotLoaded(
            f"{_source(node)!r} cannot stand in a reward expression{hint or ';'} an expression has numbers, rewards "
            f"by name or as quoted specs, + - * /, the methods {', '.join(METHODS)} and {', '.join(FUNCTIONS)}"
        )


_HANDLERS: dict[type[ast.AST], Callable[[_Expression, Any], Any]] = {
    ast.Constant: _Expression.constant,
    ast.Name: _Expression.name,
    ast.Attribute: _Expression.name,
    ast.BinOp: _Expression.binary,
    ast.UnaryOp: _Expression.unary,
    ast.Call: _Expression.call,
}


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        detail = error.msg if isinstance(error, SyntaxError) else str(error)
        raise RewardNotLoaded(
            f"cannot read the spec {hide_tokens(text)!r:.120}: {detail}; a spec is 'file.py:name', "
            "'package.module:name', a built-in such as 'length(target=200)', an expression of these, or a .yaml file"
        ) from None


def _read_arguments(node: ast.Call, text: str, read: Callable[[ast.AST], Any]) -> Arguments:
    if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
        raise RewardNotLoaded(f"arguments cannot be unpacked in a spec: {text!r}")
    return Arguments(
        tuple(read(each) for each in node.args), {str(each.arg): read(each.value) for each in node.keywords}
    )


def _read_literal(node: ast.AST) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise RewardNotLoaded(
            f"{_source(node)!r} is not a literal; arguments are numbers, text, True, False, None, and lists or "
            "dicts of these"
        ) from None


def _dotted_name(node: ast.AST) -> str | None:
    """`a.b.c` as text, None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if not isinstance(node, ast.Attribute):
        return None
    within = _dotted_name(node.value)
    return None if within is None else f"{within}.{node.attr}"


def _source(node: ast.AST) -> str:
    return ast.unparse(node)
