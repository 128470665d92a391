"""A reward's fingerprint follows its code and parameters, and nothing else."""

import datetime
import enum
import functools
import logging
import re
import subprocess
import sys
import textwrap
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from plaudit import CompositeReward, FunctionReward, RewardFunction, load, reward
from plaudit.compose import TaskReward
from plaudit.dialects.trainers.openrlhf import OpenRLHFReward
from plaudit.engine.caching.fingerprint import NotIdentified, fingerprint, identity
from plaudit.schedules import LinearSchedule
from plaudit.shaping import CosineLength, LengthPenalty

SOURCE = """
    from plaudit import RewardFunction

    LIMIT = 3

    def length(text):
        return len(text)

    class Short(RewardFunction):
        def __init__(self, most=10):
            self.most = most

        def compute_reward(self, trajectory):
            return float(length(trajectory.response) < self.most)

    def brief(response):
        return float(length(response) < LIMIT)
"""


@pytest.fixture
def digest_of(tmp_path):
    """`digest_of(source)` is the fingerprint of `brief` in a file with that source."""
    path = tmp_path / "rewards.py"

    def digest(source: str, name: str = "brief") -> bytes:
        path.write_text(textwrap.dedent(source))
        return known(load(f"{path}:{name}"))

    return digest


def known(rewarding: RewardFunction) -> bytes:
    found = fingerprint(rewarding)
    assert found.digest is not None, found.reason
    return found.digest


def why_not(rewarding: RewardFunction) -> str:
    found = fingerprint(rewarding)
    assert found.digest is None
    return found.reason


class Holding(RewardFunction):
    """A reward with one parameter of any kind."""

    def __init__(self, held: object = None) -> None:
        self.held = held

    def compute_reward(self, trajectory):
        return 0.0


class Slotted(RewardFunction):
    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held

    def compute_reward(self, trajectory):
        return 0.0


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def doubled(x):
    return 2 * x


def tripled(x):
    return 3 * x


def multiplied(factor):
    return lambda x: factor * x


def with_default(x, factor=2):
    return factor * x


def with_keyword_default(x, *, factor=2):
    return factor * x


PARAMETERS = {
    "whole number and float": (1, 1.0),
    "number and truth": (1, True),
    "number and text": (1, "1"),
    "text and bytes": ("a", b"a"),
    "none and empty text": (None, ""),
    "zero and minus zero": (0.0, -0.0),
    "large numbers": (10**5000, 10**5000 + 1),
    "lists": ([1, 2], [2, 1]),
    "boundaries of texts": (["ab", "c"], ["a", "bc"]),
    "nesting": ([[1], 2], [[1, 2]]),
    "dicts": ({"a": 1}, {"a": 2}),
    "sets": ({"a", "b"}, {"a", "c"}),
    "regexes": (re.compile("a+"), re.compile("a+", re.IGNORECASE)),
    "paths": (Path("a/b"), Path("a/c")),
    "decimals": (Decimal("1.0"), Decimal("1.00")),
    "dates": (datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)),
    "dataclasses": (Point(1, 2), Point(2, 1)),
    "enums": (Colour.RED, Colour.BLUE),
    "functions": (doubled, tripled),
    "lambdas": (lambda x: x + 1, lambda x: x + 2),
    "closures": (multiplied(2), multiplied(3)),
    "partials": (functools.partial(with_default, factor=2), functools.partial(with_default, factor=3)),
    "methods": ("a".startswith, "a".endswith),
    "classes": (Point, Colour),
    "counters": (Counter("ab"), Counter("aab")),
    "default dicts": (defaultdict(int), defaultdict(float)),
    "schedules": (LinearSchedule(0.0, 1.0, 10), LinearSchedule(0.0, 1.0, 11)),
    "rewards": (LengthPenalty(0.1), LengthPenalty(0.2)),
    "arrays": (bytearray(b"a"), bytearray(b"b")),
}


@pytest.mark.parametrize("kind", [Holding, Slotted])
@pytest.mark.parametrize(("one", "other"), PARAMETERS.values(), ids=PARAMETERS)
def test_another_parameter_gives_another_fingerprint(kind, one, other):
    assert known(kind(one)) == known(kind(one))
    assert known(kind(one)) != known(kind(other))


EDITS = {
    "of the function": ("< LIMIT", "<= LIMIT"),
    "of a helper beside it": ("return len(text)", "return len(text.strip())"),
    "of a constant beside it": ("LIMIT = 3", "LIMIT = 4"),
    "of the class": ("< self.most", "<= self.most"),
    "of a comment": ("LIMIT = 3", "LIMIT = 3  # words"),
}


