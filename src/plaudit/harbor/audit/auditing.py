"""`plaudit harbor audit`: attack a task's verifier, and test it with mutants and rewritings of its solution.

Everything is run as a trial in the mode that the task declares. What must earn nothing and earns 1 is a finding; so is
a correct solution written in another way that earns less. A mutant counts only where a run of it shows that it
behaves differently on values that the task itself mentions, since other mutants may be right.
"""

import ast
import difflib
import re
import shlex
import time
from collections.abc import Iterator
from itertools import zip_longest

from plaudit.errors import SandboxError
from plaudit.findings import Severity
from plaudit.harbor.audit.attacks import IMITATED, JUNK, Seen, all_attacks, test_texts
from plaudit.harbor.audit.equivalents import equivalents_of
from plaudit.harbor.audit.mutants import mutants_of
from plaudit.harbor.audit.probing import Prober
from plaudit.harbor.audit.products import Product, Products, Version, products_of, read_archive
from plaudit.harbor.audit.surface import Surface, find_surface
from plaudit.harbor.images import CannotRun, Runtime
from plaudit.harbor.reporting import State, TaskFinding, TaskReport
from plaudit.harbor.task import Task
from plaudit.harbor.trial import Solution, TaskRunner, Trial, solution_of
from plaudit.harbor.workspace import Entry

KINDS = (
    "forged reward file", "surviving process", "PATH shim", "test configuration", "module shadowing", "symlink",
    "verifier's rights", "answer in the image", "stub solution", "hard-coded output", "grep-based result",
    "ignored exit code", "surviving mutant", "overfitting",
)  # fmt: skip
MOST_OF_A_KIND = 3
MOST_TRIALS, MOST_SECONDS = 120, 180.0
"""Of the trials of a task, and of the time of its mutants."""
LEFT_OUT = "left out"
MOST_WRONG = 3
PASSING = 1.0
_CHECKER = re.compile(r"\b(?:python3?|pytest|diff|cmp|grep|test|node|jq|bash|sh|awk|make)\b|\[|/")
_IMAGE_FILES = """for d in /*; do case $d in /dev|/logs|/proc|/run|/sys|/tests|/solution) ;;
/bin|/boot|/etc|/lib*|/sbin|/usr|/var) find $d -xdev -newerct @{start} -type f -readable -size -256k ;;
*) find $d -type f -readable -size -256k ;; esac; done 2>/dev/null | head -5000
find /usr/local /var/tmp -type f -readable -size -256k 2>/dev/null | head -1000"""
"""The files that an agent can read, of system folders only those that came with the image of the task."""


def audit_task(task: Task, runtime: Runtime, *, mode: str | None = None, key: str = "reward") -> TaskReport:
    """Attack one task; `cannot run` where its solution does not run or does not earn 1."""
    report = TaskReport(task.name, State.RAN, mode or task.mode)
    start = time.monotonic()
    try:
        if task.steps != (task,):
            raise CannotRun("tasks with steps are run and checked, but not audited")
        with TaskRunner(task, runtime, mode, key) as runner:
            _Audit(runner, report).run()
    except SandboxError as error:
        report.state = State.CANNOT_RUN
        report.notes.append(str(error))
    report.seconds = time.monotonic() - start
    return report


