"""The words, tags, markers and column names that a reward's code contains.

An attacker with the source knows them, so the audit uses them too. Only the file of the reward is read, not the
libraries it imports.
"""

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plaudit.contract.combination import Combination
from plaudit.contract.function import FunctionReward, RewardFunction

MAX_TEXT = 400
MAX_WORDS = 60
MOST_FILLED = 6
DEEP = 3
LEAST_LIMIT, MOST_LIMIT = 50, 20_000
_NUMERIC = re.compile(r"(?i)(?<![a-z])(?:math(?!\.)|gsm|aime|numer|arithmetic|integers?(?![a-z])|equation|sympy)")


@dataclass(frozen=True)
class Vocabulary:
    """Texts and names out of a reward's code and settings."""

    texts: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    attributes: frozenset[str] = frozenset()
    collections: tuple[tuple[str, ...], ...] = ()
    """Words that stand together in a list, a set or as the keys of a dict, as the labels of classes do."""
    numbers: tuple[int, ...] = ()
    """Numbers that may limit a length."""
    names_numbers: bool = False
    """Whether the code shows, in its names or docstrings, that answers are numbers."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Words and short phrases that a response could hold."""
        plain = [text.strip() for text in self.texts if re.fullmatch(r"\s*[^\W\d_][\w' ,!-]{1,28}\s*", text)]
        within = [
            word
            for text in self.texts
            if text not in plain
            for word in re.findall(r"(?<![\\\w])[A-Za-z]{3,20}(?!\w)", re.sub(r"\\[a-zA-Z]", " ", text))
        ]
        return tuple(dict.fromkeys([*plain, *within]))[:MAX_WORDS]

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Short texts with a sign, such as an exclamation mark or a ticked box, that a response could hold."""
        short = (text for text in self.texts if len(text) <= 4 and re.search(r"[^\w\s]", text))
        plain = (text for text in short if not re.search(r"[\\%{}()<>]", text))
        return tuple(dict.fromkeys(plain))[:12]

    @cached_property
    def names_units(self) -> bool:
        """Whether the code mentions units of measure."""
        return any(
            re.search(r"(?<![a-z])(?:units?|km|cm|kg|met(?:er|re)s?|grams?)(?![a-z])", each) for each in self.texts
        )

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Names of tags such as `think`, in the order of the code."""
        return tuple(dict.fromkeys(name for text in self.texts for name in re.findall(r"<([A-Za-z]\w{0,20})>", text)))

    @cached_property
    def markers(self) -> tuple[str, ...]:
        """Texts that announce an answer, such as `####` or `Answer:`."""
        markers: dict[str, None] = {}
        for text in self.texts:
            plain = re.sub(r"\\s[*+?]*|\(\?[:i][^)]*\)?|\(.*", " ", text.replace("\\:", ":")).strip()
            for match in re.findall(r"#{2,6}|[A-Za-z][A-Za-z ]{2,24}\s?(?::|=>|->)|[A-Za-z][a-z]* is\b", plain):
                markers[match.strip()] = None
        return tuple(markers)[:8]


def read_vocabulary(reward: RewardFunction) -> Vocabulary:
    """The words in the code and the settings of a reward that describe the responses it expects."""
    texts: dict[str, None] = {}
    keys: dict[str, None] = {}
    parameters: dict[str, None] = {}
    attributes: set[str] = set()
    collections: dict[tuple[str, ...], None] = {}
    numbers: dict[int, None] = {}
    names_numbers = False
    for part in _parts(reward):
        for setting in _settings(part, DEEP):
            texts[setting] = None
        for function in _functions(part):
            parameters.update(dict.fromkeys(_parameters(function)))
        for tree in _trees(part):
            texts.update(dict.fromkeys(_constants(tree)))
            texts.update(dict.fromkeys(_filled(tree)))
            keys.update(dict.fromkeys(_keys(tree)))
            collections.update(dict.fromkeys(_collections(tree)))
            numbers.update(dict.fromkeys(_numbers(tree)))
            names_numbers |= _NUMERIC.search(ast.unparse(tree)) is not None
            attributes |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    short = tuple(text for text in texts if 0 < len(text) <= MAX_TEXT)
    return Vocabulary(
        short, tuple(keys), tuple(parameters), frozenset(attributes), tuple(collections), tuple(numbers), names_numbers
    )


