"""A reward is identified by its settings and its source, or is not cacheable."""

import datetime
import enum
import functools
import re
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from plaudit import CompositeReward, FunctionReward, RewardFunction, load, reward
from plaudit.compose import TaskReward
from plaudit.dialects.systems.openrlhf import SYSTEM as OPENRLHF
from plaudit.engine import reward_key
from plaudit.engine.caching.identity import NotIdentified, RewardIdentity
from plaudit.rewards import BUILT_INS
from plaudit.schedules import LinearSchedule
from plaudit.shaping import CosineLength, LengthPenalty


class Holding(RewardFunction):
    """A reward with one setting of any type."""

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


class Model(Holding):
    def __getstate__(self):
        return {"held": None}


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


def by_queries(queries, factor=2.0):
    return [factor * len(query) for query in queries]


def with_default(x, factor=2):
    return factor * x


def traced(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x)

    return wrapper


def identified(rewarding: RewardFunction) -> bytes:
    return RewardIdentity(rewarding).digest()


def why_not(rewarding: RewardFunction) -> str:
    with pytest.raises(NotIdentified) as caught:
        identified(rewarding)
    assert reward_key(rewarding)
    return str(caught.value)


SETTINGS = {
    "whole number and float": (1, 1.0),
    "number and truth": (1, True),
    "number and text": (1, "1"),
    "text and bytes": ("a", b"a"),
    "none and empty text": (None, ""),
    "zero and minus zero": (0.0, -0.0),
    "large numbers": (10**5000, 10**5000 + 1),
    "lists": ([1, 2], [2, 1]),
    "lists and tuples": ([1, 2], (1, 2)),
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
    "wrapped functions": (traced(doubled), traced(tripled)),
    "memoized functions": (functools.cache(doubled), functools.cache(tripled)),
    "methods": ("a".startswith, "a".endswith),
    "classes": (Point, Colour),
    "counters": (Counter("ab"), Counter("aab")),
    "schedules": (LinearSchedule(0.0, 1.0, 10), LinearSchedule(0.0, 1.0, 11)),
    "rewards": (LengthPenalty(0.1), LengthPenalty(0.2)),
}


@pytest.mark.parametrize(("one", "other"), SETTINGS.values(), ids=SETTINGS)
def test_another_setting_gives_another_identity(one, other):
    assert identified(Holding(one)) == identified(Holding(one))
    assert identified(Holding(one)) != identified(Holding(other))


def test_settings_in_slots_count_too():
    assert identified(Slotted(Path("a"))) == identified(Slotted(Path("a")))
    assert identified(Slotted(Path("a"))) != identified(Slotted(Path("b")))


COMPOSED = {
    "weights": lambda amount: amount * LengthPenalty() + CosineLength(10),
    "parts": lambda amount: LengthPenalty(amount) + CosineLength(10),
    "clips": lambda amount: LengthPenalty().clip(-1.0, amount),
    "gates": lambda amount: LengthPenalty().gate(on=CosineLength(10), at=amount),
    "schedules": lambda amount: CompositeReward([(LengthPenalty(), LinearSchedule(0.0, amount, 10))]),
    "normalised": lambda amount: LengthPenalty(amount).normalized("group"),
    "tasks": lambda amount: TaskReward({"math": LengthPenalty(amount)}),
    "dialects": lambda amount: OPENRLHF.dialects[0].to_reward(functools.partial(by_queries, factor=amount)),
    "closures": lambda amount: reward(lambda response: float(len(response) < amount)),
}


@pytest.mark.parametrize("made", COMPOSED.values(), ids=COMPOSED)
def test_rewards_made_of_rewards_are_identified_by_their_parts(made):
    assert identified(made(0.5)) == identified(made(0.5))
    assert identified(made(0.5)) != identified(made(0.25))


@pytest.mark.parametrize("name", ["math", "length", "format", "code", "check_answer"])
def test_built_in_rewards_are_identified(name):
    assert name in BUILT_INS or load(name)
    assert identified(load(name)) == identified(load(name))


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
EDITS = {
    "of the function": ("< LIMIT", "<= LIMIT"),
    "of a helper beside it": ("return len(text)", "return len(text.strip())"),
    "of a constant beside it": ("LIMIT = 3", "LIMIT = 4"),
    "of the class": ("< self.most", "<= self.most"),
    "of a comment": ("LIMIT = 3", "LIMIT = 3  # words"),
}


@pytest.mark.parametrize("name", ["brief", "Short"])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_any_edit_of_the_file_changes_the_identity(tmp_path, name, edit):
    path = tmp_path / "rewards.py"

    def identity_of(source: str) -> bytes:
        path.write_text(textwrap.dedent(source))
        return identified(load(f"{path}:{name}"))

    before = identity_of(SOURCE)
    assert identity_of(SOURCE.replace(*edit)) != before
    assert identity_of(SOURCE) == before