class _Audit:
    """The trials of one task's audit, and the report they fill."""

    def __init__(self, runner: TaskRunner, report: TaskReport) -> None:
        self.runner, self.task, self.report = runner, runner.task, report
        self.workdir = runner.image.config.workdir
        self.prober = Prober(runner.image, self.task.instruction, test_texts(self.task))
        self.known = ""
        """The text that the agent can see: the instruction and the files of the image."""

    def run(self) -> None:
        oracle = self._trial(solution_of("oracle", self.task), observes=True)
        nop = self._trial(Solution("nop"), observes=True)
        self.report.notes += list(oracle.notes)
        if oracle.reward != PASSING:
            self.report.state = State.CANNOT_RUN
            self.report.notes.append(f"its solution earns {oracle.outcome}, so there is nothing to compare with")
            return
        if nop.reward is not None and nop.reward > 0:
            message = f"doing nothing earns {nop.outcome}"
            self._add("stub solution", message, nop.log[-500:], "pay nothing for the untouched image")
        if _is_paid(nop):
            self._find_ignored(Solution("nop"), "nothing was done")
            return
        self.runner.most_s = 4 + 4 * max(oracle.seconds["agent"], oracle.seconds["verifier"])
        products = products_of(nop.artifacts, oracle.artifacts, self.task.instruction, self.workdir)
        self.prober.beside = products.files
        self._attack(products, find_surface(self.runner, (oracle, nop), products))
        self._overfitting(products)
        self._mutants(products)
        self.report.notes += self.prober.notes

    def _trial(self, solution: Solution, *, observes: bool = False) -> Trial:
        self.report.trials += 1
        return self.runner.run(solution, observes=observes)

    def _add(self, kind: str, message: str, witness: str, remedy: str, severity: Severity = Severity.ERROR) -> None:
        self.report.findings.append(TaskFinding(kind, message, remedy, severity, witness))

    def _is_full(self, kind: str) -> bool:
        return sum(each.kind == kind for each in self.report.findings) >= MOST_OF_A_KIND

    def _attack(self, products: Products, surface: Surface) -> None:
        image_files = self._image_files()
        contents = (content for path, content in image_files.items() if not path.startswith(("$", "/etc/")))
        texts = (content.decode(errors="replace") for content in contents)
        self.known = "\n".join([self.task.instruction, *texts])
        samples, shown, usual = (
            list(dict.fromkeys(text for each in products.required for text in results(each)))
            for results in (self.prober.on_samples, self.prober.shown_values, self.prober.usual_results)
        )
        answering = [self.prober.with_shown_answers(each) for each in products.required]
        seen = Seen(image_files, samples, answering, shown, usual, self._wrong_results(products))
        for attack in all_attacks(self.task, self.runner.mode, products, surface, seen):
            if attack.kind not in self.report.tried:
                self.report.tried.append(attack.kind)
            if self._is_full(attack.kind):
                continue
            trial = self._trial(attack.solution)
            if _is_paid(trial):
                message = f"{attack.solution.name}: earns {trial.outcome} without a solution"
                self._add(attack.kind, message, attack.witness, attack.remedy, attack.severity)
                if attack.kind in IMITATED:
                    self._find_ignored(attack.solution, attack.witness)

    def _wrong_results(self, products: Products) -> dict[str, bytes]:
        """A changed version of each result, which the verifier rejects together; junk where it pays those."""
        junk = f"{JUNK}\n".encode()
        mutants = {each.path: mutants_of(each, self.task.instruction) for each in products.required}
        for index in range(MOST_WRONG):
            files = {path: each[index].content if index < len(each) else junk for path, each in mutants.items()}
            if not _is_paid(self._trial(Solution("wrong results", files))):
                return files
        return dict.fromkeys(mutants, junk)

    def _image_files(self) -> dict[str, bytes]:
        """The files outside system folders that the agent can read before it begins."""
        with self.runner.image.workspace() as workspace:
            user = self.task.user("agent") or self.runner.image.config.user
            command = _IMAGE_FILES.format(start=self.runner.started)
            paths = [path for path in workspace.run(command, user=user).output.splitlines() if path.startswith("/")]
            files = read_archive(workspace.get(paths, most=32 << 20)[0])
        variables = {f"${name}": value.encode() for name, value in self.runner.image.config.env.items()}
        return {**files, **variables}

    def _changed(self, product: Product, state: Entry | None, change: str) -> Solution:
        oracle = solution_of("oracle", self.task)
        return Solution(change, oracle.files, oracle.command, {product.path: state}, _commit_again(product))

    def _overfitting(self, products: Products) -> None:
        self.report.tried.append("overfitting")
        for product in products.required:
            others = (each.content.decode(errors="replace") for each in products.files if each != product)
            known = "\n".join([self.known, *others])
            for version in equivalents_of(product, self.task.instruction, known):
                trial = self._trial(self._changed(product, Entry(version.content, product.mode), version.change))
                if trial.reward is not None and not _is_paid(trial) and not self._is_full("overfitting"):
                    message = f"{product.path}, {version.change}: a correct solution earns {trial.outcome}"
                    remedy = "test behaviour, not the text of a solution"
                    self._add("overfitting", message, _diff(product, version), remedy)

    def _mutants(self, products: Products) -> None:
        self.report.tried += ["surviving mutant", "ignored exit code"]
        deadline = time.monotonic() + MOST_SECONDS
        for product, version in _wrong_versions(products, self.task.instruction):
            if self._is_full("surviving mutant") or self.report.trials >= MOST_TRIALS or time.monotonic() > deadline:
                return
            if not version.is_wrong(self.known):
                continue
            state = version.state or Entry(version.content, product.mode)
            solution = self._changed(product, None if version.change == LEFT_OUT else state, version.change)
            trial = self._trial(solution)
            if not _is_paid(trial):
                continue
            has_code = product.is_program and version.change != LEFT_OUT and version.content != product.content
            difference = self.prober.difference(product, version.content) if has_code else "what it left differs"
            if difference:
                message = f"{product.path}, {version.change}: a wrong solution earns {trial.outcome} ({difference})"
                diff = _diff(product, version)
                self._add("surviving mutant", message, diff, "add a test that this change fails")
                self._find_ignored(solution, diff)

    def _find_ignored(self, solution: Solution, witness: str) -> None:
        """Whether a check of test.sh failed for a solution that was paid."""
        if self._is_full("ignored exit code"):
            return
        trial = self._trial(solution, observes=True)
        failed = [each for each in trial.failed_commands if _CHECKER.search(each)]
        if failed and _is_paid(trial):
            message = f"a check fails and the reward is {trial.outcome}: `{failed[0][:150]}` (exit codes)"
            remedy = "use `set -e` and pipefail, or combine the results of all checks"
            self._add("ignored exit code", message, witness, remedy)


