"""What three ways of judging code grant to programs that cheat.

Ours, pytest in a subprocess (by its exit code, and by the word "passed" as in OpenRLHF's guide), and a harness which
runs program and tests in one forked process and takes its word. The last two are written here for comparison; they run
the forgeries without any protection, in a temporary folder, so run this where that is acceptable.

    python benchmarks/forgeries.py [EVERY]

runs every so many-th forgery: all of them take more than ten minutes.
"""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from plaudit import Trajectory
from plaudit.rewards import CodeReward
from tests.rewards.forgery_list import FORGERIES, Forgery

TIMEOUT_S = 10.0
RUN_ALL = """
for _name, _test in list(globals().items()):
    if _name.startswith("test_"):
        _test()
"""


def ours(forgeries: list[Forgery]) -> list[bool]:
    samples = [
        Trajectory(prompt="?", response=f"```python\n{one.source}```", ground_truth=one.truth) for one in forgeries
    ]
    return [bool(output.reward) for output in CodeReward(cpu_s=0.5).compute_rewards(samples)]


def test_text(truth: Any) -> str:
    """The tests of a forgery as the text of a test file."""
    if isinstance(truth, str):
        return truth
    if "inputs" in truth and "fn_name" in truth:
        pairs = list(zip(truth["inputs"], truth["outputs"], strict=True))
        asserts = "\n".join(f"    assert {truth['fn_name']}(*{given!r}) == {expected!r}" for given, expected in pairs)
        return f"def test_calls():\n{asserts}\n"
    tests = truth["tests"]
    text = "\n".join(tests) if isinstance(tests, list) else tests
    if "def test" in text or "class Test" in text:
        return text
    if "def check(" in text:
        return f"{truth.get('prompt', '')}\n{text}\ndef test_check():\n    check({truth['entry_point']})\n"
    body = "\n".join(f"    {line}" for line in text.splitlines())
    return f"def test_all():\n{body}\n"


def by_pytest(forgery: Forgery) -> tuple[bool, bool]:
    """(granted by exit code, granted by the word "passed")."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "solution.py").write_text(forgery.source, encoding="utf-8", errors="surrogatepass")
        Path(folder, "test_solution.py").write_text(f"from solution import *\nimport math\n{test_text(forgery.truth)}")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_solution.py"]
        done = _run(command, folder)
        return (done is not None and done[0] == 0), (done is not None and "passed" in done[1])


def by_streams(forgery: Forgery) -> bool:
    """Lines paired with `zip`, as many harnesses do."""
    granted = True
    for given, expected in zip(forgery.truth["inputs"], forgery.truth["outputs"], strict=True):
        done = _run([sys.executable, "-c", forgery.source], tempfile.gettempdir(), given)
        lines = [] if done is None else done[1].splitlines()
        granted &= all(one.strip() == other.strip() for one, other in zip(lines, expected.splitlines(), strict=False))
    return granted


def _run(command: list[str], folder: str, given: str = "") -> tuple[int, str] | None:
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    try:
        printed, _ = process.communicate(given.encode(), timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return process.returncode, printed.decode(errors="replace")


def in_one_process(forgery: Forgery) -> bool:
    """Fork, run program and tests together, believe the word that comes back, or a clean exit."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _judge_itself(forgery, writing)
    os.close(writing)
    deadline, said, status = time.monotonic() + TIMEOUT_S, b"", None
    while time.monotonic() < deadline and status is None:
        if select.select([reading], [], [], 0.05)[0]:
            said += os.read(reading, 1000)
        pid, code = os.waitpid(child, os.WNOHANG)
        status = code if pid else None
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(reading)
    return b"passed" in said or (status == 0 and not said)


def _judge_itself(forgery: Forgery, writing: int) -> None:
    """In the child: what such harnesses do. The verdict is a word, or a clean exit without one."""
    os.chdir(tempfile.mkdtemp())
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    text = test_text(forgery.truth).replace("from solution import total", "")
    program = f"{forgery.source}\n{text}\n{RUN_ALL}"
    try:
        exec(compile(program, "<both>", "exec"), {"__name__": "both", "math": __import__("math")})
        os.write(writing, b"passed")
    except SystemExit:
        os._exit(0)
    except BaseException:  # noqa: BLE001  # the harness takes any exception for a failure
        os.write(writing, b"failed")
    os._exit(0)


def main(every: int) -> None:
    forgeries = FORGERIES[::every]
    split = ours(forgeries)
    grants: dict[str, list[bool]] = {
        "plaudit": split,
        "pytest, exit code": [],
        'pytest, "passed"': [],
        "one process": [],
    }
    for forgery in forgeries:
        if forgery.family == "streams":
            row = [by_streams(forgery)] * 3
        else:
            row = [*by_pytest(forgery), in_one_process(forgery)]
        for name, granted in zip(list(grants)[1:], row, strict=True):
            grants[name].append(granted)
    _tell(forgeries, grants)


def _tell(forgeries: list[Forgery], grants: dict[str, list[bool]]) -> None:
    families = list(dict.fromkeys(forgery.family for forgery in forgeries))
    counted: Callable[[list[bool], str], int] = lambda granted, family: sum(  # noqa: E731
        yes for yes, forgery in zip(granted, forgeries, strict=True) if forgery.family == family
    )
    print(f"{'family':14}{'forgeries':>10}" + "".join(f"{name:>20}" for name in grants))
    for family in families:
        count = sum(forgery.family == family for forgery in forgeries)
        print(f"{family:14}{count:>10}" + "".join(f"{counted(granted, family):>20}" for granted in grants.values()))
    print(f"{'all':14}{len(forgeries):>10}" + "".join(f"{sum(granted):>20}" for granted in grants.values()))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