IMPORTS = {
    "module": ("import lengths{n}", "lengths{n}.length"),
    "name": ("from lengths{n} import length", "length"),
    "module of a package": ("from package{n} import lengths", "lengths.length"),
    "through another module": ("from indirect{n} import length", "length"),
    "inside the function": ("", "lengths{n}.length"),
}


@pytest.mark.parametrize("number", range(5), ids=IMPORTS)
def test_an_edit_of_an_imported_file_changes_the_identity(tmp_path, number):
    top, call = (part.format(n=number) for part in list(IMPORTS.values())[number])
    inside = f"    import lengths{number}\n" if not top else ""
    (tmp_path / f"package{number}").mkdir()
    (tmp_path / f"package{number}" / "__init__.py").touch()
    (tmp_path / f"package{number}" / "lengths.py").write_text("from .words import length\n")
    (tmp_path / f"indirect{number}.py").write_text(f"from lengths{number} import length\n")
    (tmp_path / "rewards.py").write_text(
        f"{top}\ndef brief(response):\n{inside}    return float({call}(response) < 3)\n"
    )

    def identity_of(helper: str) -> bytes:
        (tmp_path / f"lengths{number}.py").write_text(helper)
        (tmp_path / f"package{number}" / "words.py").write_text(helper)
        return identified(load(f"{tmp_path / 'rewards.py'}:brief"))

    before = identity_of("def length(text): return len(text)\n")
    assert identity_of("def length(text): return len(text) + 1\n") != before


def test_the_version_of_an_imported_package_is_part_of_the_identity(tmp_path, monkeypatch):
    path = tmp_path / "rewards.py"
    path.write_text("import numpy\ndef brief(response): return float(numpy.sqrt(len(response)))\n")
    before = identified(load(f"{path}:brief"))
    monkeypatch.setattr("plaudit.engine.caching.identity.version", lambda package: f"{package} 99")
    assert identified(load(f"{path}:brief")) != before


def test_a_value_that_is_not_plain_data_is_named_with_the_remedy(tmp_path):
    with open(tmp_path / "model.bin", "wb") as opened:
        reason = why_not(Holding({"model": opened}))
    assert reason.startswith("Holding.held.model is a BufferedWriter, which is not plain data")
    assert "__getstate__" in reason


def test_objects_of_installed_packages_are_not_identified():
    import numpy

    assert "held is a ndarray, which is not plain data" in why_not(Holding(numpy.zeros(3)))


def test_getstate_leaves_out_what_does_not_identify_the_reward():
    assert identified(Model(threading.local())) == identified(Model())


def test_data_that_contains_itself_is_not_identified():
    circle: list[object] = []
    circle.append(circle)
    assert "contains itself" in why_not(Holding(circle))


def test_a_function_without_a_source_file_is_not_identified():
    namespace: dict[str, object] = {"__name__": "__typed__"}
    exec("def brief(response): return float(len(response) < 3)", namespace)
    assert "was not loaded from a file" in why_not(FunctionReward(namespace["brief"]))  # type: ignore[arg-type]


def test_a_class_inside_a_function_is_not_identified():
    def made(limit):
        class Short(RewardFunction):
            def compute_reward(self, trajectory):
                return float(len(trajectory.response) < limit)

        return Short()

    assert "Short is not at the top level of its module" in why_not(made(3))


PRINT_IDENTITY = """
import sys
from plaudit import load
from plaudit.engine.caching.identity import RewardIdentity
print(RewardIdentity(load(sys.argv[1])).digest().hex())
"""


def test_another_process_with_another_hash_seed_finds_the_same_identity(tmp_path):
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
        "        return float(trajectory.response in WORDS)\n"
        "rewarding = 0.5 * Held() + 0.5 * FunctionReward(lambda response: float(response in WORDS), name='f')\n"
    )
    identities = {
        subprocess.run(
            [sys.executable, "-c", PRINT_IDENTITY, f"{path}:rewarding"],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert identities == {identified(load(f"{path}:rewarding")).hex() + "\n"}


def test_a_key_depends_on_the_text_of_files_and_not_on_their_folders_or_line_ends(tmp_path):
    source = "import helper\n\n\ndef scored(response):\n    return float(len(response) > helper.LIMIT)\n"
    keys = []
    for name, ending, limit in (("one", "\n", 3), ("two", "\r\n", 3), ("three", "\n", 4)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "rewards.py").write_bytes(source.replace("\n", ending).encode())
        (folder / "helper.py").write_bytes(f"LIMIT = {limit}{ending}".encode())
        keys.append(RewardIdentity(load(f"{folder}/rewards.py:scored")).digest())
    assert keys[0] == keys[1] != keys[2]


def test_equal_names_in_files_of_the_same_name_have_keys_of_their_own(tmp_path):
    for name, value in (("one", 0.0), ("two", 1.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rewards.py").write_text(f"def scored(response):\n    return {value}\n")
    both = [
        load(f"'{tmp_path}/{a}/rewards.py:scored' - '{tmp_path}/{b}/rewards.py:scored'")
        for a, b in (("one", "two"), ("two", "one"))
    ]
    assert reward_key(both[0]) != reward_key(both[1])
