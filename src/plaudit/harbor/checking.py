"""`plaudit harbor check`: is a task well formed, does its solution earn 1 and doing nothing 0, and always the same?"""

import re
import time
from collections.abc import Iterator
from pathlib import Path

from plaudit.errors import SandboxError
from plaudit.findings import Severity
from plaudit.harbor.images import Runtime
from plaudit.harbor.reporting import State, TaskFinding, TaskReport
from plaudit.harbor.task import Task
from plaudit.harbor.trial import TaskRunner, Trial, solution_of

TRIED = ["files", "keys", "sources", "oracle", "nop", "determinism", "duration", "reward file"]
_UNPINNED_PIP = re.compile(r"\bpip3?\s+install\s+((?:(?!&&|;|\||#).)+)")
_SOURCES = {
    "unpinned image": (
        re.compile(r"^FROM\s+(?![^\s]*@)(?:[^\s:]+|[^\s]+:latest)(?:\s|$)", re.MULTILINE | re.IGNORECASE),
        "name a version or a digest",
    ),
    "unpinned clone": (re.compile(r"\bgit\s+clone\b(?!.*(?:--branch|-b\s|checkout|reset))"), "check out a commit"),
    "piped download": (
        re.compile(r"\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b"),
        "pin a version and verify a checksum",
    ),
}
_DOWNLOAD = re.compile(
    r"\b(?:curl|wget|uvx|npx|git clone|apt-get (?:update|install)|apt install|pip3? install|npm (?:i|ci|install))\b"
)
SLOW_SHARE = 0.5


def check_task(
    task: Task, runtime: Runtime, *, mode: str | None = None, key: str = "reward", repeats: int = 2
) -> TaskReport:
    """Check the folder, then run oracle and nop `repeats` times each."""
    report = TaskReport(task.name, State.RAN, mode or task.mode, tried=list(TRIED))
    start = time.monotonic()
    report.findings += [*_static(task)]
    try:
        with TaskRunner(task, runtime, mode, key) as runner:
            oracle = [runner.run(solution_of("oracle", task)) for _ in range(repeats)]
            nop = [runner.run(solution_of("nop", task)) for _ in range(repeats)]
        report.trials = 2 * repeats
        report.notes += list(dict.fromkeys(note for trial in (*oracle, *nop) for note in trial.notes))
        report.findings += [*_exact("oracle", oracle, 1.0), *_exact("nop", nop, 0.0), *_durations(task, oracle)]
    except SandboxError as error:
        report.state = State.CANNOT_RUN
        report.notes.append(str(error))
    report.seconds = time.monotonic() - start
    return report


def _static(task: Task) -> Iterator[TaskFinding]:
    for step in task.steps:
        place = "" if step.outer is None else f"steps/{step.name}/"
        for name in ("instruction.md", "solution/solve.sh", "tests/test.sh"):
            folders = [each.parent for each in step.tests] if name.startswith("tests/") else [step.folder]
            if not any((folder / name).is_file() for folder in folders):
                yield TaskFinding("files", f"there is no {place}{name}", f"add {place}{name}")
        if not step.instruction.strip() and (step.folder / "instruction.md").is_file():
            yield TaskFinding("files", f"{place}instruction.md is empty", "say what is to be done")
    for link in (path for path in task.folder.rglob("*") if path.is_symlink()):
        if not link.resolve().is_relative_to(task.folder):
            yield TaskFinding(
                "files", f"{link.relative_to(task.folder)} is a link that leaves the task", "copy the file"
            )
    for problem in task.problems:
        yield TaskFinding("keys", problem, "correct task.toml")
    for name in ("schema_version", "task"):
        if name not in task.tables and not (name == "schema_version" and "version" in task.tables):
            yield TaskFinding("keys", f"task.toml has no {name}", f"add {name}", Severity.WARNING)
    for path in [*task.folder.glob("*/Dockerfile"), *task.folder.glob("*/*.sh"), *task.folder.glob("steps/*/*/*.sh")]:
        yield from _sources(path, path.relative_to(task.folder).as_posix())


def _sources(path: Path, name: str) -> Iterator[TaskFinding]:
    text = re.sub(r"^\s*#.*$", "", path.read_text(encoding="utf-8", errors="replace"), flags=re.MULTILINE)
    for what, (pattern, remedy) in _SOURCES.items():
        if (path.name == "Dockerfile" or what != "unpinned image") and (match := pattern.search(text)):
            yield TaskFinding("sources", f"{name}: {what}", remedy, Severity.WARNING, match[0].strip())
    for match in _UNPINNED_PIP.finditer(text.replace("\\\n", " ")):
        loose = [word for word in match[1].split() if re.fullmatch(r"[A-Za-z][\w.\[\],-]*", word.strip("'\""))]
        if loose:
            message = f"{name}: unpinned package {loose[0]}"
            yield TaskFinding("sources", message, "pin it with ==", Severity.WARNING, match[0])
    if name.startswith("tests/") and name.endswith(".sh") and (match := _DOWNLOAD.search(text)):
        message = f"{name} downloads while it verifies: a failed download looks like a failed solution"
        yield TaskFinding("sources", message, "install it in the image", Severity.WARNING, match[0])


def _exact(name: str, trials: list[Trial], expected: float) -> Iterator[TaskFinding]:
    outcomes = [trial.outcome for trial in trials]
    witness = trials[0].log[-1000:]
    unscored = next((trial for trial in trials if trial.reward is None), None)
    if unscored is not None:
        message, remedy = f"{name} was not scored: {unscored.outcome}", "write reward.txt or a flat reward.json always"
        yield TaskFinding("reward file", message, remedy, witness=unscored.log[-1000:])
    elif any(trial.reward != expected for trial in trials):
        message = f"{name} earns {' and '.join(dict.fromkeys(outcomes))}, not {expected:g}"
        remedy = "correct the solution or the tests" if expected else "pay nothing for the untouched image"
        yield TaskFinding(name, message, remedy, witness=witness)
    results = [(trial.reward, {n: c.reward for n, c in trial.output.components.items()}) for trial in trials]
    if any(each != results[0] for each in results):
        message = f"{name} earned {', '.join(outcomes)} in {len(trials)} runs"
        yield TaskFinding("determinism", message, "remove what is random, timed or depends on order")
    if any(trial.output.ok and trial.output.reason for trial in trials):
        message = "reward.json and reward.txt disagree, and programs differ in which they read"
        yield TaskFinding("reward file", message, "write one of them", Severity.WARNING)


def _durations(task: Task, trials: list[Trial]) -> Iterator[TaskFinding]:
    for phase in ("agent", "verifier"):
        limit = task.seconds(phase, 600.0)
        longest = max(trial.seconds.get(phase, 0.0) for trial in trials)
        if longest > SLOW_SHARE * limit:
            message = f"the {phase} phase took {longest:.1f} of {limit:g} s"
            yield TaskFinding("duration", message, "raise timeout_sec", Severity.WARNING)
