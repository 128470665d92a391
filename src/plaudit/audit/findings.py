"""What an audit reports: one finding per operator and component that paid, with the shortest response that shows it.

A finding says what was paid and what an honest response earned beside it. No finding means that none of this catalogue
was found within the budget, and nothing more. A baseline is a file of accepted findings: they are known by family,
operator and component; the witness is there for readers and may change.
"""

import enum
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings

VERSION = 1


class Attacker(enum.StrEnum):
    """The knowledge that the attack needs."""

    ANSWER_FREE = "answer-free"
    """Nothing about the ground truth: a policy can learn this."""
    ORACLE = "oracle"
    """The ground truth: shows what the reward takes for an answer."""
    INVARIANT = "invariant"
    """Nothing to earn: the reward breaks what every reward must hold."""


class Level(enum.StrEnum):
    """The importance of a finding for a training run."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Witness:
    """The response that shows a finding, what it earned, and what an honest response to the same prompt earned."""

    prompt: str
    response: str
    reward: float | None
    honest_reward: float | None
    ground_truth: Any = None
    status: str = "ok"
    components: dict[str, float | None] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttackFinding:
    """One way to be paid without doing what the reward is for, or one invariant that it breaks."""

    family: str
    operator: str
    attacker: Attacker
    severity: Level
    component: str
    rate: float
    interval: tuple[float, float]
    prompts: int
    """On how many prompts it was tried."""
    cause: str
    """Findings with the same cause and component have one reason, and usually one fix."""
    witness: Witness
    message: str
    remedy: str
    test: str

    @property
    def key(self) -> str:
        """The key of the finding in a baseline; it does not depend on the witness."""
        return f"{self.family}/{self.operator}/{self.component}"


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All findings about one reward, and what the search for them cost."""

    reward: str
    findings: tuple[AttackFinding, ...]
    calls: int
    seconds: float
    tried: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    """The groups of attacks that were tried against what honest responses earn."""
    untried: tuple[str, ...] = ()
    """The groups of attacks that were not tried, each with the reason."""
    accepted: tuple[AttackFinding, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""
    """The name of the reward, which is the component of findings about the reward as a whole."""

    def __bool__(self) -> bool:
        return bool(self.findings)

    def by_cause(self) -> list[list[AttackFinding]]:
        """The findings by cause and component, the most severe first in each."""
        groups: dict[tuple[str, str], list[AttackFinding]] = {}
        for finding in self.findings:
            groups.setdefault((finding.cause, finding.component), []).append(finding)
        return list(groups.values())


def paying_component(name: str, honest: RewardOutput | None, paid: RewardOutput) -> str:
    """The component that gained most over the honest response; the reward itself where it has none."""
    before = {} if honest is None else honest.flat_components()
    gains = {
        part: (output.reward or 0.0) - (before[part].reward or 0.0 if part in before else 0.0)
        for part, output in paid.flat_components().items()
        if output.reward is not None
    }
    return max(gains, key=lambda part: gains[part]) if gains and max(gains.values()) > 0 else name


def component_values(output: RewardOutput) -> dict[str, float | None]:
    """The reward of each component."""
    return {name: part.reward for name, part in output.flat_components().items()}


def most_severe_first(findings: Sequence[AttackFinding]) -> tuple[AttackFinding, ...]:
    """Sort findings for a reader: severe, learnable, frequent, and short first."""
    levels, attackers = list(Level), list(Attacker)

    def rank(each: AttackFinding) -> tuple[int, int, float, int, str]:
        level, attacker = levels.index(each.severity), attackers.index(each.attacker)
        return level, attacker, -each.rate, len(each.witness.response), each.key

    return tuple(sorted(findings, key=rank))


def write_baseline(path: Path, report: AuditReport) -> None:
    """Accept everything that a report holds."""
    accepted = [
        {"key": finding.key, "severity": finding.severity.value, "response": finding.witness.response}
        for finding in (*report.findings, *report.accepted)
    ]
    plain = {"version": VERSION, "reward": report.reward, "accepted": accepted}
    path.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")


def read_baseline(path: Path) -> frozenset[str]:
    """The keys of accepted findings; raises InvalidSettings for a file that is no baseline."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return frozenset(entry["key"] for entry in plain["accepted"])
    except FileNotFoundError:
        raise InvalidSettings(f"no baseline {path}; write one with --baseline {path} --accept") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidSettings(f"{path} is not a baseline of an audit ({error}); write one with --accept") from None


def without_accepted(report: AuditReport, accepted: Iterable[str]) -> AuditReport:
    """The report with accepted findings apart from the others."""
    known = frozenset(accepted)
    return replace(
        report,
        findings=tuple(each for each in report.findings if each.key not in known),
        accepted=tuple(each for each in report.findings if each.key in known),
    )
