"""Reward a program that passes its tests; it runs in a sandbox and cannot affect its grade.

The ground truth is the tests, in the shape the data set has them. The program runs in the sandbox; the tests run in a
judge process and compare plain values, so nothing that the program prints, raises or returns is a verdict. A response
without a program, or with one that hangs or crashes, is scored, because the model caused it. Samples
with invalid tests, or that fail because of the machine, are not scored.
"""

import ast
import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plaudit.contract.failures import describe_unusable
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.rules import Bounds
from plaudit.errors import InvalidTrajectory, SandboxError
from plaudit.rewards.program_language import check_language, choose_language
from plaudit.sandbox import FLAVOURS, AssertSuite, Job, RunLimits, RunStatus, Suite, Verdict, read_suite, shared_pool
from plaudit.sandbox.judging.data_sets import has_tests, read_row
from plaudit.sandbox.judging.plan.modules import drop_unused_imports, find_lacking
from plaudit.sandbox.judging.plan.names import helpers_in, with_prefix
from plaudit.sandbox.judging.plan.test_plan import plan_suite
from plaudit.sandbox.judging.suites import CallSuite, FileSuite
from plaudit.settings import check_choice, check_number, set_field
from plaudit.trajectory import Trajectory, message_text
from plaudit.verify.code_blocks import defined_names, find_program, python_of
from plaudit.verify.rows import need_truth

CREDITS: dict[str, Bounds] = {"all": (0.0, 1.0), "fraction": (0.0, 1.0), "openrlhf": (-1.0, 1.0)}
PARTIAL, TIMEOUT, CRASH = 0.3, -0.5, -1.0
WALL_FACTOR, WALL_LEAST_S = 10.0, 20.0  # a busy machine must not turn right answers wrong
VERDICT_FACTOR = 3.0  # for a whole verdict, and more for programs that really compute
JUDGE_FACTOR = 5.0  # what the tests may use to compare, in terms of what the program may use per call


