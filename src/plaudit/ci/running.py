"""Run the steps of reward CI for every reward of a project.

Each step runs the command of its name in a process of its own, in the working tree or in the released version. A step
that cannot be run is left out with the reason: it has neither passed nor failed.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from plaudit.ci.commands import CommandResult, run_command
from plaudit.ci.lock import LOCK, compare_lock, lock_entry, read_lock
from plaudit.ci.project import NoRelease, Project, Release, RewardEntry, check_out, find_release, read_project
from plaudit.diff import compare_files
from plaudit.errors import InvalidSettings


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step for one reward; `details` are what the command printed, or the part of it that counts."""

    status: Literal["passed", "failed", "left out"]
    summary: str
    details: Any = None


@dataclass(frozen=True, slots=True)
class CiReport:
    """The results by reward and step, and the release they were compared with, or why there is none."""

    rewards: dict[str, dict[str, StepResult]]
    release: Release | None
    no_release: str = ""

    @property
    def passed(self) -> bool:
        """Whether no step has failed."""
        return not any(result.status == "failed" for steps in self.rewards.values() for result in steps.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "passed": self.passed}


def run_ci(
    project: Project,
    *,
    against: str | None = None,
    steps: Sequence[str] = (),
    on_step: Callable[[str, str], None] = lambda reward, step: None,
) -> CiReport:
    """Run steps, by default all, for all rewards; `against` names a commit in place of the newest tag."""
    with tempfile.TemporaryDirectory(prefix="plaudit-ci-") as folder:
        versions = _Versions(project, Path(folder))
        if any(step in OF_RELEASE for step in steps or STEPS):
            versions.check_out_release(against)
        results: dict[str, dict[str, StepResult]] = {}
        for name in project.settings.rewards:
            for step in steps or STEPS:
                on_step(name, step)
                results.setdefault(name, {})[step] = STEPS[step](versions, name)
        return CiReport(results, versions.release, versions.no_release)


@dataclass
class _Versions:
    """The working tree, and the release in a temporary folder."""

    project: Project
    scratch: Path
    release: Release | None = None
    released: Path | None = None
    no_release: str = ""
    _specs: dict[str, str] = field(default_factory=dict)

    def check_out_release(self, against: str | None) -> None:
        try:
            self.release = find_release(self.project.folder, self.project.settings.tag, against)
            self.released = check_out(self.release, self.project.folder, self.scratch)
        except NoRelease as error:
            self.no_release = str(error)

    def run(self, *arguments: str | Path, folder: Path | None = None) -> CommandResult:
        return run_command(arguments, folder or self.project.folder, self.project.settings.seconds)

    def entry(self, name: str) -> RewardEntry:
        return self.project.settings.rewards[name]

    def samples(self, name: str) -> list[Path]:
        """The rollouts of the working tree: both versions get the same."""
        rollouts = self.entry(name).rollouts
        return [] if rollouts is None else [self.project.path(rollouts)]

    def released_spec(self, name: str) -> str:
        """The spec of a reward in the release; raises NoRelease where the release has no such code of its own."""
        if self.released is None or self.release is None:
            raise NoRelease(f"no released version: {self.no_release}")
        if name not in self._specs:
            try:
                spec = read_project(self.released).settings.rewards[name].reward
            except (InvalidSettings, KeyError):  # declared later, or its files are not in git
                spec = self.entry(name).reward
            described = self.run("rewards", "--json", "--", spec, folder=self.released)
            if described.code != 0:
                raise NoRelease(f"{self.release.ref} has no such reward: {described.message}")
            files = described.value.get("contents", {}).get("files")
            if files is None:
                raise NoRelease(f"the code of {spec} in {self.release.ref} is in no file")
            old, new = self.scratch.resolve(), self.project.folder
            current = [each for each in map(Path, files) if each.is_relative_to(new) and not each.is_relative_to(old)]
            if current:
                raise NoRelease(f"{spec} in {self.release.ref} loads {current[0]} of the working tree")
            self._specs[name] = spec
        return self._specs[name]


def _test(versions: _Versions, name: str) -> StepResult:
    entry = versions.entry(name)
    if entry.cases is None:
        return StepResult("left out", "no case table: set `cases`")
    deadline = str(versions.project.settings.deadline)
    done = versions.run(
        "test", "--json", "--deadline", deadline, "--", entry.reward, versions.project.path(entry.cases)
    )
    if not isinstance(done.value, list):
        return StepResult("failed", f"not run: {done.message}")
    failed = [case for case in done.value if not case["passed"]]
    summary = f"{len(done.value) - len(failed)} of {len(done.value)} cases passed"
    return StepResult("failed" if failed else "passed", summary, failed)


def _check(versions: _Versions, name: str) -> StepResult:
    deadline = str(versions.project.settings.deadline)
    options = ["check", "--json", "--deadline", deadline]
    done = versions.run(*options, "--", versions.entry(name).reward, *versions.samples(name))
    if not isinstance(done.value, list):
        return StepResult("failed", f"not run: {done.message}")
    errors = [finding for finding in done.value if finding["severity"] == "error"]
    summary = f"{len(errors)} errors, {len(done.value) - len(errors)} warnings and notes"
    return StepResult("failed" if errors else "passed", summary, done.value)


