"""Write a program, see which test fails, and mend it: the sandbox runs the program, the failure is the observation."""

from typing import Any, ClassVar

from plaudit.agents.environment import Environment, EpisodeStart, StepResult
from plaudit.errors import AgentError, SandboxError
from plaudit.sandbox import Job, RunLimits, RunStatus, Suite, Verdict, read_suite, shared_pool
from plaudit.verify.code_blocks import find_program

__all__ = ["CodeFeedback"]

MAX_WORDS = 1500


class CodeFeedback(Environment):
    """1.0 for a program that passes every test, at the last attempt the share of tests passed, times `partial`.

    The ground truth is the tests, in any shape that `CodeReward` takes. The feedback is the message of the first test
    that fails; with `hide_tests` only how many passed.
    """

    attempts: ClassVar[int] = 3
    partial: ClassVar[float] = 0.0
    hide_tests: ClassVar[bool] = False
    cpu_s: ClassVar[float] = 2.0
    in_threads: ClassVar[bool] = True

    def reset(self, start: EpisodeStart) -> None:
        self.suite: Suite = read_suite(start.ground_truth)
        self.tries = 0

    def step(self, action: str) -> StepResult:
        self.tries += 1
        last = self.tries >= self.attempts
        program = find_program(action)
        if program is None:
            return self._answer("There is no program in this; write one in a block of ```python.", 0.0, done=last)
        [verdict] = shared_pool("plain").judge_all([self._job(program)])
        if isinstance(verdict, SandboxError):
            raise verdict
        if verdict.refusal:
            raise AgentError(f"the tests cannot be run: {verdict.refusal}")
        if verdict.passed:
            return StepResult("", True, 1.0, score=1.0, logs={"tries": self.tries, "passed": verdict.share})
        return self._answer(self._describe(verdict), verdict.share, done=last)

    def _job(self, program: str) -> Job:
        limits = RunLimits(self.cpu_s, max(20.0, 10 * self.cpu_s), 512)
        return Job(
            program, [self.suite], limits, stop_early=False, judge_cpu_s=5 * self.cpu_s, wall_s=3 * limits.wall_s
        )

    def _answer(self, words: str, share: float, *, done: bool) -> StepResult:
        logs: dict[str, Any] = {"tries": self.tries, "passed": share}
        return StepResult(f"\n{words[:MAX_WORDS]}\n", done, self.partial * share if done else 0.0, share, logs=logs)

    def _describe(self, verdict: Verdict) -> str:
        count = f"{verdict.count} of {len(verdict.results)} tests passed."
        if self.hide_tests:
            return count
        ended = verdict.conclusion is not RunStatus.COMPLETED and verdict.reason
        failed = next((result for result in verdict.results if not result.passed), None)
        why = f"{failed.name}: {failed.reason}" if failed is not None else ""
        return "\n".join(line for line in (count, ended or "", why) if line)