def _is_paid(trial: Trial) -> bool:
    return trial.reward is not None and trial.reward >= PASSING


def _wrong_versions(products: Products, instruction: str) -> Iterator[tuple[Product, Version]]:
    """Mutants in an order in which every change of the solution has its turn early."""
    groups = [[(product, version)] for product, version in products.undone]
    for product in products.required:
        omitted = [Version(LEFT_OUT, b"")] if len(products.required) > 1 else []
        groups.append([(product, version) for version in (*omitted, *mutants_of(product, instruction))])
    for turn in zip_longest(*groups):
        yield from (each for each in turn if each is not None)


def _commit_again(product: Product) -> str:
    """A command that puts a changed file into the last commit, where the solution committed it."""
    folder, _, name = product.path.rpartition("/")
    git = "git -c safe.directory='*' -c user.name=a -c user.email=a@example.com"
    is_committed = f'[ "$({git} rev-parse -q --verify HEAD:./{shlex.quote(name)})" = {product.blob} ]'
    return (
        f"cd {shlex.quote(folder or '/')} && {is_committed} && {git} commit -q --amend --no-edit -- {shlex.quote(name)}"
    )


def _diff(product: Product, version: Version) -> str:
    if version.change == LEFT_OUT:
        return f"{product.path} was not written"
    if version.state is not None and (version.state.link or version.content == product.content):
        return f"{product.path}: {version.change}"
    before, after = (text.decode(errors="replace").splitlines() for text in (product.content, version.content))
    if product.language == "python" and product.tree is not None:  # mutants are written without comments
        before = ast.unparse(product.tree).splitlines()
    return "\n".join(list(difflib.unified_diff(before, after, product.path, version.change, lineterm=""))[:40])