@pytest.mark.parametrize("name", ["brief", "Short"])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_any_edit_of_the_file_changes_the_fingerprint(digest_of, name, edit):
    before = digest_of(SOURCE, name)
    assert digest_of(SOURCE, name) == before
    assert digest_of(SOURCE.replace(*edit), name) != before
    assert digest_of(SOURCE, name) == before


def test_an_edit_of_an_imported_file_changes_the_fingerprint(tmp_path):
    (tmp_path / "lengths_beside.py").write_text("def length(text): return len(text)\n")
    main = tmp_path / "rewards.py"
    main.write_text("import lengths_beside\ndef brief(response): return float(lengths_beside.length(response) < 3)\n")
    before = known(load(f"{main}:brief"))
    (tmp_path / "lengths_beside.py").write_text("def length(text): return len(text) + 1\n")
    assert known(load(f"{main}:brief")) != before


def test_a_global_that_was_read_from_a_file_counts_by_its_value(tmp_path):
    words = tmp_path / "words.txt"
    source = (
        f"import pathlib\nWORDS = pathlib.Path({str(words)!r}).read_text().split()\n"
        "def is_known(text): return text in WORDS\n"
        "def brief(response): return float(is_known(response))\n"
    )

    def digest(file: str, text: str) -> bytes:
        words.write_text(text)
        (tmp_path / file).write_text(source)
        return known(load(f"{tmp_path / file}:brief"))

    assert digest("one.py", "yes no") == digest("two.py", "yes no") != digest("three.py", "yes no maybe")


def test_what_a_function_imports_while_it_runs_must_be_loaded_before(tmp_path):
    (tmp_path / "late_sibling.py").write_text("def check(text): return 1.0\n")
    path = tmp_path / "late.py"
    path.write_text("def brief(response):\n    from late_sibling import check\n    return check(response)\n")
    assert "imports 'late_sibling' only while it runs" in why_not(load(f"{path}:brief"))
    path.write_text("def brief(response):\n    import json\n    return float(len(json.dumps(response)))\n")
    assert known(load(f"{path}:brief"))


def test_functions_without_a_file_are_known_by_their_code():
    def typed(source: str) -> FunctionReward:
        namespace: dict[str, object] = {"__name__": "__typed__"}
        exec(textwrap.dedent(source), namespace)
        return FunctionReward(namespace["brief"])  # type: ignore[arg-type]

    source = "def helper(x): return len(x)\ndef brief(response): return float(helper(response) < 3)"
    assert known(typed(source)) == known(typed("\n\n" + source))
    assert known(typed(source)) != known(typed(source.replace("< 3", "< 4")))
    assert known(typed(source)) != known(typed(source.replace("len(x)", "len(x) + 1")))


def test_defaults_and_closures_of_functions_count():
    def made(limit):
        return reward(lambda response: float(len(response) < limit))

    assert known(made(3)) == known(made(3))
    assert known(made(3)) != known(made(4))
    changed = functools.partial(with_default, factor=3)
    assert known(Holding(with_default)) != known(Holding(changed))
    before = known(Holding(with_keyword_default))
    with_keyword_default.__kwdefaults__["factor"] = 3
    try:
        assert known(Holding(with_keyword_default)) != before
    finally:
        with_keyword_default.__kwdefaults__["factor"] = 2


def test_a_wrapped_function_counts_behind_its_decorator():
    def traced(function):
        @functools.wraps(function)
        def wrapper(x):
            return function(x)

        return wrapper

    assert known(Holding(traced(doubled))) != known(Holding(traced(tripled)))
    assert known(Holding(functools.cache(doubled))) != known(Holding(functools.cache(tripled)))


COMPOSED = {
    "weights": lambda amount: amount * LengthPenalty() + CosineLength(10),
    "parts": lambda amount: LengthPenalty(amount) + CosineLength(10),
    "clips": lambda amount: LengthPenalty().clip(-1.0, amount),
    "gates": lambda amount: LengthPenalty().gate(on=CosineLength(10), at=amount),
    "schedules": lambda amount: CompositeReward([(LengthPenalty(), LinearSchedule(0.0, amount, 10))]),
    "normalised": lambda amount: LengthPenalty(amount).normalized("group"),
    "tasks": lambda amount: TaskReward({"math": LengthPenalty(amount)}),
    "dialects": lambda amount: OpenRLHFReward(functools.partial(with_default, factor=amount)),
}