def _audit(versions: _Versions, name: str) -> StepResult:
    entry, settings = versions.entry(name), versions.project.settings
    options: list[str | Path] = ["audit", "--json", "--quiet", "--calls", str(settings.audit_calls)]
    options += [] if entry.cases is None else ["--cases", versions.project.path(entry.cases)]
    accepted = [] if entry.baseline is None else [f"--baseline={versions.project.path(entry.baseline)}"]
    done = versions.run(*options, *accepted, "--", entry.reward, *versions.samples(name))
    if not isinstance(done.value, dict):
        return StepResult("failed", f"not run: {done.message}")
    known = set[tuple[str, str, str]]()
    notes = [*done.value["notes"], *(f"not tried: {reason}" for reason in done.value["untried"])]
    try:
        spec = versions.released_spec(name)
        old = versions.run(*options, "--", spec, *versions.samples(name), folder=versions.released)
        if not isinstance(old.value, dict):
            raise NoRelease(f"the audit of the release stopped: {old.message}")
        known = {_finding_key(old.value, each) for each in old.value["findings"]}
        notes += [f"release: {note}" for note in old.value["notes"]]
    except NoRelease as error:
        notes.append(f"all count as new: {error}")
    findings = done.value["findings"]
    if not findings and not done.value["searched"] and not done.value["accepted"]:
        return StepResult("left out", f"not attacked: {'; '.join(notes)}")
    new = [finding for finding in findings if _finding_key(done.value, finding) not in known]
    summary = "; ".join([f"{len(new)} new of {len(findings)} findings", *notes])
    return StepResult("failed" if len(new) > settings.max_new_exploits else "passed", summary, new)


def _finding_key(report: dict[str, Any], finding: dict[str, Any]) -> tuple[str, str, str]:
    """A finding by its attack and its component; the reward itself may have another name in the release."""
    component = finding["component"]
    return finding["family"], finding["operator"], "" if component == report["name"] else component


def _diff(versions: _Versions, name: str) -> StepResult:
    entry, settings = versions.entry(name), versions.project.settings
    if entry.rollouts is None:
        return StepResult("left out", "no samples: set `rollouts`")
    try:
        specs = {"old": versions.released_spec(name), "new": entry.reward}
    except NoRelease as error:
        return StepResult("left out", str(error))
    files = {side: versions.scratch / f"{side}.jsonl" for side in specs}
    for side, spec in specs.items():
        options = ["--json", "--quiet", "--overwrite", "--max-unscored", "1", "--deadline", str(settings.deadline)]
        folder = versions.released if side == "old" else None
        done = versions.run("score", *options, "-o", files[side], "--", spec, *versions.samples(name), folder=folder)
        if done.code != 0:
            status: Literal["failed", "left out"] = "failed" if side == "new" else "left out"
            return StepResult(status, f"the {side} version did not score the samples: {done.message}")
    difference = compare_files(files["old"], files["new"], threshold=entry.threshold)
    one_sided = sum((each.old is None) is not (each.new is None) for each in difference.flips)
    neither = difference.count - difference.compared - one_sided
    share = len(difference.flips) / difference.count if difference.count else 0.0
    means = " → ".join("none" if mean is None else f"{mean:.4g}" for mean in (difference.mean.old, difference.mean.new))
    summary = (
        f"{len(difference.flips)} of {difference.count} samples flip, {difference.changed} rewards differ; "
        f"scored by one version only: {one_sided}, by neither: {neither}; mean {means}"
    )
    return StepResult("failed" if share > settings.max_flips else "passed", summary, difference.to_dict())


def _mutation(versions: _Versions, name: str) -> StepResult:
    entry, settings = versions.entry(name), versions.project.settings
    if entry.cases is None:
        return StepResult("left out", "no case table: set `cases`")
    options = ["--json", "--most", str(settings.mutants), "--seconds", str(settings.seconds)]
    done = versions.run("mutate", *options, "--", entry.reward, versions.project.path(entry.cases))
    if not isinstance(done.value, dict):
        return StepResult("left out", done.message)
    score, killed, survived = (done.value[part] for part in ("score", "killed", "survived"))
    if score is None:
        return StepResult("left out", "no mutant of it can be loaded")
    counts = {
        "killed by the time limit": "timed_out",
        "could not be loaded": "unloadable",
        "equivalent": "equivalent",
        "not tried": "untried",
    }
    others = [f"{done.value[part]} {text}" for text, part in counts.items() if done.value[part]]
    summary = "; ".join([f"{score:.0%}: {killed} of {killed + len(survived)} mutants killed", *others])
    return StepResult("failed" if score < settings.min_mutation_score else "passed", summary, done.value)


def _lock(versions: _Versions, name: str) -> StepResult:
    path = versions.project.path(LOCK)
    if not path.exists():
        return StepResult("left out", f"no {LOCK}: `plaudit lock` writes it")
    try:
        locked = read_lock(path)
        current = lock_entry(versions.project, name)
    except InvalidSettings as error:
        return StepResult("failed", str(error))
    changes = ["it is not in the lock"] if name not in locked else compare_lock(locked[name], current)
    if not changes:
        return StepResult("passed", f"content key {current['key'][:12]}")
    return StepResult("failed", "; ".join(changes) + "; `plaudit lock` accepts that", changes)


STEPS: dict[str, Callable[[_Versions, str], StepResult]] = {
    "test": _test, "check": _check, "audit": _audit, "diff": _diff, "mutation": _mutation, "lock": _lock,
}  # fmt: skip
"""Every step by name, in the order in which they run."""
OF_RELEASE = ("audit", "diff")