def _parts(reward: RewardFunction) -> Iterator[RewardFunction]:
    yield reward
    for value in reward.parts if isinstance(reward, Combination) else vars(reward).values():
        if isinstance(value, RewardFunction):
            yield from _parts(value)


def _functions(reward: RewardFunction) -> Iterator[Any]:
    if isinstance(reward, FunctionReward):
        yield reward.function
    elif (foreign := getattr(reward, "foreign", None)) is not None:
        yield foreign


def _parameters(function: Any) -> list[str]:
    """The parameters without a default; one with a default is a setting."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    named = (each for each in parameters if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL))
    return [each.name for each in named if each.default is each.empty or each.default is None]


def _settings(value: Any, deep: int) -> Iterator[str]:
    """Texts among the attributes of an object, its lists, dicts and patterns."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, re.Pattern):
        yield str(value.pattern)
    elif deep and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _settings(key, deep - 1)
            yield from _settings(inner, deep - 1)
    elif deep and isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        for inner in list(value)[:MAX_WORDS]:
            yield from _settings(inner, deep - 1)
    elif deep and (isinstance(value, RewardFunction) or dataclasses.is_dataclass(value)) and hasattr(value, "__dict__"):
        for name, inner in vars(value).items():
            if name not in ("name", "scope", "style"):
                yield from _settings(inner, deep - 1)


def _trees(reward: RewardFunction) -> Iterator[ast.AST]:
    """The code of the file that defines the reward's function or class; none for plaudit's rewards."""
    homes = list(_functions(reward)) or [type(reward)]
    for home in homes:
        routine = home if inspect.isroutine(home) or isinstance(home, type) else type(home)
        routine = inspect.unwrap(routine) if inspect.isroutine(routine) else routine
        if str(getattr(routine, "__module__", "")).partition(".")[0] == "plaudit":
            continue
        try:
            module = ast.parse(inspect.getsource(inspect.getmodule(routine) or routine))
        except (OSError, TypeError, SyntaxError):
            continue
        yield _used_by(str(getattr(routine, "__name__", "")), module)


def _used_by(name: str, module: ast.Module) -> ast.AST:
    """The definition of a name with the definitions of the same file that it uses; the whole file if the name is not
    global.
    """
    named: dict[str, list[ast.stmt]] = {}
    for statement in module.body:
        for target in _find_defined_names(statement):
            named.setdefault(target, []).append(statement)
    if name not in named:
        return module
    waiting, taken = [name], dict[str, None]()
    while waiting:
        current = waiting.pop()
        if current in taken:
            continue
        taken[current] = None
        nodes = (node for statement in named[current] for node in ast.walk(statement))
        waiting += [node.id for node in nodes if isinstance(node, ast.Name) and node.id in named]
    return ast.Module([statement for each in taken for statement in named[each]], [])


def _find_defined_names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _constants(tree: ast.AST) -> Iterator[str]:
    """Texts in the code, without docstrings and without the names of columns."""
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield node.value


def _filled(tree: ast.AST) -> Iterator[str]:
    """The f-strings of the code, with each of the words that stand together in the code in all of their places."""
    words = list(dict.fromkeys(word for words in _collections(tree) for word in words))[:MOST_FILLED]
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and any(isinstance(each, ast.Constant) for each in node.values):
            for word in words:
                yield "".join(str(each.value) if isinstance(each, ast.Constant) else word for each in node.values)


def _numbers(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        value: Any = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, int | float) and LEAST_LIMIT <= value <= MOST_LIMIT:
            yield int(value)


def _collections(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(tree):
        members = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        words = [each.value for each in members if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if 2 <= len(words) == len(members) and all(re.fullmatch(r"[^\W\d_][\w -]{1,28}", word) for word in words):
            yield tuple(words)


def _keys(tree: ast.AST) -> Iterator[str]:
    """Names by which the code looks something up: `row["tests"]`, `row.get("tests")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            name: Any = node.slice.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            first = node.args[0] if node.args else None
            name = first.value if isinstance(first, ast.Constant) else None
        else:
            continue
        if isinstance(name, str) and name.isidentifier():
            yield name
