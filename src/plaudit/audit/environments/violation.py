"""A broken rule of an environment, with the episode that shows it, and as a finding of the report."""

import re
from dataclasses import dataclass

from plaudit.audit.environments.playing import Transcript
from plaudit.audit.findings import Attacker, AttackFinding, Level, Witness
from plaudit.report.coverage import wilson_interval


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that an environment breaks."""

    family: str
    operator: str
    played: Transcript
    """An episode that shows it."""
    message: str
    remedy: str
    severity: Level = Level.HIGH
    attacker: Attacker = Attacker.INVARIANT
    hits: int = 1
    """In how many of the `tried` episodes it shows."""
    tried: int = 1
    honest: float | None = None
    """The reward of the solution of the same start."""

    def to_finding(self, environment: str) -> AttackFinding:
        """The finding, with the episode as a test that fails until it is paid otherwise."""
        start, rate, prompts = self.played.start, self.hits / max(1, self.tried), max(1, self.tried)
        begin = f"EpisodeStart({start.prompt!r}, {start.ground_truth!r}, seed={start.seed})"
        call = f"play_actions({environment!r}, {begin}, {self.played.actions!r})"
        name = re.sub(r"\W+", "_", f"{self.family} {self.operator}".lower()).strip("_")
        test = (
            "from plaudit.agents import EpisodeStart\nfrom plaudit.audit import play_actions\n\n\n"
            f"def test_{name}():\n    played = {call}\n    assert played.reward != {self.played.reward!r}\n"
        )
        actions = "\n".join(self.played.actions)
        return AttackFinding(
            family=self.family, operator=self.operator, attacker=self.attacker, severity=self.severity,
            component="environment", rate=rate, interval=wilson_interval(rate, prompts), prompts=self.tried,
            cause=f"{self.family}: {self.remedy}",
            witness=Witness(start.prompt, actions, self.played.reward, self.honest, start.ground_truth),
            message=self.message, remedy=self.remedy, test=test,
        )  # fmt: skip
