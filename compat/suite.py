"""One conformance suite for every system, run inside the environment of the real package: `python suite.py verl`.

The same reward over the same rollouts must give the same numbers through the package's own call path as in plaudit
alone; a reward that hangs, raises or gives None must not stop it; a reward of groups sees whole groups or is refused;
a reward shipped with the package, imported, must give the numbers of its home; episodes must have the same tokens,
masks, rewards and scores. Prints what was found as JSON.
"""

import importlib
import importlib.metadata
import json
import math
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
GROUP = 3
DEADLINE_S = 3.0


@dataclass(frozen=True)
class Rollout:
    """One sample as every system can be given it."""

    prompt: str
    response: str
    truth: str
    group: int


@dataclass(frozen=True)
class Shipped:
    """A reward that the package ships: its spec, and what the package itself gives for rollouts."""

    spec: Any
    home: Callable[[list[Rollout]], list[float]]
    rollouts: list[Rollout] | None = None
    dialect: str | None = None


ROLLOUTS = [
    Rollout(prompt, response, truth, group)
    for group, (prompt, truth, responses) in enumerate(
        [
            ("What is 2 + 2?", "4", ["The answer is 4.", "#### 4", "I think it is \\boxed{5}"]),
            ("What is 3 * 7?", "21", ["<answer>21</answer>", "\\boxed{21}", "twenty – ünïcode ✓"]),
        ]
    )
    for response in responses
]
FAULTS = [
    Rollout("What is 2 + 2?", response, "4", 0) for response in ("4", "please raise", "none", "hang", "5", "so 4")
]


def check_numbers(home: Any, form: str, folder: Path) -> None:
    """The numbers of plaudit alone."""
    values = home.FORMS[form](_shim(form, "quality", folder), ROLLOUTS)
    _compare(values, _alone("quality", ROLLOUTS))


def check_faults(home: Any, form: str, folder: Path) -> str:
    """What could be scored has its number; what could not follows the policy; nothing stops."""
    from plaudit.exports.exporting import EXPORTS

    policy = EXPORTS[form].policies[0]
    values = home.FORMS[form](_shim(form, "faulty", folder), FAULTS)
    _compare([values[place] for place in (0, 4, 5)], [1.0, 0.0, 1.0])
    for place in (1, 2, 3):
        left_out = values[place] is None or math.isnan(values[place])
        if left_out != (policy in ("none", "nan", "raise")):
            raise AssertionError(f"{FAULTS[place].response!r} got {values[place]} under the policy {policy}")
    return str(policy)


def check_groups(home: Any, form: str, folder: Path) -> str:
    """Whole groups, or an error before the first sample."""
    from plaudit.errors import InvalidSettings

    try:
        shim = _shim(form, "rank", folder, group_size=GROUP)
    except InvalidSettings:
        return "refused"
    _compare(home.FORMS[form](shim, ROLLOUTS), _alone("rank", ROLLOUTS))
    return "whole"


def check_served(path: str, ask: Callable[[str, list[Rollout]], list[float]]) -> None:
    """The numbers of plaudit alone, from `plaudit serve` through the package's own HTTP client."""
    from plaudit.serving import ServerSettings, ServerThread

    with ServerThread(ServerSettings(rewards=(f"{HERE}/rewards.py:quality",), port=0, workers=1)) as server:
        _compare(ask(f"{server.address}/{path}", ROLLOUTS), _alone("quality", ROLLOUTS))


def check_shipped(shipped: Shipped) -> None:
    """The numbers of its home."""
    import plaudit

    rollouts = shipped.rollouts or ROLLOUTS
    reward = plaudit.load(shipped.spec, dialect=shipped.dialect)
    outputs = plaudit.score(reward, [_trajectory(each) for each in rollouts])
    failed = next((output.reason for output in outputs if not output.ok), None)
    if failed:
        raise AssertionError(failed)
    _compare([output.reward for output in outputs], shipped.home(rollouts))


def _shim(form: str, name: str, folder: Path, **options: Any) -> Path:
    from plaudit.exports import write_shim

    file = folder / f"shim_{form.replace(':', '_')}_{name}.py"
    write_shim(f"{HERE}/rewards.py:{name}", form, file, workers=1, deadline_s=DEADLINE_S, **options)
    return file


def load_shim(file: Path) -> Any:
    """The module of a shim, as a trainer imports it."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def _trajectory(rollout: Rollout) -> Any:
    import plaudit

    return plaudit.Trajectory(rollout.prompt, rollout.response, ground_truth=rollout.truth, group=rollout.group)


def _alone(name: str, rollouts: list[Rollout]) -> list[float | None]:
    import plaudit

    return [output.reward for output in plaudit.score(f"{HERE}/rewards.py:{name}", map(_trajectory, rollouts))]


def _compare(values: Any, expected: Any) -> None:
    values = [float(value) for value in values]
    if len(values) != len(expected) or not all(
        math.isclose(a, float(b), rel_tol=1e-5, abs_tol=1e-6) for a, b in zip(values, expected, strict=True)
    ):
        raise AssertionError(f"{values}, not {list(map(float, expected))}")


def _attempt(results: list[dict[str, Any]], what: str, subject: str, check: Callable[[], Any]) -> None:
    try:
        results.append({"what": what, "subject": subject, "passed": True, "detail": check() or ""})
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        results.append(
            {"what": what, "subject": subject, "passed": False, "detail": f"{type(error).__name__}: {error}"[:300]}
        )


def main(name: str) -> None:
    """Run every check of one system and print the results."""
    home = importlib.import_module(f"homes.{name}")
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for form in home.FORMS:
            for what, check in (("export", check_numbers), ("unscored", check_faults), ("groups", check_groups)):
                _attempt(results, what, form, lambda form=form, check=check: check(home, form, Path(folder)))
    for path, ask in getattr(home, "SERVED", {}).items():
        _attempt(results, "served", path, lambda path=path, ask=ask: check_served(path, ask))
    for shipped in home.shipped():
        _attempt(results, "import", str(shipped.spec), lambda shipped=shipped: check_shipped(shipped))
    for subject, check in getattr(home, "EPISODES", {}).items():
        _attempt(results, "episodes", subject, check)
    version, ships = importlib.metadata.version(home.DISTRIBUTION), getattr(home, "SHIPS", "")
    print(json.dumps({"system": home.SYSTEM, "version": version, "ran": home.RAN, "ships": ships, "results": results}))


if __name__ == "__main__":
    sys.modules["suite"] = sys.modules["__main__"]
    main(sys.argv[1])