@dataclass(frozen=True, repr=False)
class CodeReward(RewardFunction):
    """1.0 for a program that passes every test, else 0.0; or by `credit` another number.

    "fraction" gives the share of tests passed; "openrlhf" gives 1.0 for all, 0.3 for some, 0.0 for none, −0.5 for a
    timeout, −1.0 for a crash or no program. `cpu_s` is per call or per run; with `scratch_mb` a program may write so
    much to its working directory; `objects="trust"` lets objects of the program answer comparisons, where tests
    compare them, and leaves them able to forge these; `language` is that of samples which do not name one, judged by
    standard input and output where it is not Python.
    """

    credit: str = "all"
    cpu_s: float = 2.0
    memory_mb: int = 512
    scratch_mb: int = 0
    flavour: str = "plain"
    objects: str = "unscored"
    language: str | None = None
    allow_unsafe: bool = False
    max_batch = 64
    bounds: Bounds | None = field(init=False, repr=False)
    limits: RunLimits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("credit", self.credit, CREDITS)
        check_number("cpu_s", self.cpu_s, above=0)
        check_number("memory_mb", self.memory_mb, above=0)
        check_number("scratch_mb", self.scratch_mb, least=0)
        check_choice("objects", self.objects, ("unscored", "trust"))
        if self.language is not None:
            check_language(self.language)
        set_field(self, "bounds", CREDITS[self.credit])
        wall_s = max(WALL_LEAST_S, WALL_FACTOR * self.cpu_s)
        limits = RunLimits(float(self.cpu_s), wall_s, int(self.memory_mb), scratch_mb=int(self.scratch_mb))
        set_field(self, "limits", limits)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        prepared = [self._prepare(trajectory) for trajectory in trajectories]
        jobs = [one for one in prepared if isinstance(one, Job)]
        verdicts = iter(shared_pool(self.flavour, allow_unsafe=self.allow_unsafe).judge_all(jobs) if jobs else [])
        return [self._output(next(verdicts)) if isinstance(one, Job) else one for one in prepared]

    def _prepare(self, trajectory: Trajectory) -> Job | RewardOutput:
        """The job for one sample, or its output where there is nothing to run."""
        try:
            truth = _tests(trajectory)
            prompt = python_of(_read_prompt(trajectory))
            suites = _suites(truth, prompt if _names_entry_point(truth) else "")
            wanted = _find_names(suites[0])
            unscored = next((plan.unscored for plan in map(plan_suite, suites) if plan.unscored), "")
            if unscored and self.objects != "trust":
                return RewardOutput.unscored(Status.UNPARSED, unscored)
            choice = choose_language(trajectory, truth, self.language, suites)
        except InvalidTrajectory as error:
            return describe_unusable(error)
        if choice.language is None:
            lacking = next(filter(None, (find_lacking(suite, prompt, FLAVOURS[self.flavour]) for suite in suites)), "")
            if lacking:
                reason = f"the data set's code imports {lacking!r}, which programs do not have: {_remedy(lacking)}"
                return RewardOutput.unscored(Status.UNPARSED, reason)
            source = _program(trajectory.response, str(getattr(suites[0], "prompt", "") or prompt), wanted)
            source = source and drop_unused_imports(source, FLAVOURS[self.flavour])
        else:
            source = choice.find_program(trajectory.response)
        if source is None:
            return self._fail("no program in the response", CRASH)
        if not _is_text(source):
            return self._fail("the program holds lone surrogates, which no source can", CRASH)
        if not all(_is_text(text) for suite in suites for text in _texts(suite)):
            return RewardOutput.unscored(Status.UNPARSED, "the tests hold lone surrogates, which are not text")
        return Job(
            source,
            suites,
            self.limits,
            stop_early=self.credit == "all",
            trusts_objects=self.objects == "trust",
            judge_cpu_s=JUDGE_FACTOR * self.limits.cpu_s,
            language=choice.name,
            own_language=choice.is_from_response,
            wall_s=VERDICT_FACTOR * self.limits.wall_s,
        )

    def _output(self, verdict: Verdict | SandboxError) -> RewardOutput:
        if isinstance(verdict, SandboxError):
            return RewardOutput.unscored(Status.ERROR, str(verdict))
        if verdict.refusal:
            return RewardOutput.unscored(Status.UNPARSED, verdict.refusal, metadata=_describe(verdict))
        score = float(verdict.passed) if self.credit == "all" else _share(verdict)
        reason = f"{verdict.count} of {len(verdict.results)} tests passed"
        reason = f"{reason}; {verdict.reason}" if verdict.reason else reason
        if missing := re.search(r"No module named '(\w+)", verdict.reason):
            reason = f"{reason}; {_remedy(missing[1])}"
        return RewardOutput(_CREDITED[self.credit](verdict), score=score, reason=reason, metadata=_describe(verdict))

    def _fail(self, reason: str, openrlhf: float) -> RewardOutput:
        value = openrlhf if self.credit == "openrlhf" else 0.0
        return RewardOutput(value, score=0.0, reason=reason, metadata={"conclusion": "no program"})


def _remedy(package: str) -> str:
    """The remedy for a module that programs need and is not installed."""
    flavour = next((name for name, modules in FLAVOURS.items() if package in modules), None)
    return f"CodeReward(flavour={flavour!r}) has it" if flavour else "no flavour of the sandbox has it"


def _is_text(text: str) -> bool:
    """Whether a text can leave this process: lone surrogates cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(suite: Suite) -> list[str]:
    """Every text in a suite."""
    values = [getattr(suite, name) for name in suite.__struct_fields__]
    lists = [value for value in values if isinstance(value, list)]
    return [value for value in (*values, *(item for listed in lists for item in listed)) if isinstance(value, str)]


def _share(verdict: Verdict) -> float:
    """The share of tests passed; 1.0 only for a verdict of passed, as a program may fail beside its tests too."""
    return 1.0 if verdict.passed else min(verdict.share, 1.0 - 1e-9)


def _openrlhf(verdict: Verdict) -> float:
    """OpenRLHF's scale: how the program ended comes before how many tests it passed."""
    if verdict.passed:
        return 1.0
    if verdict.conclusion is RunStatus.TIMEOUT:
        return TIMEOUT
    if verdict.conclusion is not RunStatus.COMPLETED:
        return CRASH
    return PARTIAL if verdict.count else 0.0


