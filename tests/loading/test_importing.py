"""Files and modules of users: found, executed once, and blamed for what they raise."""

import os
import pickle
import sys

import pytest

from plaudit import Trajectory
from plaudit.errors import RewardNotLoaded
from plaudit.loading import load
from plaudit.loading.importing import module_from_file

SAMPLE = [Trajectory("Hi", "Hello")]


def test_an_unchanged_file_is_the_same_module_again(write):
    path = write("same.py", "def mine(response): return 1.0")
    assert module_from_file(path) is module_from_file(path)


def test_a_file_that_changed_within_a_second_and_kept_its_size_is_read_again(write):
    path = write("changing.py", "def mine(response): return 1.0")
    assert load(str(path))(SAMPLE) == [1.0]
    path.write_text("def mine(response): return 2.0")
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert load(str(path))(SAMPLE) == [2.0]


def test_loading_leaves_no_compiled_files_behind(write, folder):
    load(str(write("clean.py", "def mine(response): return 1.0")))
    assert not (folder / "__pycache__").exists()


def test_rewards_of_a_file_can_be_pickled(write):
    path = write(
        "pickled.py",
        """
        from __future__ import annotations
        from dataclasses import dataclass
        from plaudit import RewardFunction

        @dataclass
        class Fixed(RewardFunction):
            value: float = 2.0
            def compute_reward(self, trajectory):
                return self.value
        """,
    )
    assert pickle.loads(pickle.dumps(load(f"{path}:Fixed(value=3.0)")))(SAMPLE) == [3.0]


def test_two_files_of_one_name_are_two_modules(write):
    first = write("one/twin.py", "def mine(response): return 1.0")
    second = write("two/twin.py", "def mine(response): return 2.0")
    assert load(str(first))(SAMPLE) + load(str(second))(SAMPLE) == [1.0, 2.0]


def test_a_file_can_import_its_siblings(write):
    write("withsibling/neighbour_a.py", "value = 4.0")
    path = write("withsibling/mine.py", "from neighbour_a import value\ndef mine(response): return value")
    assert load(str(path))(SAMPLE) == [4.0]


def test_siblings_of_one_name_in_two_folders_are_not_confused(write):
    for folder, value in (("left", 1.0), ("right", 2.0)):
        write(f"{folder}/neighbour_b.py", f"value = {value}")
        write(f"{folder}/mine.py", "from neighbour_b import value\ndef mine(response): return value")
    assert load("left/mine.py")(SAMPLE) + load("right/mine.py")(SAMPLE) == [1.0, 2.0]


def test_the_import_path_is_as_before_after_loading(write):
    path = write("pathless/mine.py", "def mine(response): return 1.0")
    write("pathless_module.py", "def mine(response): return 1.0")
    before = list(sys.path)
    load(str(path))
    load("pathless_module")
    assert sys.path == before


@pytest.mark.parametrize(
    ("source", "told", "cause"),
    [
        pytest.param("x = 1\ny = 1 / 0\n", ["ZeroDivisionError", "line 2"], ZeroDivisionError, id="raises"),
        pytest.param("x = 1\ndef f(:\n", ["SyntaxError", "line 2", "def f(:"], SyntaxError, id="syntax"),
        pytest.param("import absent_package\n", ["absent_package", "line 1"], ModuleNotFoundError, id="import"),
        pytest.param("import sys\nsys.exit(3)\n", ["SystemExit: 3", "line 2"], SystemExit, id="exit"),
        pytest.param("import json\njson.loads('{')\n", ["JSONDecodeError", "line 2"], ValueError, id="raises deeper"),
    ],
)
@pytest.mark.parametrize("spec", ["failing.py", "failing:mine", "failing.mine"])
def test_a_file_that_fails_on_import_is_blamed_with_its_line(write, source, told, cause, spec):
    write("failing.py", source)
    with pytest.raises(RewardNotLoaded) as caught:
        load(spec)
    assert isinstance(caught.value.__cause__, cause)
    assert all(part in str(caught.value) for part in ["importing failing", "failing.py", *told]), caught.value


