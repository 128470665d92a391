"""Files that others wrote give the numbers of their home, or an error that names what is missing; no other numbers.

They run in a process of their own that reaches no hub: what they import, print and patch stays there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.foreign import FAILS, MEANING, OTHER, REFUSED, SAME
from tests.shared_data import shared

ROOT = Path(__file__).parents[2]
NEEDS_MORE = {
    ("examples__python__reward_func.py", "reward_func"),  # writes a log to a folder of its author
    ("examples__train__grpo__plugin__plugin.py", "CountdownORM"),  # reads a column that the samples do not have
    ("examples__sglang_multiturn__gsm8k_toolcall_shaping__gsm8k_toolcall_shaping.py", "compute_score"),  # needs verl
}
RUN = "import json, sys; from benchmarks.foreign import run; json.dump([vars(each) for each in run([])], sys.stdout)"


@pytest.fixture(scope="module")
def results() -> list[dict[str, str]]:
    """One for each entry; none in a user's clone, where the tests beside this one use files of our own."""
    if shared("foreign") is None:
        return []
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=ROOT, env=offline, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_no_file_gives_other_numbers_than_its_home(results):
    assert {each["verdict"] for each in results} <= set(MEANING)
    assert [each for each in results if each["verdict"] == OTHER] == []


def test_every_failing_public_file_is_on_the_list(results):
    failing = {(each["path"].rpartition("/")[2], each["entry"]) for each in results if each["verdict"] == FAILS}
    assert failing <= NEEDS_MORE


def test_every_refusal_has_a_reason(results):
    assert [each for each in results if each["verdict"] == REFUSED and not each["detail"]] == []


def test_most_entries_with_recorded_numbers_give_them(results):
    assert sum(each["verdict"] == SAME for each in results) >= (45 if results else 0)