@pytest.mark.parametrize("made", COMPOSED.values(), ids=COMPOSED)
def test_composites_are_known_by_their_parts(made):
    assert known(made(0.5)) == known(made(0.5))
    assert known(made(0.5)) != known(made(0.25))


def test_a_reward_that_is_not_deterministic_has_no_fingerprint_however_deep_it_lies():
    judge = reward(name="judge", deterministic=False)(lambda response: 0.0)
    hidden = Holding({"judges": [judge]})
    for rewarding in (judge, judge + LengthPenalty(), TaskReward({"a": judge}), hidden, hidden.normalized("group")):
        assert "not deterministic" in why_not(rewarding)
    assert "not deterministic" in why_not(LengthPenalty().normalized("running"))


def test_what_cannot_be_identified_is_named_with_the_remedy(tmp_path):
    with open(tmp_path / "model.bin", "wb") as opened:
        reason = why_not(Holding({"model": opened}))
    assert reason.startswith("Holding.held.model is a BufferedWriter, which cannot be identified")
    assert "__getstate__" in reason


def test_a_foreign_object_with_its_own_pickling_is_not_looked_into():
    import torch

    assert "is a Parameter, which cannot be identified" in why_not(Holding(torch.nn.Linear(2, 2)))


def test_arrays_are_known_by_their_numbers_and_type():
    import numpy

    assert known(Holding(numpy.zeros(3))) == known(Holding(numpy.zeros(3)))
    assert known(Holding(numpy.zeros(3))) != known(Holding(numpy.ones(3)))
    assert known(Holding(numpy.zeros(3))) != known(Holding(numpy.zeros(3, dtype=int)))
    assert "ndarray" in why_not(Holding(numpy.array([object()])))


def test_loggers_and_locks_say_nothing_about_scores():
    assert known(Holding(logging.getLogger("a"))) == known(Holding(logging.getLogger("b")))
    assert known(Holding(threading.Lock())) == known(Holding(threading.Lock()))


def test_getstate_says_what_identifies_an_object():
    class Model(Holding):
        def __getstate__(self):
            return {"held": None}

    assert known(Model(threading.local())) == known(Model())


def test_data_that_contains_itself_is_not_identified():
    circle: list[object] = []
    circle.append(circle)
    assert "contains itself" in why_not(Holding(circle))
    with pytest.raises(NotIdentified, match="contains itself"):
        identity(circle)


def test_objects_that_refer_to_each_other_are_identified():
    def ring(value):
        one, other = Holding(value), Holding()
        one.other, other.held = other, one
        return one

    assert known(ring(1)) == known(ring(1))
    assert known(ring(1)) != known(ring(2))


READS_ID = {
    "attribute": (lambda trajectory: float(trajectory.id == 1), True),
    "by name": (lambda trajectory: float(getattr(trajectory, "id", None) == 1), True),
    "everything": (lambda trajectory: float(len(trajectory.to_json())), True),
    "not at all": (lambda trajectory: float(len(trajectory.response)), False),
}


@pytest.mark.parametrize(("function", "reads"), READS_ID.values(), ids=READS_ID)
def test_code_that_may_read_the_id_is_noticed(function, reads):
    assert fingerprint(FunctionReward(function)).reads_id is reads


FRESH = """
import sys
from plaudit import load
from plaudit.engine.caching.fingerprint import fingerprint
print(fingerprint(load(sys.argv[1])).digest.hex())
"""


def test_another_process_with_another_hash_seed_finds_the_same_fingerprint(tmp_path):
    path = tmp_path / "seeded.py"
    path.write_text(
        "import enum, re\n"
        "from plaudit import FunctionReward, RewardFunction\n"
        "class Kind(enum.Enum):\n    A = 'a'\n    B = 'b'\n"
        "WORDS = {f'word{n}' for n in range(50)}\n"
        "class Held(RewardFunction):\n"
        "    def __init__(self):\n"
        "        self.words, self.kinds = frozenset(WORDS), {Kind.A, Kind.B, re.compile('a'), (1, 'x'), len}\n"
        "    def compute_reward(self, trajectory):\n"
        "        return float(trajectory.response in WORDS or trajectory.response in {'a', 'b', 'c'})\n"
        "rewarding = 0.5 * Held() + 0.5 * FunctionReward(lambda response: float(response in WORDS), name='f')\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", FRESH, f"{path}:rewarding"],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert digests == {known(load(f"{path}:rewarding")).hex() + "\n"}