def test_a_file_that_is_not_utf8_is_an_error_not_a_crash(folder):
    (folder / "latin.py").write_bytes(b"name = 'caf\xe9'\n")
    with pytest.raises(RewardNotLoaded, match="SyntaxError"):
        load("latin.py")


def test_a_file_that_failed_loads_after_a_correction(write):
    path = write("mended.py", "raise RuntimeError")
    with pytest.raises(RewardNotLoaded):
        load(str(path))
    path.write_text("def mine(response): return 1.0")
    assert load(str(path))(SAMPLE) == [1.0]


def test_ctrl_c_during_an_import_is_not_swallowed(write):
    write("interrupted.py", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load("interrupted.py")


PACKAGE = {
    "repo/rewarding/__init__.py": "from rewarding.registry import REWARDS\nfrom . import math_rewards\n",
    "repo/rewarding/registry.py": "REWARDS = {}\n\ndef register(function):\n    REWARDS[function.__name__] = function\n"
    "    return function\n",
    "repo/rewarding/math_rewards.py": "from . import registry\nfrom .tools.numbers import last\n\n"
    "@registry.register\ndef right(response, ground_truth):\n    return float(last(response) == ground_truth)\n",
    "repo/rewarding/tools/__init__.py": "",
    "repo/rewarding/tools/numbers.py": "def last(text):\n    return text.split()[-1]\n",
}


def test_a_file_inside_a_package_is_a_member_of_it(write):
    for name, source in PACKAGE.items():
        path = write(name, source)
    loaded = load(f"{path.parents[2]}/rewarding/math_rewards.py:right")
    assert loaded([Trajectory("2+2?", "It is 4", ground_truth="4")]) == [1.0]
    assert loaded.function is sys.modules["rewarding"].REWARDS["right"]  # imported once
    assert str(path.parents[2]) not in sys.path


def test_relative_imports_work_in_folders_without_init(write):
    write("loose/agent/data.py", "MARK = '####'\n")
    path = write(
        "loose/agent/rewards.py", "from .data import MARK\ndef marked(response): return float(MARK in response)\n"
    )
    assert load(f"{path}:marked")([Trajectory("?", "#### 4"), Trajectory("?", "4")]) == [1.0, 0.0]


def test_packages_of_one_name_in_two_folders_do_not_mix(write):
    for place, value in (("one", 1.0), ("two", 2.0)):
        write(f"{place}/samename/__init__.py", "")
        write(f"{place}/samename/values.py", f"VALUE = {value}\n")
        path = write(
            f"{place}/samename/rewards.py", "from samename.values import VALUE\ndef f(response): return VALUE\n"
        )
        assert load(f"{path}:f")([Trajectory("?", "!")]) == [value]


def test_a_file_can_import_packages_of_its_project_by_name(write):
    write("marked/pyproject.toml", "")
    write("marked/src/of_project/answers.py", "RIGHT = 1.0")
    write("marked/servers/other.py", "HALF = 0.5")
    path = write(
        "marked/servers/mine/reward.py",
        """
        from of_project.answers import RIGHT
        from servers.other import HALF

        def mine(response): return RIGHT + HALF
        """,
    )
    before = list(sys.path)
    assert load(str(path))(SAMPLE) == [1.5]
    assert sys.path == before


def test_a_folder_above_is_no_project_without_a_mark_and_hides_nothing_installed(write):
    write("bare/elsewhere.py", "RIGHT = 1.0")
    path = write("bare/inner/reward.py", "from elsewhere import RIGHT\n\ndef mine(response): return RIGHT")
    with pytest.raises(RewardNotLoaded, match="No module named 'elsewhere'"):
        load(str(path))
    write("shadowing/setup.py", "")
    write("shadowing/numpy/__init__.py", "raise RuntimeError('not this one')")
    path = write("shadowing/inner/reward.py", "import numpy\n\ndef mine(response): return float(numpy.int64(2))")
    assert load(str(path))(SAMPLE) == [2.0]