_CREDITED = {"all": lambda verdict: float(verdict.passed), "fraction": _share, "openrlhf": _openrlhf}


def _describe(verdict: Verdict) -> dict[str, Any]:
    """The metadata of a verdict."""
    details: dict[str, Any] = {
        "tests": [
            {"name": result.name, "passed": result.passed, **({"reason": result.reason} if result.reason else {})}
            for result in verdict.results
        ],
        "passed": verdict.count,
        "total": len(verdict.results),
        "conclusion": verdict.conclusion.value,
        "tier": verdict.tier,
        "judged": "objects trusted" if verdict.trusts_objects else "split",
        "cpu_s": round(verdict.cpu_s, 6),
    }
    return details | {name: text for name in ("stdout", "stderr") if (text := getattr(verdict, name))}


def _tests(trajectory: Trajectory) -> Any:
    """The ground truth, or, where a sample has none, the columns of its row: all of it from the data set."""
    if trajectory.ground_truth in (None, "") and has_tests(trajectory.metadata):
        truth: Any = {name: value for name, value in trajectory.metadata.items() if name != "language"}
    else:
        truth = need_truth(trajectory)
    if isinstance(truth, str) and truth.lstrip().startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            truth = json.loads(truth)
    return read_row(truth) if isinstance(truth, Mapping) else truth


def _suites(truth: Any, prompt: str) -> list[Suite]:
    """The visible tests, and the hidden ones where the ground truth has any."""
    suites = [read_suite(truth, prompt)]
    hidden = truth.get("hidden_tests") if isinstance(truth, Mapping) else None
    if hidden:
        rest = {
            key: value for key, value in truth.items() if key in ("entry_point", "test_imports", "prompt", "fn_name")
        }
        suites.append(read_suite(hidden if isinstance(hidden, Mapping) else {**rest, "tests": hidden}, prompt))
    return suites


def _names_entry_point(truth: Any) -> bool:
    """Whether the data set names the function to write, so that all else in a prompt of code is there to be used."""
    return isinstance(truth, Mapping) and bool(truth.get("entry_point"))


def _read_prompt(trajectory: Trajectory) -> str:
    """The prompt without messages of a model in it."""
    if isinstance(trajectory.prompt, str):
        return trajectory.prompt
    return "\n\n".join(message_text(message) for message in trajectory.prompt if message["role"] != "assistant")


def _find_names(suite: Suite) -> tuple[str, ...]:
    """The names that the program must define, as far as the tests show."""
    if isinstance(suite, CallSuite):
        return (suite.function.rpartition(".")[2],)
    if isinstance(suite, AssertSuite | FileSuite) and suite.entry_point:
        return (suite.entry_point.rpartition(".")[2],)
    if not isinstance(suite, AssertSuite):
        return ()
    plan = plan_suite(suite)
    if not plan.program and not plan.modules:
        raise InvalidTrajectory("the tests never call the program: nothing in them is left for it to define")
    return tuple(plan.program.values())


def _program(response: str, prompt: str, wanted: tuple[str, ...]) -> str | None:
    """The program to run: the code in the response, with what the prompt's code gives it.

    A completion that continues within the prompt's last function is put behind the prompt.
    """
    continued = f"{prompt}{response}" if prompt and _ends_open(prompt) else ""
    code = find_program(response, wanted)
    if code is not None and set(wanted) <= (defined_names(code) or frozenset()):
        return with_prefix(helpers_in(prompt, wanted[0] if wanted else None), code)
    if continued and defined_names(continued) is not None:
        return continued
    if continued and code is not None and defined_names(f"{prompt}{code}") is not None:
        return f"{prompt}{code}"
    return code


def _ends_open(prompt: str) -> bool:
    """Whether the prompt's code ends with a function that has no body but its docstring."""
    try:
        body = ast.parse(prompt).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return prompt.rstrip().endswith(":")
    last = body[-1] if body else None
    return isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
