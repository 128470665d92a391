"""`plaudit harbor audit`: attack a task's verifier, and test it with mutants and rewritings of its solution.

Everything is run as a trial in the mode that the task declares. What must earn nothing and earns 1 is a finding; so is
a correct solution written in another way that earns less. A mutant counts only where a run of it shows that it
behaves differently on values that the task itself mentions, since other mutants may be right.
"""

import ast
import difflib
import json
import re
import shlex
import time

from plaudit.errors import SandboxError
from plaudit.findings import Severity
from plaudit.harbor.attacks import all_attacks, test_texts
from plaudit.harbor.images import Runtime
from plaudit.harbor.products import Product, Products, Version, products_of, read_archive
from plaudit.harbor.reporting import State, TaskFinding, TaskReport
from plaudit.harbor.surface import Surface, find_surface
from plaudit.harbor.task import Task
from plaudit.harbor.trial import Solution, TaskRunner, Trial, solution_of
from plaudit.harbor.workspace import pack

__all__ = ["KINDS", "audit_task"]

KINDS = (
    "forged reward file", "surviving process", "PATH shim", "test configuration", "module shadowing", "symlink",
    "verifier's rights", "answer in the image", "stub solution", "hard-coded output", "grep-based result",
    "ignored exit code", "surviving mutant", "overfitting",
)  # fmt: skip
MOST_OF_A_KIND = 3
PASSING = 1.0
_CHECKER = re.compile(r"\b(?:python3?|pytest|diff|cmp|grep|test|node|jq|bash|sh|awk|make)\b|\[|/")
_VALUE = re.compile(r"-?\d+(?:\.\d+)?|\"[^\"\n]{0,60}\"|'[^'\n]{0,60}'|\[[^\[\]\n]{0,80}\]")
_IMAGE_FILES = (
    "for d in /*; do case $d in /bin|/boot|/dev|/etc|/lib*|/logs|/proc|/run|/sbin|/sys|/usr|/var|/tests|/solution) ;; "
    "*) echo $d;; esac; done; echo /usr/local; echo /var/tmp"
)
PROBE = """
import importlib.util, itertools, json, random, signal, subprocess, sys
path, language, values = sys.argv[1], sys.argv[2], json.load(open("/tmp/probe/values.json"))
def late(*_): raise TimeoutError
signal.signal(signal.SIGALRM, late)
def observe(call):
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try: return repr(call())[:300]
    except BaseException as error: return type(error).__name__
    finally: signal.setitimer(signal.ITIMER_REAL, 0)
def program(arguments, text):
    command = [sys.executable if language == "python" else "bash", path, *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=3)
    return done.returncode, done.stdout
seen = {}
functions = []
if language == "python":
    spec = importlib.util.spec_from_file_location("product", path)
    module = importlib.util.module_from_spec(spec)
    try: spec.loader.exec_module(module)
    except BaseException: pass
    functions = [f for f in vars(module).values() if type(f).__name__ == "function" and f.__module__ == "product"]
for function in functions:
    count = function.__code__.co_argcount
    calls = list(itertools.product(values, repeat=count)) if len(values) ** count < 400 else \\
        [tuple(random.Random(n).choices(values, k=count)) for n in range(400)]
    for arguments in calls:
        seen[f"{function.__name__}{tuple(arguments)}"] = observe(lambda: function(*json.loads(json.dumps(arguments))))
if not functions:
    for arguments in [[], *([str(v)] for v in values[:6]), [str(v) for v in values[:2]]]:
        text = "\\n".join(str(v) for v in values[:8]) + "\\n"
        try: seen[f"arguments {arguments}"] = repr(program(arguments, text))
        except subprocess.TimeoutExpired: seen[f"arguments {arguments}"] = "timeout"
print("\\n" + json.dumps(seen))
"""


