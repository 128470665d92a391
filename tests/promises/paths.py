"""The ways a reward is used. Each opens a session for one spec; a session scores batch after batch.

Samples are prompt-major: groups of `GROUP_SIZE` side by side. An outcome has the same three fields on every path.
"""

import contextlib
import decimal
import json
import locale
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

import plaudit
from plaudit import Trajectory
from plaudit.cli import main
from plaudit.engine import Scorer
from plaudit.errors import ScoringFailed
from tests.promises.misbehaviour import CALL_LOG
from tests.promises.wrappers import STEP

GROUP_SIZE = 3
UNKNOWN = "unknown"
"""The status where a path does not tell it."""


class Outcome(NamedTuple):
    reward: float | None
    status: str
    reason: str


class Session(Protocol):
    def __call__(self, samples: list[Trajectory]) -> list[Outcome]: ...


@dataclass(frozen=True)
class Case:
    """What a path opens: a spec and the deadline of a call of one sample."""

    name: str
    spec: str
    deadline_s: float
    by_sample: bool
    """Whether each sample is scored by itself, so that a direct call may have one sample."""


Open = Callable[[Case, Path], contextlib.AbstractContextManager[Session]]


@dataclass(frozen=True)
class ScoringPath:
    name: str
    open: Open
    isolated: bool = True
    """Whether the reward runs in another process: it may hang, crash and change the process."""
    start_s: float = 0.0
    """How long a call may take beyond the deadline because processes are started in it."""
    keeps_scorer: bool = True
    """Whether one scorer serves all calls of a session, so that state may be left from one to the next."""


def make_samples(responses: Sequence[str]) -> list[Trajectory]:
    return [
        Trajectory(
            prompt=f"question {place // GROUP_SIZE}",
            response=response,
            ground_truth="4",
            metadata={"source": {"pages": [1, 2]}},
            columns={"level": 1, "notes": ["kept"]},
            group=f"{STEP}-{place // GROUP_SIZE}",
            training_step=STEP,
        )
        for place, response in enumerate(responses)
    ]


def outcomes(outputs: Sequence[plaudit.RewardOutput]) -> list[Outcome]:
    return [Outcome(output.reward, str(output.status), output.reason or "") for output in outputs]


@contextlib.contextmanager
def open_direct(case: Case, folder: Path) -> Iterator[Session]:
    reward = plaudit.load(case.spec)

    def call(samples: list[Trajectory]) -> list[Outcome]:
        try:
            return [Outcome(number, UNKNOWN, "") for number in reward(samples, [each.ground_truth for each in samples])]
        except ScoringFailed as error:
            return [Outcome(None, UNKNOWN, str(error))] * len(samples)

    def call_singly(samples: list[Trajectory]) -> list[Outcome]:
        results = []
        for sample in samples:
            try:
                results += outcomes([reward(sample)])
            except ScoringFailed as error:
                results.append(Outcome(None, UNKNOWN, str(error)))
        return results

    yield call_singly if case.by_sample else call


@contextlib.contextmanager
def open_inline(case: Case, folder: Path) -> Iterator[Session]:
    reward = plaudit.load(case.spec)
    yield lambda samples: outcomes(plaudit.score(reward, samples))


def open_scorer(backend: str) -> Open:
    @contextlib.contextmanager
    def open_it(case: Case, folder: Path) -> Iterator[Session]:
        with Scorer(case.spec, backend=backend, workers=1, deadline_s=case.deadline_s) as scorer:
            yield lambda samples: outcomes(scorer.score(samples))

    return open_it


@contextlib.contextmanager
def open_command_line(case: Case, folder: Path) -> Iterator[Session]:
    def run(samples: list[Trajectory]) -> list[Outcome]:
        source, target = folder / f"{case.name}.jsonl", folder / f"{case.name}_scored.jsonl"
        source.write_text("".join(f"{sample.to_json()}\n" for sample in samples))
        options = ["--overwrite", "--quiet", "--workers", "1", "--deadline", str(case.deadline_s)]
        with contextlib.suppress(SystemExit):
            main(["score", case.spec, str(source), "-o", str(target), *options])
        outputs = [json.loads(line)["reward_output"] for line in target.read_text().splitlines()]
        return [Outcome(each.get("reward"), each.get("status", "ok"), each.get("reason", "")) for each in outputs]

    yield run


