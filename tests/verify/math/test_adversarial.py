"""No input hangs the verifier, fills the memory or gets more than it deserves."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.verify.math.adversarial_inputs import ANY, ATTACKS, NEVER_RIGHT, NEVER_WRONG, RIGHT, WRONG

MEBIBYTES = 200
RUN = """
import json, resource, sys
sys.path.insert(0, {folder!r})
from plaudit.verify import verify_math
from tests.verify.math.adversarial_inputs import ATTACKS
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
verdicts = {{}}
for name, attack in ATTACKS.items():
    verdict = verify_math(attack.truth, attack.response)
    verdicts[name] = (verdict.correct, verdict.status.value)
status = open("/proc/self/status").read()
peak = int(status.split("VmHWM:")[1].split()[0]) // 1024
json.dump({{"verdicts": verdicts, "peak": peak}}, sys.stdout)
"""
ALLOWED = {
    RIGHT: {"right"},
    WRONG: {"wrong"},
    NEVER_RIGHT: {"wrong", "unparsed"},
    NEVER_WRONG: {"right", "unparsed"},
    ANY: {"right", "wrong", "unparsed"},
}


@pytest.fixture(scope="module")
def run():
    """All attacks in one process of its own, with limits on its time and memory."""
    code = RUN.format(folder=str(Path(__file__).parents[3]), limit=1024 * 2**20)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gets_what_mathematics_says_or_unparsed(run, name):
    correct, status = run["verdicts"][name]
    outcome = "right" if correct else "unparsed" if status.startswith("unparsed") else "wrong"
    assert outcome in ALLOWED[ATTACKS[name].expected]


def test_no_attack_fills_the_memory(run):
    assert run["peak"] < MEBIBYTES


def test_there_are_enough_attacks():
    assert len(ATTACKS) >= 60