def audit_task(task: Task, runtime: Runtime, *, mode: str | None = None, key: str = "reward") -> TaskReport:
    """Attack one task; `cannot run` where its solution does not run or does not earn 1."""
    report = TaskReport(task.name, State.RAN, mode or task.mode)
    start = time.monotonic()
    try:
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
        self.known = ""
        """What the task tells the agent: the instruction, and the files of the image."""

    def run(self) -> None:
        oracle, nop = (
            self._trial(solution_of("oracle", self.task), observes=True),
            self._trial(Solution("nop"), observes=True),
        )
        self.report.notes += list(oracle.notes)
        if oracle.reward != PASSING:
            self.report.state = State.CANNOT_RUN
            self.report.notes.append(f"its solution earns {oracle.outcome}, so there is nothing to compare with")
            return
        if nop.reward is not None and nop.reward >= PASSING:
            message = "doing nothing earns 1"
            self._add("stub solution", message, nop.log[-500:], "pay nothing for the untouched image")
            self._find_ignored(Solution("nop"), "nothing was done")
            return
        products = products_of(nop.artifacts, oracle.artifacts, self.task.instruction)
        self._attack(products, find_surface(self.runner, (oracle.events, nop.events), products))
        self._overfitting(products)
        holes = {each.kind for each in self.report.findings}
        if not holes & {"stub solution", "grep-based result", "hard-coded output"}:
            self._mutants(products)

    def _trial(self, solution: Solution, *, traces: bool = False, observes: bool = False) -> Trial:
        self.report.trials += 1
        return self.runner.run(solution, traces=traces, observes=observes)

    def _add(self, kind: str, message: str, witness: str, remedy: str, severity: Severity = Severity.ERROR) -> None:
        self.report.findings.append(TaskFinding(kind, severity, message, witness, remedy))

    def _is_full(self, kind: str) -> bool:
        return sum(each.kind == kind for each in self.report.findings) >= MOST_OF_A_KIND

    def _attack(self, products: Products, surface: Surface) -> None:
        image_files = self._image_files()
        known = [self.task.instruction, *(content.decode(errors="replace") for content in image_files.values())]
        self.known = "\n".join(known)
        attacks = all_attacks(self.task, self.runner.mode, products, image_files, surface)
        for attack in attacks:
            if attack.kind not in self.report.tried:
                self.report.tried.append(attack.kind)
            if self._is_full(attack.kind):
                continue
            trial = self._trial(attack.solution)
            if trial.reward is not None and trial.reward >= PASSING:
                message = f"{attack.solution.name}: earns {trial.outcome} without a solution"
                self._add(attack.kind, message, attack.witness, attack.remedy, attack.severity)
                if attack.kind in ("stub solution", "grep-based result", "hard-coded output"):
                    self._find_ignored(attack.solution, attack.witness)

    def _image_files(self) -> dict[str, bytes]:
        """The files outside system folders that the agent can read before it begins."""
        with self.runner.image.workspace() as workspace:
            user = self.task.user("agent") or self.runner.image.config.user
            tops = workspace.run(_IMAGE_FILES).output.split()
            listing = workspace.run(
                f"find {' '.join(tops)} -type f -readable -size -256k 2>/dev/null | head -5000", user=user
            )
            paths = [path for path in listing.output.splitlines() if path.startswith("/")]
            return read_archive(workspace.get(paths, most=32 << 20)[0])

    def _changed(self, product: Product, content: bytes | None, change: str) -> Solution:
        oracle = solution_of("oracle", self.task)
        return Solution(change, oracle.files, oracle.command, {product.path: content}, _commit_again(product))

    def _overfitting(self, products: Products) -> None:
        self.report.tried.append("overfitting")
        for product in products.required:
            for version in product.equivalents():
                trial = self._trial(self._changed(product, version.content, version.change))
                if trial.reward is not None and trial.reward < PASSING and not self._is_full("overfitting"):
                    message = f"{product.path}, {version.change}: a correct solution earns {trial.outcome}"
                    self._add(
                        "overfitting", message, _diff(product, version), "test behaviour, not the text of a solution"
                    )

    def _mutants(self, products: Products) -> None:
        self.report.tried += ["surviving mutant", "ignored exit code"]
        for product in products.required:
            omitted = [Version("left out", b"")] if len(products.required) > 1 else []
            for version in [*omitted, *product.mutants(self.task.instruction)]:
                if self._is_full("surviving mutant"):
                    return
                if not version.is_wrong(self.known):
                    continue
                content = None if version.change == "left out" else version.content
                solution = self._changed(product, content, version.change)
                trial = self._trial(solution)
                if trial.reward is None or trial.reward < PASSING:
                    continue
                difference = self._difference(product, version)
                if difference:
                    message = f"{product.path}, {version.change}: a wrong solution earns {trial.outcome} ({difference})"
                    diff = _diff(product, version)
                    self._add("surviving mutant", message, diff, "add a test that this change fails")
                    self._find_ignored(solution, diff)

    def _find_ignored(self, solution: Solution, witness: str) -> None:
        """Whether a check of test.sh failed for a solution that was paid."""
        if self._is_full("ignored exit code"):
            return
        trial = self._trial(solution, traces=True)
        failed = [each for each in trial.failed_commands if _CHECKER.search(each)]
        if failed and trial.reward is not None and trial.reward >= PASSING:
            message = f"a check fails and the reward is {trial.outcome}: `{failed[0][:150]}` (exit codes)"
            self._add(
                "ignored exit code", message, witness, "use `set -e` and pipefail, or combine the results of all checks"
            )

    def _difference(self, product: Product, version: Version) -> str:
        """What a mutant does differently from the solution; empty where nothing was seen."""
        if product.language not in ("python", "shell") or version.change == "left out":
            return "its content differs"
        values = _values(f"{self.task.instruction}\n{test_texts(self.task)}")
        suffix = ".py" if product.language == "python" else ".sh"
        seen = []
        with self.runner.image.workspace() as workspace:
            workspace.put(
                pack({"tmp/probe/probe.py": PROBE.encode(), "tmp/probe/values.json": json.dumps(values).encode()}), "/"
            )
            for name, content in (("original", product.content), ("mutant", version.content)):
                workspace.put(pack({f"tmp/probe/{name}{suffix}": content}), "/")
                done = workspace.run(
                    f"python3 /tmp/probe/probe.py /tmp/probe/{name}{suffix} {product.language}",
                    cwd=self.workdir,
                    seconds=60,
                )
                try:
                    seen.append(json.loads(done.output.strip().splitlines()[-1]))
                except (ValueError, IndexError):
                    return ""
        pairs = (
            (call, result, seen[1].get(call))
            for call, result in seen[0].items()
            if "Error" not in result and "timeout" not in result
        )
        return next((f"{call} gives {other}, not {result}" for call, result, other in pairs if other != result), "")