@contextlib.contextmanager
def open_export(case: Case, folder: Path) -> Iterator[Session]:
    function = plaudit.export(case.spec, "trl", workers=1, deadline_s=case.deadline_s, group_size=GROUP_SIZE)

    def call(samples: list[Trajectory]) -> list[Outcome]:
        extra: dict[str, list[str]] = {}
        numbers = function(
            prompts=[sample.prompt for sample in samples],
            completions=[sample.response for sample in samples],
            ground_truth=[sample.ground_truth for sample in samples],
            **{name: [sample.columns[name] for sample in samples] for name in samples[0].columns},
            trainer_state=SimpleNamespace(global_step=STEP),
            log_extra=extra.__setitem__,
            log_metric=lambda name, value: None,
        )
        reasons = next(iter(extra.values()), [""] * len(samples))
        return [Outcome(number, UNKNOWN, reason) for number, reason in zip(numbers, reasons, strict=True)]

    try:
        yield call
    finally:
        function.close()


@contextlib.contextmanager
def open_trainer(case: Case, folder: Path) -> Iterator[Session]:
    from tests.promises.trained import open_collector

    with open_collector(case) as session:
        yield session


ALL = (
    ScoringPath("direct", open_direct, isolated=False),
    ScoringPath("inline", open_inline, isolated=False),
    ScoringPath("processes", open_scorer("processes")),
    ScoringPath("exported", open_export),
    ScoringPath("trained", open_trainer),
    ScoringPath("command_line", open_command_line, start_s=5.0, keeps_scorer=False),
)
PATHS = {path.name: path for path in ALL}
RAY = ScoringPath("ray", open_scorer("ray"), start_s=10.0)


def served_path(address: str) -> ScoringPath:
    """Rewards behind a server that serves each case under its name."""

    @contextlib.contextmanager
    def open_it(case: Case, folder: Path) -> Iterator[Session]:
        remote = plaudit.load(f"{address}/{case.name}")
        yield lambda samples: outcomes(plaudit.score(remote, samples))

    return ScoringPath("served", open_it)


def timed(session: Session, samples: list[Trajectory]) -> tuple[list[Outcome], float]:
    began = time.monotonic()
    return session(samples), time.monotonic() - began


class CallLog:
    """How many samples the calls of functions for batches had, in whichever process."""

    @staticmethod
    def clear() -> None:
        Path(os.environ[CALL_LOG]).write_text("")

    @staticmethod
    def sizes(*, has_trial: bool = False) -> list[int]:
        """`has_trial`: a copy of the reward was tried first, in workers of another template process."""
        calls = [line.split() for line in Path(os.environ[CALL_LOG]).read_text().splitlines()]
        parents = list(dict.fromkeys(parent for parent, _ in calls))
        trial = parents[0] if has_trial and len(parents) > 1 else None
        return [int(size) for parent, size in calls if parent != trial]


class ProcessState(NamedTuple):
    """What a reward must not change in the caller's process, wherever it runs."""

    folder: str
    handlers: tuple[Any, ...]
    recursion_limit: int
    environment: tuple[str | None, ...]
    import_path: list[str]
    locale: str
    precision: int
    socket_timeout: float | None

    @classmethod
    def now(cls) -> "ProcessState":
        signals = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGALRM)
        return cls(
            os.getcwd(),
            tuple(signal.getsignal(each) for each in signals),
            sys.getrecursionlimit(),
            tuple(map(os.environ.get, ("PATH", "LEFT_BEHIND", "HOME"))),  # Ray adds others
            list(sys.path),
            locale.setlocale(locale.LC_ALL),
            decimal.getcontext().prec,
            socket.getdefaulttimeout(),
        )