def _commit_again(product: Product) -> str:
    """A command that puts a changed file into the last commit, where the solution committed it."""
    folder, _, name = product.path.rpartition("/")
    git = "git -c safe.directory='*' -c user.name=a -c user.email=a@example.com"
    is_committed = f'[ "$({git} rev-parse -q --verify HEAD:./{shlex.quote(name)})" = {product.blob} ]'
    return (
        f"cd {shlex.quote(folder or '/')} && {is_committed} && {git} commit -q --amend --no-edit -- {shlex.quote(name)}"
    )


def _values(text: str) -> list[object]:
    """Plain values that a text mentions."""
    values: dict[str, object] = {}
    for match in _VALUE.findall(text):
        try:
            value = ast.literal_eval(match)
            values[json.dumps(value)] = value
        except (ValueError, SyntaxError, TypeError):
            continue
    return list(values.values())[:30]


def _diff(product: Product, version: Version) -> str:
    if version.change == "left out":
        return f"{product.path} was not written"
    before, after = (text.decode(errors="replace").splitlines() for text in (product.content, version.content))
    if product.language == "python" and product.tree is not None:  # mutants are written without comments
        before = ast.unparse(product.tree).splitlines()
    return "\n".join(list(difflib.unified_diff(before, after, product.path, version.change, lineterm=""))[:40])
